"""Dtypes, second derivatives, aliasing, depth, and the memory layout of inputs."""

import numpy
from numpy import array

from tests.cases.pitfalls.record import theme

dtype = theme("dtype")
higher_order = theme("higher_order")
aliasing = theme("aliasing")
depth = theme("depth")
layout = theme("layout")


@dtype(
    "P049",
    "float32_stays_float32",
    lambda: (array([1.0, 2.0], dtype="f4"),),
    numpy.float32(8 / 3),
    [[2 / 3, 2 / 3]],
    rtol=1e-6,
    value_dtype="float32",
    description="Python scalars are weak (NEP 50): value and gradient stay float32",
)
def _(np, x):
    return np.sum(x * 2.0 + 1) / 3


@dtype(
    "P050",
    "mixed_float32_float64",
    lambda: (array([1.0, 2.0], dtype="f4"), array([3.0, 4.0])),
    11.0,
    [[3, 4], [1, 2]],
    value_dtype="float64",
    description="each gradient has its own input's dtype",
)
def _(np, x, y):
    return np.sum(x * y)


@dtype("P051", "bool_mask_times_float", lambda: (array([-1.0, 2.0, 3.0]),), 5.0, [[0, 1, 1]])
def _(np, x):
    return np.sum(x * (x > 0))


@higher_order(
    "P024",
    "prod_two_zeros_hessian",
    lambda: (array([0.0, 5.0, 0.0]),),
    0.0,
    [[0, 0, 0]],
    hessian=array([[0.0, 0.0, 5.0], [0.0, 0.0, 0.0], [5.0, 0.0, 0.0]]),
    description="the first derivative is 0 everywhere but the second is not",
)
def _(np, x):
    return np.prod(x)


@higher_order(
    "P061",
    "hessian_of_abs_is_zero",
    lambda: (array([-1.0, 2.0]),),
    3.0,
    [[-1, 1]],
    hessian=numpy.zeros((2, 2)),
    description="zero, not None, not an error about a missing graph",
)
def _(np, x):
    return np.sum(np.abs(x))


@higher_order(
    "P062",
    "hessian_of_logsumexp",
    lambda: (numpy.log(array([1.0, 2.0, 3.0])),),
    1.791759469228055,
    [[1 / 6, 1 / 3, 1 / 2]],
    hessian=array([[5 / 36, -1 / 18, -1 / 12], [-1 / 18, 2 / 9, -1 / 6], [-1 / 12, -1 / 6, 1 / 4]]),
)
def _(np, x):
    return np.log(np.sum(np.exp(x)))


@higher_order(
    "P063",
    "hessian_through_a_guarded_branch",
    lambda: (array([-3.0, 4.0]),),
    2.0,
    [[0, 0.25]],
    hessian=array([[0.0, 0.0], [0.0, -1 / 32]]),
    description="the guard must also hold in the second pass",
)
def _(np, x):
    return np.sum(np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0))


def _same_twice():
    x = array([2.0, 3.0])
    return x, x


@aliasing(
    "P064",
    "same_object_for_two_arguments",
    _same_twice,
    35.0,
    [[4, 9], [8, 18]],
    description="two argnums are two variables even when the caller passes one array twice",
)
def _(np, x, y):
    return np.sum(x * y**2)


@aliasing(
    "P065",
    "equal_valued_leaves_stay_distinct",
    lambda: (array(3.0), array(3.0)),
    21.0,
    [2.0, 5.0],
    description="hash-consing / CSE by value must not merge leaves (a merge gives 7 and 7)",
)
def _(np, x, y):
    return 2.0 * x + 5.0 * y


@aliasing(
    "P066",
    "output_independent_of_an_input",
    lambda: (array([1.0, 2.0]), array([3.0, 4.0])),
    7.0,
    [[0, 0], [1, 1]],
    status="convention",
    note="grad-style API returns zeros (jax); torch.autograd.grad raises or returns None",
)
def _(np, x, y):
    return np.sum(y)


@aliasing(
    "P067",
    "identity_output",
    lambda: (array([1.0, -2.0]),),
    array([1.0, -2.0]),
    [[2, 5]],
    cotangent=array([2.0, 5.0]),
    description="returning the argument itself; the result must not share memory that lets the "
    "caller corrupt a cached plan, and the gradient must not be the cotangent object itself",
)
def _(np, x):
    return x


@depth(
    "P068",
    "deep_chain",
    lambda: (array([1.0, 2.0]),),
    array([2.0, 4.0]),
    [[2, 2]],
    cotangent=array([1.0, 1.0]),
    description="3000 dependent steps: no recursion in topological sort, codegen, adjoint or "
    "destruction",
)
def _(np, x):
    y = x
    for _i in range(3000):
        y = 0.5 * y + x
    return y


@layout(
    "P082",
    "fortran_order_input",
    lambda: (numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3)),),
    55.0,
    [[[0, 2, 4], [6, 8, 10]]],
)
def _(np, x):
    return np.sum(x * x)


def _strided_back():
    return (numpy.arange(6.0)[::-1][::2],)


@layout("P083", "negative_stride_input", _strided_back, 5.0 + 30.0 + 100.0, [[1, 10, 100]])
def _(np, x):
    return np.sum(x * np.array([1.0, 10.0, 100.0]))


@layout(
    "P084", "byte_swapped_input", lambda: (array([1.0, 2.0, 3.0], dtype=">f8"),), 14.0, [[2, 4, 6]]
)
def _(np, x):
    return np.sum(x * x)


def _readonly_zero_stride():
    return (numpy.broadcast_to(array([2.0]), (3,)),)


@layout("P085", "read_only_zero_stride_input", _readonly_zero_stride, 12.0, [[4, 4, 4]])
def _(np, x):
    return np.sum(x * x)


def _unaligned():
    raw = numpy.zeros(8 * 3 + 1, dtype="u1")
    v = raw[1:].view("f8")
    v[:] = [1.0, 2.0, 3.0]
    return (v,)


@layout("P086", "unaligned_input", _unaligned, 14.0, [[2, 4, 6]])
def _(np, x):
    return np.sum(x * x)
