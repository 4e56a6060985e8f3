"""Reductions, running operations and sorts of drawn arrays along drawn axes, held to NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.op_cases.compare import assert_same
from tests.op_cases.programs import run, trace

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

DTYPES = ("?", "i1", "u1", "i4", "i8", "f2", "f4", "f8", "c8", "c16")
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 2.5, 3.0, np.nan, np.inf, -np.inf, 100.0])

WITH_KEEPDIMS = (
    np.sum, np.prod, np.max, np.min, np.any, np.all, np.mean, np.var, np.std, np.ptp, np.median,
    np.nansum, np.nanprod, np.nanmax, np.nanmin, np.nanmean, np.nanvar, np.nanstd, np.nanmedian,
    np.argmax, np.argmin, np.count_nonzero,
)  # fmt: skip
ALONG_ONE_AXIS = (
    np.cumsum, np.cumprod, np.nancumsum, np.nancumprod, np.sort, np.diff, np.maximum.accumulate,
    np.fmin.accumulate, np.logical_or.accumulate, lambda x, axis: np.argsort(x, axis, stable=True),
)  # fmt: skip


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    """Draw a small array in which ties, NaN, infinities and both zeros are frequent."""
    shape = draw(st.lists(st.integers(0, 3), max_size=3).map(tuple))
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    # What a product of complex infinities is depends on the order of its factors.
    finite = SPECIAL[np.isfinite(SPECIAL)] if dtype.kind == "c" else np.array([0, 1, 2, 3, 100])
    numbers = SPECIAL if dtype.kind == "f" else finite
    places = draw(st.lists(st.integers(0, len(numbers) - 1), min_size=27, max_size=27))
    values = numbers[places[: int(np.prod(shape))]].reshape(shape)
    return values.astype(dtype)


def outcome(function: Callable[[], Any]) -> tuple[Any, type | None]:
    """Return a result, or the kind of error that stands in its place."""
    try:
        with np.errstate(all="ignore"):
            return function(), None
    except (ValueError, TypeError, IndexError) as error:
        return None, np.exceptions.AxisError if isinstance(error, IndexError) else type(error)


def assert_as_numpy(function: Callable[..., Any], x: np.ndarray, *, rtol: float) -> None:
    plain, refusal = outcome(lambda: function(x))
    traced, refused = outcome(lambda: run(trace(function, (x,)), (x,)))
    if refusal is None:
        assert refused is None, f"{refused} raised, NumPy gives {plain!r}"
        assert_same(traced, plain, rtol=rtol, atol=rtol, signs=False)
    else:
        assert refused is not None, f"{traced!r} given, NumPy raises {refusal}"
        assert issubclass(refused, refusal)


@given(arrays(), st.sampled_from(WITH_KEEPDIMS), st.data())
def test_reductions(x: np.ndarray, function: Callable[..., Any], data: st.DataObject) -> None:
    one = st.integers(-x.ndim - 1, x.ndim)
    several = st.lists(one, max_size=3, unique=True).map(tuple)
    # NumPy's medians refuse some tuples of axes of an array without elements.
    several = one if "median" in function.__name__ and not x.size else several
    axis = data.draw(st.one_of(st.none(), one, several), label="axis")
    keepdims = data.draw(st.booleans(), label="keepdims")
    assert_as_numpy(lambda x: function(x, axis=axis, keepdims=keepdims), x, rtol=1e-12)


@given(arrays(), st.sampled_from(ALONG_ONE_AXIS), st.data())
def test_operations_along_one_axis(
    x: np.ndarray, function: Callable[..., Any], data: st.DataObject
) -> None:
    axis = data.draw(st.integers(-x.ndim - 1, x.ndim), label="axis")
    assert_as_numpy(lambda x: function(x, axis=axis), x, rtol=1e-12)
