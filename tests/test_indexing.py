"""Indexing is NumPy's, for every index: values, gradients, stores, errors, and what is refused."""

import hypothesis.extra.numpy as hypothesis_numpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stagrad
from stagrad.errors import UnsupportedError
from stagrad.ops.indexing import getitem, store, store_add

INDEX_SHAPES = [(2,), (1,), (3, 1), (1, 2), (3, 2), ()]


@st.composite
def entries(draw, extent):
    """Draw what may stand for one axis: an integer, a slice, a mask or an array of integers."""
    kind = draw(st.sampled_from(["integer", "slice", "mask", "array"] if extent else ["slice"]))
    if kind == "integer":
        return draw(st.integers(-extent, extent - 1))
    if kind == "slice":
        return draw(st.slices(extent))
    if kind == "mask":
        return draw(hypothesis_numpy.arrays(bool, extent))
    places = st.integers(-extent, extent - 1)
    shape = draw(st.sampled_from(INDEX_SHAPES))
    return draw(hypothesis_numpy.arrays(np.int64, shape, elements=places))


@st.composite
def shapes_and_indices(draw):
    """Draw a shape and an index of it, most of which NumPy accepts."""
    shape = draw(hypothesis_numpy.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    items = []
    for extent in shape:
        if draw(st.integers(0, 4)) == 0:
            items.append(None)
        if draw(st.integers(0, 12)) == 0:
            items.append(draw(st.booleans()))
        items.append(draw(entries(extent)))
    if draw(st.booleans()):
        ends = sorted(draw(st.tuples(*[st.integers(0, len(items))] * 2)))
        items[ends[0] : ends[1]] = [Ellipsis]
    return shape, tuple(items)


def winners(shape, index, value_shape):
    """Return which elements of an assigned value stay: those that no later one overwrites."""
    order = np.arange(np.prod(value_shape, dtype=int)).reshape(value_shape)
    last = np.full(shape, -1)
    last[index] = order
    return last[index] == order


def refused_as_by_numpy(x, index, message):
    with pytest.raises(IndexError) as found:
        stagrad.compile(lambda x: x[index])(x)
    assert str(found.value).partition(" with shapes")[0] == message.partition(" with shapes")[0]


@settings(max_examples=150, deadline=None)
@given(shapes_and_indices(), st.integers(0, 2**32))
def test_reads_and_stores_are_those_of_numpy(case, seed):
    shape, index = case
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    try:
        read = x[index]
    except IndexError as error:
        refused_as_by_numpy(x, index, str(error))
        return
    value, cotangent = rng.standard_normal(np.shape(read)), rng.standard_normal(shape)
    read_cotangent = rng.standard_normal(np.shape(read))

    def set_entry(x, value):
        y = np.array(x)
        y[index] = value
        return y

    def add_entry(x, value):
        y = np.array(x)
        np.add.at(y, index, value)
        return y

    got, pull = stagrad.vjp(lambda x: x[index], x)
    np.testing.assert_array_equal(got, read, strict=True)
    np.testing.assert_allclose(pull(read_cotangent)[0], add_entry(np.zeros(shape), read_cotangent))

    got, pull = stagrad.vjp(set_entry, x, value)
    np.testing.assert_array_equal(got, set_entry(x, value))
    base, written = pull(cotangent)
    np.testing.assert_array_equal(base, set_entry(cotangent, np.zeros(np.shape(read))))
    kept = winners(shape, index, np.shape(read))
    np.testing.assert_array_equal(written, np.where(kept, cotangent[index], 0))

    got, pull = stagrad.vjp(add_entry, x, value)
    np.testing.assert_allclose(got, add_entry(x, value))
    base, added = pull(cotangent)
    np.testing.assert_array_equal(base, cotangent)
    np.testing.assert_array_equal(added, cotangent[index])


@settings(max_examples=60, deadline=None)
@given(shapes_and_indices(), st.integers(0, 2**32))
def test_the_functions_run_on_plain_arrays_too(case, seed):
    shape, index = case
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    try:
        value = rng.standard_normal(np.shape(x[index]))
    except IndexError:
        return
    np.testing.assert_array_equal(getitem(x, index), x[index])
    expected = x.copy()
    expected[index] = value
    np.testing.assert_array_equal(store(x, index, value), expected)
    np.add.at(expected, index, value)
    np.testing.assert_array_equal(store_add(store(x, index, value), index, value), expected)


X = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    "index",
    [
        5,
        (0, -5),
        (0, 0, 0),
        (..., ...),
        1.0,
        "a",
        np.array([0.5]),
        [0, 7],
        (slice(None), [0, -9]),
        ([0, 1], [0, 1, 2]),
        np.array([True, False]),
        np.ones((3, 3), bool),
        {0: 1},
    ],
)
def test_bad_indices_raise_numpys_error(index):
    with pytest.raises(IndexError) as plain:
        X[index]
    with pytest.raises(IndexError) as traced:
        stagrad.compile(lambda x: x[index])(X)
    assert str(traced.value)[:30] == str(plain.value)[:30]
    with pytest.raises(IndexError):
        stagrad.compile(lambda x: x.__setitem__(index, 0.0))(X.copy())


@pytest.mark.parametrize(
    ("index", "value"),
    [
        (slice(None), np.zeros(3)),
        (0, np.zeros((2, 4))),
        ([0, 1], np.zeros((3, 4))),
        (X > 5, np.zeros(2)),
    ],
)
def test_values_that_do_not_fit_raise_value_error(index, value):
    with pytest.raises(ValueError, match=r"shape|broadcast|cannot assign"):
        X.copy()[index] = value
    with pytest.raises(ValueError, match=r"assignment: .* shape"):
        stagrad.compile(lambda x: x.__setitem__(index, value))(X.copy())


def test_a_complex_number_does_not_fit_into_a_real_array():
    with pytest.raises(TypeError, match="complex value cannot be assigned"):
        stagrad.compile(lambda x: x.__setitem__(0, 1j))(X.copy())


def test_stores_cast_to_the_dtype_of_the_array():
    def function(x):
        counts = np.zeros(3, dtype=int)
        counts[:2] = x
        small = np.zeros(2, dtype=np.float32)
        small[:] = x
        return counts, small

    x = np.array([1.9, -2.7])
    for got, want in zip(stagrad.compile(function)(x), function(x), strict=True):
        np.testing.assert_array_equal(got, want, strict=True)


def test_traced_positions_out_of_bounds_raise_at_run_time():
    read = stagrad.compile(lambda x, i: x[i] * 2)
    np.testing.assert_array_equal(read(X[0], np.array([1, -1])), [2.0, 6.0])
    with pytest.raises(IndexError):
        read(X[0], np.array([1, 4]))


def test_a_traced_integer_never_compiles_twice():
    traces = []

    def row(x, i):
        traces.append(i)
        return x[i] * 2

    compiled = stagrad.compile(row)
    for place in range(3):
        np.testing.assert_array_equal(compiled(X, place), X[place] * 2)
    assert len(traces) == 1


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (lambda x: x[x[:, 0] > 0], r"np\.where\(mask"),
        (lambda x: x[0, x[0] > 1], r"np\.where\(mask"),
        (lambda x: x.__setitem__(x > 1, np.arange(2.0)), r"np\.where\(mask, value, y\)"),
        (lambda x: x[0][: np.argmax(x)], r"np\.arange"),
        (lambda x: np.compress(x[:, 0] > 1, x, axis=0), r"np\.where"),
        (lambda x: np.extract(x > 1, x), r"np\.where"),
        (lambda x: np.repeat(x, np.argmax(x, axis=1), axis=0), "static"),
        (lambda x: np.delete(x, np.argmax(x)), "known"),
        (lambda x: np.arange(0, x[0, 1]), r"np\.linspace"),
    ],
)
def test_what_needs_numbers_is_refused_with_advice(function, advice):
    with pytest.raises(UnsupportedError, match=advice):
        stagrad.compile(function)(X.copy())


def test_a_live_mask_is_looked_at_again():
    mask = np.array([True, False, True])
    select = stagrad.compile(lambda x: x[mask] * 2)
    np.testing.assert_array_equal(select(X[:, 0]), [0.0, 16.0])
    mask[1] = True
    np.testing.assert_array_equal(select(X[:, 0]), [0.0, 8.0, 16.0])


def test_live_positions_are_read_again():
    places = np.array([0, 1])
    traces = []

    def take(x):
        traces.append(x)
        return x[places]

    compiled = stagrad.compile(take)
    np.testing.assert_array_equal(compiled(X[0]), [0.0, 1.0])
    places[:] = [3, 3]
    np.testing.assert_array_equal(compiled(X[0]), [3.0, 3.0])
    np.testing.assert_array_equal(stagrad.grad(lambda x: take(x).sum())(X[0]), [0, 0, 0, 2])
    assert len(traces) == 2
