"""Reductions that leave NaN out: the elements they leave out have derivative zero.

What is left out is replaced before anything is computed from it, so that a NaN born in the user's
own expression does not come back as a NaN in its gradient.
"""

from typing import Any

import numpy as np

from stagrad.ir import ZERO, Kind, Primitive, aval_of, bind, register
from stagrad.ops import cumulative, reduction, statistics
from stagrad.ops.convert import as_value
from stagrad.ops.define import UFUNCS, implements
from stagrad.ops.movement import astype, broadcast_to
from stagrad.ops.reduction import UNSET, bottom, extreme_position, keep_where, top


def present(a: Any) -> Any:
    """Return which elements are not NaN; True when none can be."""
    if aval_of(a).dtype.kind not in "fc":
        return True
    return UFUNCS["logical_not"](UFUNCS["isnan"](a))


def _present_and(a: Any, where: Any) -> Any:
    found = present(a)
    if where is True or where is UNSET:
        return found
    where = broadcast_to(astype(where, np.bool_), aval_of(a).shape)
    return where if found is True else found & where


def filled(a: Any, fill: Any) -> Any:
    """Return `a` with a number in place of every NaN."""
    a = as_value(a)
    return keep_where(present(a), a, fill)


@implements(np.nansum)
def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: Any = False,
    initial: Any = UNSET,
    where: Any = True,
) -> Any:
    """Sum over axes with NaN as zero, as `numpy.nansum`."""
    return reduction.sum(filled(a, 0), axis, dtype, None, keepdims, initial, where)


@implements(np.nanprod)
def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: Any = False,
    initial: Any = UNSET,
    where: Any = True,
) -> Any:
    """Product over axes with NaN as one, as `numpy.nanprod`."""
    return reduction.prod(filled(a, 1), axis, dtype, None, keepdims, initial, where)


@implements(np.nancumsum)
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """Running sums with NaN as zero, as `numpy.nancumsum`."""
    return cumulative.cumsum(filled(a, 0), axis, dtype)


@implements(np.nancumprod)
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """Running products with NaN as one, as `numpy.nancumprod`."""
    return cumulative.cumprod(filled(a, 1), axis, dtype)


@implements(np.nanmean)
def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """Mean over axes of what is not NaN, as `numpy.nanmean`; of nothing it is NaN."""
    return statistics.mean(filled(a, 0), axis, dtype, None, keepdims, where=_present_and(a, where))


@implements(np.nanvar)
def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = UNSET,
    correction: Any = UNSET,
) -> Any:
    """Variance over axes of what is not NaN, as `numpy.nanvar`."""
    ddof = statistics.chosen_ddof("nanvar", ddof, correction)
    kept = _present_and(a, where)
    variance = statistics.var(
        filled(a, 0), axis, dtype, None, ddof, keepdims, where=kept, mean=mean
    )
    if kept is True:
        return variance
    freedom = statistics.population(a, axis, keepdims, kept) - ddof
    return keep_where(freedom > 0, variance, np.nan)


@implements(np.nanstd)
def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = UNSET,
    correction: Any = UNSET,
) -> Any:
    """Standard deviation over axes of what is not NaN, as `numpy.nanstd`."""
    variance = nanvar(
        a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
    )
    return statistics.root(variance)


def _nan_extreme(
    extreme: Any, neutral: Any, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    a = as_value(a)
    found = present(a)
    dtype = aval_of(a).dtype
    if found is True:
        return extreme(a, axis, None, keepdims, initial, where)
    result = extreme(keep_where(found, a, neutral(dtype)), axis, None, keepdims, initial, where)
    if initial is not UNSET:
        return result
    return keep_where(reduction.any(found, axis, None, keepdims), result, np.nan)


@implements(np.nanmax)
def nanmax(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: Any = False,
    initial: Any = UNSET,
    where: Any = True,
) -> Any:
    """Largest element over axes that is not NaN, as `numpy.nanmax`; NaN where all are."""
    return _nan_extreme(reduction.max, bottom, a, axis, keepdims, initial, where)


@implements(np.nanmin)
def nanmin(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: Any = False,
    initial: Any = UNSET,
    where: Any = True,
) -> Any:
    """Smallest element over axes that is not NaN, as `numpy.nanmin`; NaN where all are."""
    return _nan_extreme(reduction.min, top, a, axis, keepdims, initial, where)


def _nan_position(name: str, doc: str) -> Primitive:
    def batcher(size: int, batched: Any, operands: Any, *, axis: tuple[int, ...]) -> Any:
        return bind(record, operands[0], axis=(axis[0] + 1,))

    record = register(
        Primitive(
            name=name,
            kind=Kind.LIBRARY,
            abstract_eval=reduction.argmax_p.abstract_eval,
            batcher=batcher,
            py=lambda params, arity: f"xp.{name}({{0}}, axis={params['axis'][0]})",
            vjps=(ZERO,),
            doc=doc,
        )
    )
    return record


# Primitives of their own, because NumPy raises ValueError where all elements are NaN: only the run
# can tell.
nanargmax_p = _nan_position("nanargmax", "Position of the largest element that is not NaN.")
nanargmin_p = _nan_position("nanargmin", "Position of the smallest element that is not NaN.")


@implements(np.nanargmax)
def nanargmax(a: Any, axis: Any = None, out: None = None, *, keepdims: Any = False) -> Any:
    """Position of the first largest element that is not NaN, as `numpy.nanargmax`."""
    return extreme_position(nanargmax_p, a, axis, keepdims)


@implements(np.nanargmin)
def nanargmin(a: Any, axis: Any = None, out: None = None, *, keepdims: Any = False) -> Any:
    """Position of the first smallest element that is not NaN, as `numpy.nanargmin`."""
    return extreme_position(nanargmin_p, a, axis, keepdims)
