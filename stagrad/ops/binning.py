"""Counting what falls where: bincount and histogram. Counts do not vary; sums of weights do."""

from typing import Any

import numpy as np
import numpy as xp

from stagrad.errors import DTypeError, ShapeError, UnsupportedError
from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.convert import as_value, is_traced
from stagrad.ops.define import FUNCTIONS, implements
from stagrad.ops.differences import diff
from stagrad.ops.gather import gather, known_array
from stagrad.ops.movement import astype, broadcast_to, constant, reshape
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
    place = searchsorted(edges, a, "right") - 1
    place = select(a == edges[-1], number - 1, place)
    place = select((a >= edges[0]) & (a <= edges[-1]), place, number)
    counts = _totals(place, weights, number + 1)[:-1]
    if not density:
        return counts, edges
    return counts / astype(diff(edges), np.float64) / sum_(counts), edges


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
