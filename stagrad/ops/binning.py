"""Counting what falls where: bincount and histogram. Counts do not vary; sums of weights do."""

import builtins
import math
from typing import Any

import numpy as np
import numpy as xp

from stagrad.errors import DTypeError, ShapeError, UnsupportedError
from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.convert import as_value, is_traced
from stagrad.ops.define import FUNCTIONS, implements
from stagrad.ops.differences import aligned, diff
from stagrad.ops.gather import gather, known_array
from stagrad.ops.movement import astype, broadcast_to, constant, reshape, transpose
from stagrad.ops.reduction import max as max_
from stagrad.ops.reduction import min as min_
from stagrad.ops.reduction import sum as sum_
from stagrad.ops.selection import select
from stagrad.ops.sorting import searchsorted


def count_bins(x, weights, length):  # type: ignore[no-untyped-def]
    """Return how often, or with what total weight, each number below `length` occurs in `x`."""
    counts = xp.bincount(x, weights=weights, minlength=length)
    if len(counts) > length:
        raise ValueError(
            f"bincount: the largest number is {len(counts) - 1}, and the traced function has room "
            f"for {length} bins; give a larger minlength"
        )
    return counts


def _counted(avals: tuple[Aval, ...], params: Params) -> Aval:
    return Aval((params["length"],), np.dtype(np.float64 if len(avals) > 1 else np.int64))


def _bincount_rule(position: int, ct: Any, out: Any, x: Any, *weights: Any, length: int) -> Any:
    return gather(ct, (x,), (0,)) if position == 1 else None


def _bincount_batcher(size: int, batched: Any, operands: Any, *, length: int) -> Any:
    full = [
        operand if is_batched else broadcast_to(operand, (size, *aval_of(operand).shape))
        for operand, is_batched in zip(operands, batched, strict=True)
    ]
    shape = aval_of(full[0]).shape
    offsets = constant(length * np.arange(size)[:, np.newaxis], like=full[0])
    flat = [reshape(part, (shape[0] * shape[1],)) for part in (full[0] + offsets, *full[1:])]
    return reshape(bind(bincount_p, *flat, length=size * length), (size, length))


bincount_p: Primitive = register(
    Primitive(
        name="bincount",
        kind=Kind.LIBRARY,
        abstract_eval=_counted,
        py=lambda params, arity: f"count_bins({{0}}, {'{1}' if arity > 1 else None}, {{length}})",
        helpers=(count_bins,),
        vjps=_bincount_rule,
        jvp=lambda primals, tangents, out, *, length: bind(
            bincount_p, primals[0], tangents[1], length=length
        ),
        batcher=_bincount_batcher,
        doc="How often each number occurs, or the total of the weights beside it.",
    )
)


@implements(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Any:
    """How often each number occurs, as `numpy.bincount`.

    A traced `x` needs `minlength`, which is then the length of the result; the run raises
    ValueError where a number exceeds it.
    """
    x = as_value(x)
    aval = aval_of(x)
    if aval.ndim != 1:
        raise ShapeError(f"bincount: x must be 1-D, and its shape is {aval.shape}")
    if not np.can_cast(aval.dtype, np.int64, "safe"):
        raise DTypeError(f"bincount: x must hold integers, and its dtype is {aval.dtype}")
    length = int(minlength)
    known = known_array(x)
    if known is not None:
        length = max(length, int(known.max()) + 1 if known.size else 0)
    elif length == 0:
        raise UnsupportedError(
            "np.bincount(x) returns as many counts as the largest number in x says, and shapes are "
            "fixed while a function is traced. Give minlength=n, one more than any number in x"
        )
    x = astype(x, np.int64)
    if weights is None:
        return bind(bincount_p, x, length=length)
    weights = as_value(weights)
    if aval_of(weights).shape != aval.shape:
        raise ShapeError(
            f"bincount: the weights and x don't have the same length: {aval_of(weights).shape} and "
            f"{aval.shape}"
        )
    if not np.can_cast(aval_of(weights).dtype, np.float64, "safe"):
        raise DTypeError(f"bincount: weights must be real, not {aval_of(weights).dtype}")
    return bind(bincount_p, x, astype(weights, np.float64), length=length)


def _outer_edges(a: Any, extent: Any) -> tuple[Any, Any]:
    """Return the ends of the bins: given ones, or the smallest and the largest element."""
    if extent is not None:
        first, last = extent
        if not is_traced(first) and not is_traced(last):
            if first > last:
                raise ShapeError("histogram: max must be larger than min in range parameter.")
            if not np.isfinite([first, last]).all():
                raise ShapeError(f"histogram: supplied range of [{first}, {last}] is not finite")
    elif aval_of(a).size == 0:
        first, last = 0, 1
    else:
        first, last = min_(a), max_(a)
    is_point = first == last
    if not is_traced(is_point):
        return (first - 0.5, last + 0.5) if is_point else (first, last)
    return select(is_point, first - 0.5, first), select(is_point, last + 0.5, last)


def _edges(a: Any, bins: Any, extent: Any) -> Any:
    if isinstance(bins, str):
        raise UnsupportedError(
            f"np.histogram(bins={bins!r}) chooses how many bins there are from the numbers, and "
            "shapes are fixed while a function is traced. Give a number of bins, or their edges"
        )
    bins = as_value(bins)
    if aval_of(bins).ndim > 1:
        raise ShapeError(f"histogram: `bins` must be 1d, when an array, not {aval_of(bins).ndim}d")
    if aval_of(bins).ndim == 1:
        known = known_array(bins)
        if known is not None and (known[:-1] > known[1:]).any():
            raise ShapeError("histogram: `bins` must increase monotonically, when an array")
        return bins
    number = bins.__index__()
    if number < 1:
        raise ShapeError("histogram: `bins` must be positive, when an integer")
    first, last = _outer_edges(a, extent)
    dtypes = [aval_of(end).dtype for end in (first, last) if not aval_of(end).weak]
    dtype = np.result_type(*dtypes, aval_of(a).dtype)
    return FUNCTIONS[np.linspace](
        first, last, number + 1, dtype=np.dtype(np.float64) if dtype.kind in "biu" else dtype
    )


@implements(np.histogram_bin_edges)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """Edges of the bins of a histogram, as `numpy.histogram_bin_edges`; their number is known."""
    a = as_value(a)
    return _edges(reshape(a, (aval_of(a).size,)), bins, range)


@implements(np.histogram)
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, Any]:
    """Counts, or total weights, of the elements in each bin, and the edges, as `numpy.histogram`.

    The counts have derivative zero with respect to the elements.
    """
    a = as_value(a)
    a = reshape(a, (aval_of(a).size,))
    edges = _edges(a, bins, range)
    number = aval_of(edges).size - 1
    if aval_of(a).dtype.kind in "fc" and aval_of(bins).ndim == 0:
        a = astype(a, aval_of(edges).dtype)
    place, inside = _bins_of(a, edges)
    counts = _totals(select(inside, place, number), weights, number + 1)[:-1]
    if not density:
        return counts, edges
    return counts / astype(diff(edges), np.float64) / sum_(counts), edges


def _bins_of(a: Any, edges: Any) -> tuple[Any, Any]:
    """Return the bin of each element, and whether it has one; the last bin holds its upper edge."""
    place = searchsorted(edges, a, "right") - 1
    inside = (a >= edges[0]) & (a <= edges[-1])
    return select(a == edges[-1], aval_of(edges).size - 2, place), inside


@implements(np.histogramdd)
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, list[Any]]:
    """Counts, or total weights, in a grid of bins, and its edges, as `numpy.histogramdd`."""
    is_columns = isinstance(sample, list | tuple)
    sample = as_value(sample)
    if aval_of(sample).ndim == 1:
        sample = reshape(sample, (1, aval_of(sample).size))
        is_columns = True
    sample = transpose(sample, (1, 0)) if is_columns else sample
    ndim = aval_of(sample).shape[1]
    columns = [sample[:, place] for place in builtins.range(ndim)]
    every = bins if isinstance(bins, list | tuple) else [bins] * ndim
    extents = [None] * ndim if range is None else range
    for name, given in (("bins", every), ("range", extents)):
        if len(given) != ndim:
            raise ShapeError(
                f"histogramdd: {name} must have one entry per dimension: {len(given)} is not {ndim}"
            )
    edges = [_edges(*given) for given in zip(columns, every, extents, strict=True)]
    shape = tuple(aval_of(edge).size - 1 for edge in edges)
    flat, inside = _bins_of(columns[0], edges[0])
    for column, edge, extent in zip(columns[1:], edges[1:], shape[1:], strict=True):
        place, within = _bins_of(column, edge)
        flat, inside = flat * extent + place, inside & within
    cells = math.prod(shape)
    totals = _totals(select(inside, flat, cells), weights, cells + 1)[:-1]
    result = reshape(astype(totals, np.float64), shape)
    if not density:
        return result, edges
    whole = sum_(result)
    for axis, edge in enumerate(edges):
        result = result / reshape(diff(edge), aligned(shape[axis], axis, ndim))
    return result / whole, edges


@implements(np.histogram2d)
def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
) -> tuple[Any, Any, Any]:
    """Counts, or total weights, in a grid of bins, and its edges, as `numpy.histogram2d`."""
    x, y = as_value(x), as_value(y)
    if aval_of(x).shape != aval_of(y).shape:
        raise ShapeError("histogram2d: x and y must have the same length.")
    if not isinstance(bins, int) and len(bins) not in (1, 2):
        bins = [as_value(bins)] * 2
    elif not isinstance(bins, int):
        bins = list(bins)
    sample = FUNCTIONS[np.stack]([x, y], axis=1)
    counts, (first, second) = histogramdd(sample, bins, range, density, weights)
    return counts, first, second


def _totals(place: Any, weights: Any, length: int) -> Any:
    if weights is None:
        return bincount(place, None, length)
    weights = as_value(weights)
    aval = aval_of(weights)
    weights = reshape(weights, (aval.size,))
    if aval.dtype.kind != "c":
        return astype(bincount(place, weights, length), aval.dtype)
    real, imaginary = FUNCTIONS[np.real](weights), FUNCTIONS[np.imag](weights)
    total = bincount(place, real, length) + 1j * bincount(place, imaginary, length)
    return astype(total, aval.dtype)
