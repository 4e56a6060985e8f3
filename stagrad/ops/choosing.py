"""Picking elements by position or condition: take, take_along_axis, compress, choose, select."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from stagrad.errors import UnsupportedError
from stagrad.ir import aval_of
from stagrad.ops import selection
from stagrad.ops.convert import as_array, as_value, is_traced
from stagrad.ops.define import UFUNCS, implements
from stagrad.ops.gather import gather, known_array, settled
from stagrad.ops.joining import join
from stagrad.ops.movement import astype, broadcast_to, constant, lifted, reshape
from stagrad.ops.promote import common_loop, loop_types
from stagrad.ops.repeating import pick
from stagrad.ops.shaping import ravel
from stagrad.ops.subscripts import check_bounds


def index_array(indices: Any, name: str, *, like: Any) -> Any:
    """Return an index argument as an integer array; TypeError where it is none."""
    value = as_value(indices)
    aval = aval_of(value)
    if aval.size == 0 and isinstance(indices, list | tuple):
        value = np.zeros(aval.shape, np.intp)
    elif aval.dtype.kind not in "iub":
        raise TypeError(f"{name}: indices must be integers, not {aval.dtype}")
    if aval.dtype.kind == "b":
        value = astype(value, np.dtype(np.intp))
    if isinstance(indices, np.ndarray) or is_traced(value):
        return value
    return constant(np.asarray(value), like=like)


def within(indices: Any, extent: int, axis: int, mode: str) -> Any:
    """Return indices brought into an axis as `mode` says: "raise", "wrap" or "clip".

    "raise" refuses what is known to be outside while tracing; the rest is refused by the run.
    """
    if mode == "raise":
        check_bounds(indices, axis, extent)
        return indices
    if mode not in ("wrap", "clip"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    if extent == 0 and aval_of(indices).size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    if mode == "wrap":
        return UFUNCS["remainder"](indices, max(extent, 1))
    return UFUNCS["minimum"](UFUNCS["maximum"](indices, 0), extent - 1)


@implements(np.take)
def take(
    a: Any, indices: Any, axis: int | None = None, out: None = None, mode: str = "raise"
) -> Any:
    """Return the entries at positions along an axis, or of all elements in a row."""
    x = as_array(a)
    if axis is None:
        x, axis = ravel(x), 0
    axis = normalize_axis_index(axis, aval_of(x).ndim)
    places = index_array(indices, "take", like=x)
    extent = aval_of(x).shape[axis]
    if mode != "raise":
        places = lifted(places, like=x)
    return gather(x, [within(places, extent, axis, mode)], (axis,))


def along_axis(indices: Any, shape: tuple[int, ...], axis: int, name: str, *, like: Any) -> Any:
    """Return the index arrays that address an array at `indices` along an axis, matching elsewhere.

    Raises as NumPy does when the number of axes differs or an index is out of bounds.
    """
    if aval_of(indices).dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if aval_of(indices).ndim != len(shape):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    check_bounds(indices, axis, shape[axis])
    places = [
        indices
        if other == axis
        else constant(np.arange(extent).reshape((-1,) + (1,) * (len(shape) - other - 1)), like=like)
        for other, extent in enumerate(shape)
    ]
    try:
        np.broadcast_shapes(*(aval_of(place).shape for place in places))
    except ValueError:
        raise IndexError(
            f"{name}: indices of shape {aval_of(indices).shape} do not match an array of shape "
            f"{shape} beside axis {axis}"
        ) from None
    return places


@implements(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """Return the elements at positions along an axis, one index array entry for each."""
    x, places = as_array(arr), as_array(indices)
    if axis is None:
        if aval_of(places).ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        x, axis = ravel(x), 0
    shape = aval_of(x).shape
    axis = normalize_axis_index(axis, len(shape))
    places = along_axis(places, shape, axis, "take_along_axis", like=x)
    return gather(x, places, tuple(range(len(shape))))


@implements(np.compress)
def compress(condition: Any, a: Any, axis: int | None = None, out: None = None) -> Any:
    """Return the entries along an axis where a known condition holds."""
    x = as_array(a)
    if axis is None:
        x, axis = ravel(x), 0
    chosen = _known_condition(condition, "compress", like=x)
    if chosen.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    places = np.flatnonzero(chosen)
    axis = normalize_axis_index(axis, aval_of(x).ndim)
    check_bounds(places, axis, aval_of(x).shape[axis])
    return pick(x, places, axis)


@implements(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    """Return the elements where a known condition holds, in a row."""
    x = as_array(arr)
    chosen = _known_condition(condition, "extract", like=x)
    return pick(ravel(x), np.flatnonzero(chosen), 0)


def _known_condition(condition: Any, name: str, *, like: Any) -> np.ndarray:
    known = settled(condition, like=like)
    if known is None:
        raise UnsupportedError(
            f"{name}: the result has as many elements as the condition, which is traced, has true "
            "ones. np.where(condition, x, 0) keeps the shape, np.sum(x, where=condition) reduces"
        )
    return known


def _common(values: Sequence[Any]) -> np.dtype:
    """Return the dtype the values meet in, Python scalars adapting to their partners."""
    return common_loop(loop_types([aval_of(value) for value in values]))[1]


def _spread(values: Sequence[Any], *others: Any) -> tuple[int, ...]:
    return np.broadcast_shapes(*(aval_of(value).shape for value in (*values, *others)))


@implements(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Return for each element the choice whose condition is the first to hold, else the default."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    conditions = [as_array(condition) for condition in condlist]
    for number, condition in enumerate(conditions):
        if aval_of(condition).dtype.kind != "b":
            raise TypeError(f"invalid entry {number} in condlist: should be boolean ndarray")
    choices = [as_value(choice) for choice in (*choicelist, default)]
    dtype, shape = _common(choices), _spread(choices, *conditions)
    like = next(filter(is_traced, (*choices, *conditions)), None)
    result = broadcast_to(astype(lifted(choices[-1], like=like), dtype), shape)
    for condition, choice in zip(conditions[::-1], choices[-2::-1], strict=True):
        result = selection.select(condition, astype(lifted(choice, like=like), dtype), result)
    return result


@implements(np.choose)
def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Any:
    """Return for each element the choice that an integer array names."""
    number = as_array(a)
    values = [as_value(choice) for choice in choices]
    if aval_of(number).dtype.kind not in "iub":
        raise TypeError(f"choose: the selector must hold integers, not {aval_of(number).dtype}")
    number = astype(number, np.dtype(np.intp))
    shape = _spread(values, number)
    if mode != "raise":
        number = within(number, len(values), 0, mode)
    known = known_array(number)
    if known is not None and ((known < 0) | (known >= len(values))).any():
        raise ValueError("invalid entry in choice array")
    dtype = _common(values)
    layers = [broadcast_to(astype(lifted(value, like=number), dtype), shape) for value in values]
    whole = join(layers, 0, new_axis=True)
    row = reshape(broadcast_to(number, shape), (1, *shape))
    return reshape(take_along_axis(whole, row, 0), shape)


@implements(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Return the function's value of the last condition that holds; each runs on all elements."""
    value = as_array(x)
    shape, dtype = aval_of(value).shape, aval_of(value).dtype
    whole = as_array(condlist) if not isinstance(condlist, list | tuple) else None
    if whole is not None:
        conditions = [whole] if aval_of(whole).ndim <= len(shape) else list(whole)
    elif condlist and aval_of(as_array(condlist[0])).ndim == 0 and shape:
        conditions = [as_array(condlist)]
    else:
        conditions = [as_array(condition) for condition in condlist]
    count = len(conditions)
    if len(funclist) not in (count, count + 1):
        raise ValueError(
            f"with {count} condition(s), either {count} or {count + 1} functions are expected"
        )
    pieces = [
        astype(
            lifted(as_value(piece(value, *args, **kw) if callable(piece) else piece), like=value),
            dtype,
        )
        for piece in funclist
    ]
    default = pieces[count] if len(pieces) > count else constant(dtype.type(0), like=value)
    result = broadcast_to(default, shape)
    for condition, piece in zip(conditions, pieces, strict=False):
        result = selection.select(condition, piece, result)
    return result
