"""Repeating, shifting and picking along an axis: tile, repeat, roll, insert, delete, resize."""

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from stagrad.errors import UnsupportedError
from stagrad.ir import aval_of
from stagrad.ops.convert import as_array, is_traced
from stagrad.ops.define import UFUNCS, implements
from stagrad.ops.gather import gather, settled
from stagrad.ops.joining import join
from stagrad.ops.movement import astype, broadcast_to, constant, lifted, reshape, zeros
from stagrad.ops.shaping import as_shape, moveaxis, ravel
from stagrad.ops.slicing import axis_slice


def pick(x: Any, places: np.ndarray, axis: int) -> Any:
    """Return the entries along an axis at known places, as slices where these are regular."""
    count, extent = len(places), aval_of(x).shape[axis]
    if count == 0:
        return axis_slice(x, axis, 0, 0)
    step = int(places[1] - places[0]) if count > 1 else 1
    if step != 0 and (np.diff(places) == step).all() and places.min() >= 0:
        start, last = int(places[0]), int(places[-1])
        return axis_slice(x, axis, start, last + (1 if step > 0 else -1), step)
    assert extent > 0
    return gather(x, [constant(places, like=x)], (axis,))


@implements(np.tile)
def tile(A: Any, reps: Any) -> Any:
    """Repeat an array as a whole, `reps` times along each axis."""
    x = as_array(A)
    counts = as_shape(reps)
    shape = aval_of(x).shape
    ndim = max(len(counts), len(shape))
    counts = (1,) * (ndim - len(counts)) + counts
    shape = (1,) * (ndim - len(shape)) + shape
    parted = tuple(extent for pair in zip((1,) * ndim, shape, strict=True) for extent in pair)
    spread = tuple(extent for pair in zip(counts, shape, strict=True) for extent in pair)
    whole = tuple(count * extent for count, extent in zip(counts, shape, strict=True))
    return reshape(broadcast_to(reshape(x, parted), spread), whole)


@implements(np.repeat)
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Repeat each element along an axis; `repeats` is one number, or one for each element."""
    if is_traced(repeats):
        raise UnsupportedError(
            "repeat: the result's shape depends on `repeats`, which is traced. Make it a static "
            "argument (static_argnames=...)"
        )
    x = as_array(a)
    if axis is None:
        x, axis = ravel(x), 0
    axis = normalize_axis_index(axis, aval_of(x).ndim)
    shape = aval_of(x).shape
    counts = settled(repeats, like=x)
    assert counts is not None
    if counts.size == 1:
        count = int(counts.reshape(()))
        if count < 0:
            raise ValueError("repeats may not contain negative values.")
        spread = broadcast_to(
            reshape(x, (*shape[: axis + 1], 1, *shape[axis + 1 :])),
            (*shape[: axis + 1], count, *shape[axis + 1 :]),
        )
        return reshape(spread, (*shape[:axis], shape[axis] * count, *shape[axis + 1 :]))
    return pick(x, np.repeat(np.arange(shape[axis]), counts), axis)


@implements(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Shift elements along axes, those pushed out coming in at the other end."""
    x = as_array(a)
    shape = aval_of(x).shape
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), shape)
    axes = normalize_axis_tuple(axis, len(shape), "axis", allow_duplicate=True)
    if is_traced(shift):
        if len(axes) != 1 or aval_of(shift).ndim:
            raise UnsupportedError("roll: a traced shift must be one number, for one axis")
        return _roll_traced(x, shift, axes[0])
    shifts, axes_each = np.broadcast_arrays(shift, axes)
    if shifts.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    for amount, place in zip(shifts.flat, axes_each.flat, strict=True):
        x = _roll_axis(x, int(amount), int(place))
    return x


def _roll_axis(x: Any, shift: int, axis: int) -> Any:
    extent = aval_of(x).shape[axis]
    cut = -shift % extent if extent else 0
    if cut == 0:
        return x
    return join([axis_slice(x, axis, cut, extent), axis_slice(x, axis, 0, cut)], axis)


def _roll_traced(x: Any, shift: Any, axis: int) -> Any:
    extent = aval_of(x).shape[axis]
    if extent == 0:
        return x
    places = constant(np.arange(extent), like=x) - shift
    return gather(x, [UFUNCS["remainder"](places, extent)], (axis,))


@implements(np.delete)
def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """Return the array without the entries at known places along an axis."""
    x = as_array(arr)
    if axis is None:
        x, axis = ravel(x), 0
    axis = normalize_axis_index(axis, aval_of(x).ndim)
    keep = np.ones(aval_of(x).shape[axis], dtype=np.bool_)
    keep[_known_places(obj, "delete", like=x)] = False
    return pick(x, np.flatnonzero(keep), axis)


@implements(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Return the array with values put in before known places along an axis."""
    x = as_array(arr)
    if axis is None:
        x, axis = ravel(x), 0
    shape = aval_of(x).shape
    axis = normalize_axis_index(axis, len(shape))
    extent = shape[axis]
    places = np.asarray(_known_places(obj, "insert", like=x))
    if places.dtype == np.object_:
        places = np.arange(extent)[obj]
    elif places.dtype.kind == "b":
        places = np.flatnonzero(places)
    added = astype(lifted(as_array(values, like=x), like=x), aval_of(x).dtype)
    given = aval_of(added).shape
    added = reshape(added, (1,) * (len(shape) - len(given)) + given)
    if places.ndim == 0:
        added = moveaxis(added, 0, axis)
    count = aval_of(added).shape[axis] if places.size == 1 else places.size
    added = broadcast_to(added, (*shape[:axis], count, *shape[axis + 1 :]))
    return pick(join([x, added], axis), _inserted(places, count, extent, axis), axis)


def _inserted(places: np.ndarray, count: int, extent: int, axis: int) -> np.ndarray:
    """Return where the entries after an insertion come from: `extent + i` is the i-th new one."""
    outside = places[(places < -extent) | (places > extent)]
    if outside.size:
        raise IndexError(
            f"index {outside.flat[0]} is out of bounds for axis {axis} with size {extent}"
        )
    targets = np.broadcast_to(np.where(places < 0, places + extent, places), (count,)).copy()
    targets[np.argsort(targets, kind="stable")] += np.arange(count)
    order = np.full(extent + count, -1)
    order[targets] = extent + np.arange(count)
    order[order < 0] = np.arange(extent)
    return order


def _known_places(obj: Any, name: str, *, like: Any) -> Any:
    if isinstance(obj, slice | int | np.integer):
        return obj
    places = settled(obj, like=like)
    if places is None:
        raise UnsupportedError(
            f"{name}: the result depends on the places in `obj`, which are traced; they must be "
            "known while the function is traced"
        )
    return places.astype(np.intp) if places.size == 0 else places


@implements(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    """Return an array of another shape, filled with the elements again and again."""
    x = ravel(as_array(a))
    shape = as_shape(new_shape)
    if any(extent < 0 for extent in shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    given, total = aval_of(x).size, math.prod(shape)
    if total == 0 or given == 0:
        return zeros(shape, aval_of(x).dtype, like=x)
    return reshape(pick(x, np.arange(total) % given, 0), shape)
