"""Order statistics: median, quantiles and percentiles, with and without NaN.

Elements are sorted along the reduced axes; a quantile is then a number between two neighbours,
whose positions depend on how many elements there are.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.errors import ShapeError
from stagrad.ir import aval_of
from stagrad.ops import statistics
from stagrad.ops.convert import as_value, is_traced
from stagrad.ops.cumulative import cumsum
from stagrad.ops.define import FUNCTIONS, UFUNCS, implements, normalize_axes
from stagrad.ops.gather import known_array
from stagrad.ops.indexing import getitem
from stagrad.ops.movement import astype, broadcast_to, constant, reshape, transpose
from stagrad.ops.nan_reductions import present
from stagrad.ops.reduction import count, kept_shape, wanted
from stagrad.ops.reduction import sum as sum_
from stagrad.ops.selection import maximum, minimum, select
from stagrad.ops.slicing import axis_slice
from stagrad.ops.sorting import permute, sorted_along, stable_order

Method = Callable[[Any, Any], tuple[Any, Any]]
"""From the number of elements and the quantile: a position, whole or not, and the weight of the
element after its whole part; None for a weight means that the position is whole."""


def rows_of(a: Any, axes: tuple[int, ...]) -> Any:
    """Return the array with the reduced axes flattened into one, which comes last."""
    shape = aval_of(a).shape
    rest = tuple(place for place in range(len(shape)) if place not in axes)
    moved = transpose(a, (*rest, *axes))
    return reshape(moved, (*(shape[place] for place in rest), count(a, axes)))


@implements(np.median)
def median(
    a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: Any = False
) -> Any:
    """Middle element over axes, the mean of the two middle ones of an even number of them.

    As `numpy.median`: NaN where one is among the elements. Of ties, the one in the middle of the
    stable order has the derivative.
    """
    a = as_value(a)
    axes = normalize_axes(axis, aval_of(a).ndim, "median")
    rows = rows_of(a, axes)
    last = aval_of(rows).ndim - 1
    extent = aval_of(rows).shape[last]
    if extent == 0:
        result = statistics.mean(rows, last)
    else:
        ordered = sorted_along(rows, last)
        middle = axis_slice(ordered, last, (extent - 1) // 2, extent // 2 + 1)
        result = _or_nan(statistics.mean(middle, last), ordered[..., -1])
    return _kept(result, a, axes, keepdims)


def _kept(result: Any, a: Any, axes: tuple[int, ...], keepdims: Any) -> Any:
    """Put the reduced axes back as extent one behind whatever axes come first."""
    if not wanted(keepdims):
        return result
    shape = aval_of(a).shape
    first = aval_of(result).ndim - (len(shape) - len(axes))
    return reshape(result, (*aval_of(result).shape[:first], *kept_shape(shape, axes)))


def _or_nan(result: Any, largest: Any) -> Any:
    """Return the largest element where it is NaN: sorting puts NaN last."""
    if aval_of(largest).dtype.kind not in "fc":
        return result
    return select(largest != largest, astype(largest, aval_of(result).dtype), result)


def _linear(n: Any, q: Any) -> tuple[Any, Any]:
    place = (n - 1) * q
    return place, place - UFUNCS["floor"](place)


def _continuous(alpha: float, beta: float) -> Method:
    """Return a continuous method of Hyndman and Fan (1996) by its two constants."""

    def method(n: Any, q: Any) -> tuple[Any, Any]:
        place = n * q + (alpha + q * (1 - alpha - beta)) - 1
        return place, place - UFUNCS["floor"](place)

    return method


def _averaged_inverted_cdf(n: Any, q: Any) -> tuple[Any, Any]:
    place = n * q - 1
    return place, select(place == UFUNCS["floor"](place), 0.5, 1.0)


def _midpoint(n: Any, q: Any) -> tuple[Any, Any]:
    place = (n - 1) * q
    whole = UFUNCS["floor"](place)
    return place, select(place == whole, 0.0, 0.5)


def _inverted_cdf(n: Any, q: Any) -> tuple[Any, Any]:
    return maximum(UFUNCS["ceil"](n * q - 1), 0), None


def _closest_observation(n: Any, q: Any) -> tuple[Any, Any]:
    place = n * q - 1.5
    whole = UFUNCS["floor"](place)
    stays = (place == whole) & (UFUNCS["remainder"](whole, 2) == 1)
    return maximum(select(stays, whole, whole + 1), 0), None


METHODS: dict[str, Method] = {
    "inverted_cdf": _inverted_cdf,
    "averaged_inverted_cdf": _averaged_inverted_cdf,
    "closest_observation": _closest_observation,
    "interpolated_inverted_cdf": _continuous(0, 1),
    "hazen": _continuous(0.5, 0.5),
    "weibull": _continuous(0, 0),
    "linear": _linear,
    "median_unbiased": _continuous(1 / 3, 1 / 3),
    "normal_unbiased": _continuous(3 / 8, 3 / 8),
    "lower": lambda n, q: (UFUNCS["floor"]((n - 1) * q), None),
    "higher": lambda n, q: (UFUNCS["ceil"]((n - 1) * q), None),
    "midpoint": _midpoint,
    "nearest": lambda n, q: (UFUNCS["rint"]((n - 1) * q), None),
}
"""NumPy's methods of choosing a position among n sorted elements."""


def _interpolated(before: Any, after: Any, weight: Any) -> Any:
    """Return the number between two, computed from the nearer one as NumPy does."""
    difference = after - before
    from_before = before + difference * weight
    from_after = after - difference * (1 - weight)
    known = known_array(weight)
    if known is not None and known.ndim == 0:
        return from_after if known >= 0.5 else from_before
    return select(weight >= 0.5, from_after, from_before)


def _at(ordered: Any, place: Any) -> Any:
    """Return elements of sorted rows at positions, the same for all rows or the rows' own."""
    place = minimum(maximum(place, 0), aval_of(ordered).shape[-1] - 1)
    if not is_traced(place) and aval_of(place).ndim == 0:
        return ordered[..., int(place)]
    place = astype(place, np.int64)
    if aval_of(place).ndim < 2:
        return getitem(ordered, (..., place))
    return FUNCTIONS[np.take_along_axis](ordered, place, -1)


def _unweighted(rows: Any, q: Any, method: str, extent: Any, is_weak: bool) -> Any:
    """Return quantiles of rows and the sorted rows.

    `extent` elements of a row count: a number, or one for each row.
    """
    if method not in METHODS:
        raise ShapeError(f"quantile: {method!r} is not a valid method. Use one of: {[*METHODS]}")
    ordered = sorted_along(rows, aval_of(rows).ndim - 1)
    place, weight = METHODS[method](extent, q)
    whole = UFUNCS["floor"](place)
    if weight is None or aval_of(place).dtype.kind in "iu":
        result = _at(ordered, whole)
    else:
        if is_weak and aval_of(rows).dtype.kind == "f":
            weight = astype(weight, aval_of(rows).dtype)
        if not is_traced(weight):
            weight = constant(np.asarray(weight), like=rows)
        last = extent - 1
        result = _interpolated(
            _at(ordered, minimum(whole, last)), _at(ordered, minimum(whole + 1, last)), weight
        )
    return result, ordered


def _weighted(rows: Any, q: Any, weights: Any) -> Any:
    """Return the elements at which the running sum of weights reaches the quantile."""
    last = aval_of(rows).ndim - 1
    order = stable_order(rows, last)
    ordered = permute(rows, order, last)
    reached = cumsum(permute(weights, order, last), last, np.float64)
    reached = reached / reached[..., -1:]
    if aval_of(q).dtype.kind == "f":
        reached = astype(reached, aval_of(q).dtype)
    # A quantile of zero belongs to the first element that has any weight.
    reached = select(reached == 0, -1, reached)
    extent = aval_of(rows).shape[last]
    levels = reshape(q, (aval_of(q).size, 1))
    below = reshape(reached, (*aval_of(reached).shape[:-1], 1, extent)) < levels
    result = _at(ordered, sum_(below, -1))
    if aval_of(result).dtype.kind != "f":
        return result, ordered
    # Weights that do not sum to a number above zero leave nothing to choose by.
    return select(reached[..., -1:] == 1, result, np.nan), ordered


def _quantile(
    a: Any,
    q: Any,
    axis: Any,
    method: str,
    keepdims: Any,
    weights: Any,
    skips_nan: bool,
) -> Any:
    a = as_value(a)
    if aval_of(a).dtype.kind == "c":
        raise TypeError("quantile: a must be an array of real numbers")
    axes = normalize_axes(axis, aval_of(a).ndim, "quantile")
    rows = rows_of(a, axes)
    *rest, extent = aval_of(rows).shape
    skips_nan = skips_nan and aval_of(a).dtype.kind == "f"
    if extent == 0:
        if not skips_nan:
            raise IndexError(f"quantile: axes {axes} of shape {aval_of(a).shape} hold no element")
        rows, extent = broadcast_to(constant(aval_of(a).dtype.type(np.nan), like=a), (*rest, 1)), 1
    given, is_weak = aval_of(q).shape, aval_of(q).weak
    is_single = not given and weights is None and not skips_nan
    levels = q if is_single else reshape(q, (math.prod(given),))
    if weights is not None:
        result, ordered = _weighted(rows, levels, _row_weights(a, weights, axis, axes, skips_nan))
    elif skips_nan:
        counts = sum_(present(rows), -1, keepdims=True)
        result, ordered = _unweighted(rows, levels, method, counts, is_weak)
    else:
        result, ordered = _unweighted(rows, levels, method, extent, is_weak)
    if not skips_nan:
        result = _or_nan(result, ordered[..., -1] if is_single else ordered[..., -1:])
    if is_traced(q):
        result = select((levels >= 0) & (levels <= 1), result, np.nan)
    if not is_single:
        result = reshape(FUNCTIONS[np.moveaxis](result, -1, 0), (*given, *rest))
    return _kept(result, a, axes, keepdims)


def _row_weights(a: Any, weights: Any, axis: Any, axes: tuple[int, ...], skips_nan: bool) -> Any:
    weights = as_value(weights)
    if not is_traced(weights) and (weights < 0).any():
        raise ShapeError("quantile: Weights must be non-negative.")
    rows = rows_of(statistics.aligned_weights(weights, a, axis), axes)
    return select(present(rows_of(a, axes)), rows, 0) if skips_nan else rows


def _level(q: Any, name: str, top: int) -> Any:
    """Return the quantile between 0 and 1; a traced one out of range gives NaN in the result."""
    if type(q) not in (int, float):
        q = as_value(q)
        known = known_array(q)
        q = q if known is None else known
    if top != 1:
        q = q / top
    if not is_traced(q) and not np.all((np.asarray(q) >= 0) & (np.asarray(q) <= 1)):
        raise ShapeError(f"{name}s must be in the range [0, {top}]")
    return q


def _check_method(method: str, weights: Any) -> None:
    if weights is not None and method != "inverted_cdf":
        raise ShapeError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")


def _entry(name: str, top: int, skips_nan: bool) -> Callable[..., Any]:
    """Return one of the four functions, which share their arguments."""

    def function(
        a: Any,
        q: Any,
        axis: Any = None,
        out: None = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: Any = False,
        *,
        weights: Any = None,
    ) -> Any:
        _check_method(method, weights)
        level = _level(q, "Quantile" if top == 1 else "Percentile", top)
        return _quantile(a, level, axis, method, keepdims, weights, skips_nan)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"As `numpy.{name}`, with every method; `q` may be traced."
    implements(getattr(np, name))(function)
    return function


quantile = _entry("quantile", 1, False)
percentile = _entry("percentile", 100, False)
nanquantile = _entry("nanquantile", 1, True)
nanpercentile = _entry("nanpercentile", 100, True)


@implements(np.nanmedian)
def nanmedian(
    a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: Any = False
) -> Any:
    """Middle element over axes of what is not NaN, as `numpy.nanmedian`; of nothing it is NaN."""
    a = as_value(a)
    aval = aval_of(a)
    axes = normalize_axes(axis, aval.ndim, "nanmedian")
    if aval.dtype.kind not in "fc" or count(a, axes) == 0:
        return median(a, axis, None, False, keepdims)
    rows = rows_of(a, axes)
    ordered = sorted_along(rows, aval_of(rows).ndim - 1)
    counts = sum_(present(rows), -1, keepdims=True)
    working, returned = statistics.working_dtypes(a, None)
    before = astype(_at(ordered, (counts - 1) // 2), working)
    after = astype(_at(ordered, counts // 2), working)
    # Adding first and halving then would overflow for one large element.
    result = select(counts % 2 == 1, before, (before + after) / 2)
    return _kept(astype(result[..., 0], returned), a, axes, keepdims)
