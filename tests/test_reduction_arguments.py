"""Arguments of reductions, statistics, sorts and ufunc methods: what is refused, and how."""

import re

import numpy as np
import pytest

import stagrad
from stagrad.errors import UnsupportedError
from stagrad.ir import PRIMITIVES, bind

X = np.arange(6.0).reshape(2, 3)


def refused(function, *operands):
    """Return the error NumPy raises and the one a traced function raises."""
    with pytest.raises(Exception) as plain:  # noqa: PT011
        function(*operands)
    with pytest.raises(type(plain.value)) as traced:
        stagrad.compile(function)(*operands)
    return plain.value, traced.value


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(x, axis=2),
        lambda x: np.max(x, axis=(0, -3)),
        lambda x: np.mean(x, axis=5),
        lambda x: np.std(x, axis=-3),
        lambda x: np.median(x, axis=2),
        lambda x: np.quantile(x, 0.5, axis=2),
        lambda x: np.argmax(x, axis=2),
        lambda x: np.cumsum(x, axis=2),
        lambda x: np.sort(x, axis=2),
        lambda x: np.diff(x, axis=2),
        lambda x: np.gradient(x, axis=3),
        lambda x: np.add.reduce(x, axis=2),
        lambda x: np.maximum.accumulate(x, axis=2),
    ],
)
def test_an_axis_out_of_range_is_numpys_error(function):
    _, error = refused(function, X)
    assert isinstance(error, np.exceptions.AxisError)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda x: np.sum(x, axis=(0, 0)), "repeated|duplicate"),
        (lambda x: np.max(x[:, :0], axis=1), "no identity"),
        (lambda x: np.max(x, where=x > 2), "initial"),
        (lambda x: np.argmin(x[:0]), "argmin of an empty sequence"),
        (lambda x: np.sum(x, where=np.ones((2, 2, 3), bool)), "shape|dimensions"),
        (lambda x: np.average(x, axis=0, weights=[1.0, 2.0, 3.0]), "weights"),
        (lambda x: np.average(x, weights=[1.0, 2.0]), "xis must be specified"),
        (lambda x: np.var(x, ddof=1, correction=1), "simultaneously"),
        (lambda x: np.quantile(x, 1.5), r"range \[0, 1\]"),
        (lambda x: np.percentile(x, -1), r"range \[0, 100\]"),
        (lambda x: np.quantile(x, 0.5, method="middle"), "middle"),
        (lambda x: np.quantile(x, 0.5, weights=x), "inverted_cdf"),
        (lambda x: np.quantile(x[:, :0], 0.5), "index|hold no element"),
        (lambda x: np.quantile(x + 1j, 0.5), "real numbers"),
        (lambda x: np.cov(x, ddof=0.5), "integer"),
        (lambda x: np.cov(x[None]), "2 dimensions"),
        (lambda x: np.diff(x, n=-1), "non-negative"),
        (lambda x: np.diff(x[0, 0]), "at least one dimensional"),
        (lambda x: np.gradient(x, edge_order=3), "edge_order"),
        (lambda x: np.gradient(x, 1.0, 2.0, 3.0), "invalid number of arguments"),
        (lambda x: np.gradient(x, [0.0, 1.0], axis=1), "distances must match"),
        (lambda x: np.gradient(x[:1], axis=0), "too small"),
        (lambda x: np.interp(x, [0.0, 1.0], [0.0]), "same length"),
        (lambda x: np.interp(x, [], []), "empty"),
        (lambda x: np.interp(x, X[0], X[0], period=0), "period"),
        (lambda x: np.sort(x, kind="bubble"), "sort kind"),
        (lambda x: np.sort(x, kind="stable", stable=True), "can't be provided"),
        (lambda x: np.partition(x, 3), "out of bounds"),
        (lambda x: np.searchsorted(x, 1.0), "1-D|too deep"),
        (lambda x: np.searchsorted(x[0], 1.0, side="middle"), "side"),
        (lambda x: np.lexsort((x, x[0])), "same shape"),
        (lambda x: np.bincount(x[0]), "integers|Cannot cast"),
        (lambda x: np.bincount([0, 1], x[0]), "length"),
        (lambda x: np.histogram(x, bins=[1.0, 0.0]), "monotonically"),
        (lambda x: np.histogram(x, bins=0), "positive"),
        (lambda x: np.histogram(x, range=(1, 0)), "larger than min"),
        (lambda x: np.cumulative_sum(x), "axis"),
        (lambda x: np.add.accumulate(x[0, 0]), "scalar"),
        (lambda x: np.subtract.reduce(x, axis=None), "reorder|order of axes"),
        (lambda x: np.add.reduceat(x, [0, 2]), "out.of.bounds"),
    ],
)
def test_what_numpy_refuses_is_refused_with_its_reason(function, says):
    for error in refused(function, X):
        assert re.search(says, str(error)), str(error)


@pytest.mark.parametrize(
    ("function", "alternative"),
    [
        (lambda x: np.unique(x), "np.sort"),
        (lambda x: np.nonzero(x), "np.where"),
        (lambda x: np.flatnonzero(x), "np.where"),
        (lambda x: np.argwhere(x), "np.where"),
        (lambda x: np.extract(x > 1, x), "where=condition"),
        (lambda x: np.union1d(x, x), "np.concatenate"),
        (lambda x: np.intersect1d(x, x), "np.isin"),
        (lambda x: np.setdiff1d(x, x), "np.isin"),
        (lambda x: np.trim_zeros(x[0]), "mask"),
        (lambda x: np.bincount(np.argsort(x[0])), "minlength"),
        (lambda x: np.histogram(x, bins="auto"), "number of bins"),
        (lambda x: np.multiply.at(x * 1, np.argsort(x[0]) % 2, 2.0), "plain integers"),
        (lambda x: np.add.reduceat(x[0], np.argsort(x[0])), "plain integers"),
    ],
)
def test_a_result_of_unknown_shape_is_refused_with_an_alternative(function, alternative):
    with pytest.raises(UnsupportedError, match=alternative):
        stagrad.compile(function)(X)


def test_a_number_beyond_the_bins_is_an_error_of_the_run():
    count = stagrad.compile(lambda x: np.bincount(x, minlength=3))
    assert count(np.array([0, 2, 2])).tolist() == [1, 0, 2]
    with pytest.raises(ValueError, match="minlength"):
        count(np.array([0, 2, 3]))


def test_nothing_but_nan_has_no_largest_position():
    with pytest.raises(ValueError, match="All-NaN"):
        stagrad.compile(np.nanargmax)(np.array([np.nan, np.nan]))


def test_weights_that_sum_to_nothing_leave_no_quantile():
    quantile = stagrad.compile(lambda x, w: np.quantile(x, 0.5, weights=w, method="inverted_cdf"))
    assert np.isnan(quantile(np.ones(2), np.zeros(2)))
    with pytest.raises(ValueError, match="non-negative"):
        stagrad.compile(lambda x: np.quantile(x, 0.5, weights=[-1.0, 2.0], method="inverted_cdf"))(
            np.ones(2)
        )


def test_methods_take_numpys_positional_arguments():
    def function(x):
        return (
            x.sum(0, np.float32, None, True),
            x.mean(1),
            x.var(0, None, None, 1),
            x.max(1, None, True),
            x.cumsum(1),
            np.sum(x, 1, None, None, True, 2.0, x > 1),
            x.argsort(0),
            x[0].searchsorted(1.5, "right"),
        )

    for got, want in zip(stagrad.compile(function)(X), function(X), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_results_can_be_written_into_an_array_made_inside():
    def function(x):
        total, running = np.zeros(3), np.empty_like(x)
        np.sum(x, axis=0, out=total)
        np.cumsum(x, axis=1, out=running)
        return total, running, np.add.reduce(x, out=np.zeros(3))

    for got, want in zip(stagrad.compile(function)(X), function(X), strict=True):
        np.testing.assert_array_equal(got, want)


def stack(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape)


BATCHED = {
    "sum": ((stack(4, 2, 3),), {"axis": (1,)}),
    "max": ((stack(4, 2, 3),), {"axis": (0, 1)}),
    "argmin": ((stack(4, 2, 3),), {"axis": (0,)}),
    "cumsum": ((stack(4, 2, 3),), {"axis": 1, "reverse": True}),
    "linear_recurrence": ((stack(2, 3), stack(4, 2, 3)), {"axis": 0, "reverse": False}),
    "sort": ((stack(4, 2, 3),), {"axis": 0}),
    "partition": ((stack(4, 2, 3),), {"axis": 1, "kth": (1,)}),
    "searchsorted": ((np.sort(stack(4, 3)), stack(2, 5)), {"side": "left"}),
    "bincount": ((np.arange(12).reshape(4, 3) % 5, stack(4, 3)), {"length": 5}),
}


@pytest.mark.parametrize("name", BATCHED)
def test_a_batcher_is_the_operation_on_every_element_of_the_batch(name):
    """Operands with one axis more than their fellows need are batched along their first."""
    operands, params = BATCHED[name]
    batched = tuple(len(operand) == 4 for operand in operands)
    record = PRIMITIVES[name]
    got = record.batcher(4, batched, operands, **params)
    for place in range(4):
        element = (
            operand[place] if is_batched else operand
            for operand, is_batched in zip(operands, batched, strict=True)
        )
        np.testing.assert_allclose(got[place], bind(record, *element, **params))


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_batched_search_counts_nan_as_largest(side):
    rows = np.array([[0.0, 1.0, np.nan], [1.0, np.nan, np.nan]])
    values = np.array([np.nan, 1.0, 2.0])
    got = PRIMITIVES["searchsorted"].batcher(2, (True, False), (rows, values), side=side)
    want = [np.searchsorted(row, values, side) for row in rows]
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "write",
    [
        lambda x, out: np.sum(x, 0, None, out),
        lambda x, out: x.sum(0, None, out),
        lambda x, out: x.sum(axis=0, out=out),
        lambda x, out: np.max(x, 0, out),
        lambda x, out: x.prod(0, out=out),
        lambda x, out: x.mean(axis=0, out=out),
        lambda x, out: np.median(x, 0, out),
        lambda x, out: np.clip(x[0], 0, 2, out),
        lambda x, out: np.quantile(x, 0.25, 0, out),
    ],
)
def test_out_is_written_however_it_is_given(write):
    def function(x):
        out = np.zeros(3)
        result = write(x, out)
        return out, result

    for got, want in zip(stagrad.compile(function)(X), function(X), strict=True):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_allclose(
        stagrad.grad(lambda x: function(x)[0].sum())(X),
        stagrad.grad(lambda x: write(x, None).sum())(X),
    )


def test_out_that_does_not_fit_is_refused():
    refused(lambda x: x.sum(0, out=np.zeros(2)), X)
    with pytest.raises(TypeError, match="cannot cast"):
        stagrad.compile(lambda x: np.cumsum(x, out=np.zeros(6, int)))(X)
