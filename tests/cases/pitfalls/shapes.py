"""Broadcasting, empty extents, and indexing."""

import numpy
from numpy import array

from tests.cases.pitfalls.record import theme

broadcast = theme("broadcast")
indexing = theme("indexing")


@broadcast(
    "P031",
    "outer_product_broadcast",
    lambda: (array([[1.0], [2.0], [3.0]]), array([[1.0, 10.0, 100.0, 1000.0]])),
    6 * 1111.0,
    [[[1111], [1111], [1111]], [[6, 6, 6, 6]]],
)
def _(np, x, y):
    return np.sum(x * y)


@broadcast(
    "P032",
    "zero_d_times_matrix",
    lambda: (array(3.0), array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])),
    63.0,
    [21.0, 3.0],
    description="gradient of the 0-d operand is 0-d, not (1,) and not (2,3)",
)
def _(np, s, x):
    return np.sum(s * x)


@broadcast(
    "P033",
    "size_zero_times_vector",
    lambda: (numpy.zeros((0, 3)), array([1.0, 2.0, 3.0])),
    0.0,
    [numpy.zeros((0, 3)), [0, 0, 0]],
    description="empty batch: gradient of the shared vector is zeros, shape of the empty one "
    "is kept",
)
def _(np, x, y):
    return np.sum(x * y)


@broadcast(
    "P034",
    "size_one_broadcast_to_size_zero",
    lambda: (array([5.0]), numpy.zeros((0,))),
    numpy.zeros((0,)),
    [[0], numpy.zeros((0,))],
    cotangent=numpy.zeros((0,)),
)
def _(np, x, y):
    return x + y


@indexing(
    "P035",
    "repeated_integer_index",
    lambda: (array([1.0, 2.0, 3.0]),),
    array([1.0, 1.0, 3.0]),
    [[11, 0, 100]],
    cotangent=array([1.0, 10.0, 100.0]),
)
def _(np, x):
    return x[np.array([0, 0, 2])]


@indexing("P036", "constant_boolean_mask", lambda: (array([1.0, -2.0, 3.0]),), 10.0, [[2, 0, 6]])
def _(np, x):
    return np.sum(x[np.array([True, False, True])] ** 2)


@indexing(
    "P037",
    "separated_advanced_indices",
    lambda: (numpy.arange(18.0).reshape(2, 3, 3),),
    array([[0.0, 3.0, 6.0], [11.0, 14.0, 17.0]]),
    [array([[[1.0, 0, 0], [2, 0, 0], [3, 0, 0]], [[0, 0, 4], [0, 0, 5], [0, 0, 6]]])],
    cotangent=array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    description="index arrays split by a slice move the advanced axis to the front",
)
def _(np, x):
    return x[np.array([0, 1]), :, np.array([0, 2])]


@indexing("P038", "empty_integer_index", lambda: (array([1.0, 2.0]),), 0.0, [[0, 0]])
def _(np, x):
    return np.sum(x[np.array([], dtype=int)])


@indexing(
    "P039", "negative_step_slice", lambda: (array([1.0, 2.0, 3.0, 4.0]),), 234.0, [[0, 100, 10, 1]]
)
def _(np, x):
    return np.sum(x[::-1][:3] * np.array([1.0, 10.0, 100.0]))


@indexing("P040", "repeat_with_zero_count", lambda: (array([5.0, 7.0, 9.0]),), 123.0, [[3, 0, 12]])
def _(np, x):
    return np.sum(np.repeat(x, np.array([2, 0, 3])) * np.array([1.0, 2.0, 3.0, 4.0, 5.0]))


@indexing(
    "P041",
    "trace_of_tall_matrix",
    lambda: (numpy.arange(8.0).reshape(4, 2),),
    3.0,
    [[[1, 0], [0, 1], [0, 0], [0, 0]]],
)
def _(np, x):
    return np.trace(x)
