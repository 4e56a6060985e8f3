"""Joining and splitting: concatenation, the stack and split families, block."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from stagrad.errors import ShapeError
from stagrad.ir import Along, Aval, Kind, Params, Placement, Primitive, aval_of, bind, register
from stagrad.ops.convert import as_array, cast, result_dtype, traced_among
from stagrad.ops.define import implements
from stagrad.ops.movement import all_batched, astype, lifted, reshape
from stagrad.ops.shaping import atleast_1d, atleast_2d, atleast_3d, ravel, squeeze
from stagrad.ops.slicing import axis_slice


def _concatenated(avals: tuple[Aval, ...], params: Params) -> Aval:
    axis, first = params["axis"], avals[0]
    total = sum(aval.shape[axis] for aval in avals)
    return Aval((*first.shape[:axis], total, *first.shape[axis + 1 :]), first.dtype)


def _concatenate_rule(position: int, ct: Any, out: Any, *parts: Any, axis: int) -> Any:
    extents = [aval_of(part).shape[axis] for part in parts]
    start = sum(extents[:position])
    return axis_slice(ct, axis, start, start + extents[position])


def _concatenate_batcher(size: int, batched: Any, operands: Any, *, axis: int) -> Any:
    return join(all_batched(size, batched, operands), axis + 1)


def _concatenate_places(avals: tuple[Aval, ...], params: Params) -> tuple[Placement, ...]:
    axis, start, places = params["axis"], 0, []
    for operand, aval in enumerate(avals):
        index = [Along(other) for other in range(aval.ndim)]
        index[axis] = Along(axis, start)
        places.append(Placement(operand, tuple(index)))
        start += aval.shape[axis]
    return tuple(places)


concatenate_p = register(
    Primitive(
        name="concatenate",
        kind=Kind.MOVEMENT,
        abstract_eval=_concatenated,
        py="xp.concatenate(({args}), axis={axis})",
        places=_concatenate_places,
        vjps=_concatenate_rule,
        batcher=_concatenate_batcher,
        linear=True,
        doc="Arrays of one dtype joined along an axis.",
    )
)


def join(parts: Sequence[Any], axis: int, *, new_axis: bool = False) -> Any:
    """Join arrays along an existing axis, or along a new one; dtypes meet in their common one.

    `axis` counts the axes of the result and is not negative. Shapes must agree elsewhere.
    """
    like = traced_among(parts)
    parts = [lifted(part, like=like) for part in parts]
    avals = [aval_of(part) for part in parts]
    dtype = result_dtype(avals)
    if new_axis:
        parts = [
            reshape(part, (*aval.shape[:axis], 1, *aval.shape[axis:]))
            for part, aval in zip(parts, avals, strict=True)
        ]
        avals = [aval_of(part) for part in parts]
    rests = {(aval.shape[:axis], aval.shape[axis + 1 :]) for aval in avals}
    if len(rests) > 1:
        listed = ", ".join(str(aval.shape) for aval in avals)
        raise ShapeError(f"joining along axis {axis}: shapes {listed} do not agree elsewhere")
    cast = [astype(part, dtype) for part in parts]
    return cast[0] if len(cast) == 1 else bind(concatenate_p, *cast, axis=axis)


def _parts(arrays: Any, name: str) -> list[Any]:
    """Return a sequence of arrays, or an array's entries along its first axis, as a list."""
    like = traced_among(arrays)
    parts = [as_array(part, like=like) for part in arrays]
    if not parts:
        raise ValueError(f"need at least one array to {name}")
    return parts


@implements(np.concatenate)
def concatenate(
    arrays: Any,
    /,
    axis: int | None = 0,
    out: None = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Any:
    """Join arrays along an existing axis; with `axis=None`, all their elements in a row."""
    parts = _parts(arrays, "concatenate")
    if axis is None:
        parts, axis = [ravel(part) for part in parts], 0
    if any(aval_of(part).ndim == 0 for part in parts):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    if dtype is not None:
        parts = [cast(part, dtype, casting=casting, copy=False) for part in parts]
    return join(parts, normalize_axis_index(axis, aval_of(parts[0]).ndim))


@implements(np.stack)
def stack(
    arrays: Any,
    axis: int = 0,
    out: None = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Any:
    """Join arrays of one shape along a new axis."""
    parts = _parts(arrays, "stack")
    if len({aval_of(part).shape for part in parts}) > 1:
        raise ShapeError("all input arrays must have the same shape")
    if dtype is not None:
        parts = [cast(part, dtype, casting=casting, copy=False) for part in parts]
    return join(parts, normalize_axis_index(axis, aval_of(parts[0]).ndim + 1), new_axis=True)


@implements(np.vstack)
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Join along the first axis, one-dimensional arrays being rows."""
    parts = [atleast_2d(part) for part in _parts(tup, "concatenate")]
    return concatenate(parts, 0, dtype=dtype, casting=casting)


@implements(np.hstack)
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Join along the second axis, or along the only one."""
    parts = [atleast_1d(part) for part in _parts(tup, "concatenate")]
    axis = 0 if aval_of(parts[0]).ndim == 1 else 1
    return concatenate(parts, axis, dtype=dtype, casting=casting)


@implements(np.dstack)
def dstack(tup: Any) -> Any:
    """Join along the third axis."""
    return concatenate([atleast_3d(part) for part in _parts(tup, "concatenate")], 2)


@implements(np.column_stack)
def column_stack(tup: Any) -> Any:
    """Join along the second axis, one-dimensional arrays being columns."""
    parts = _parts(tup, "concatenate")
    columns = [
        reshape(part, (aval_of(part).size, 1)) if aval_of(part).ndim < 2 else part for part in parts
    ]
    return concatenate(columns, 1)


@implements(np.block)
def block(arrays: Any) -> Any:
    """Assemble an array from nested lists of blocks."""
    depth = _block_depth(arrays, ())
    ndim = max(depth, *(aval_of(leaf).ndim for leaf in _block_leaves(arrays)))
    return _assemble(arrays, depth, ndim, traced_among(arrays))


def _block_depth(arrays: Any, place: tuple[int, ...]) -> int:
    if isinstance(arrays, tuple):
        raise TypeError(f"block: arrays{list(place)} is a tuple. Only lists can nest blocks")
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError(f"block: list at arrays{list(place)} cannot be empty")
    depths = {_block_depth(part, (*place, number)) for number, part in enumerate(arrays)}
    if len(depths) > 1:
        raise ValueError("block: list depths are mismatched")
    return depths.pop() + 1


def _block_leaves(arrays: Any) -> list[Any]:
    if isinstance(arrays, list):
        return [leaf for part in arrays for leaf in _block_leaves(part)]
    return [as_array(arrays)]


def _assemble(arrays: Any, depth: int, ndim: int, like: Any) -> Any:
    if not isinstance(arrays, list):
        x = as_array(arrays, like=like)
        shape = aval_of(x).shape
        return reshape(x, (1,) * (ndim - len(shape)) + shape)
    return join([_assemble(part, depth - 1, ndim, like) for part in arrays], ndim - depth)


@implements(np.append)
def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Join values to the end of an array."""
    return concatenate((arr, values), axis)


@implements(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Split along an axis into parts as equal as can be, or at given positions."""
    x = as_array(ary)
    axis = normalize_axis_index(axis, aval_of(x).ndim)
    extent = aval_of(x).shape[axis]
    if np.ndim(indices_or_sections):
        cuts = [0, *map(int, indices_or_sections), extent]
    else:
        sections = int(indices_or_sections)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        longer = extent % sections
        cuts = [part * (extent // sections) + min(part, longer) for part in range(sections + 1)]
    bounds = [slice(start, stop).indices(extent) for start, stop in itertools.pairwise(cuts)]
    return [axis_slice(x, axis, *bound) for bound in bounds]


@implements(np.split)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Split along an axis into equal parts, or at given positions."""
    x = as_array(ary)
    if not np.ndim(indices_or_sections):
        extent = aval_of(x).shape[normalize_axis_index(axis, aval_of(x).ndim)]
        if extent % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
    parts: list[Any] = array_split(x, indices_or_sections, axis)
    return parts


@implements(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Split along the second axis, or along the only one."""
    x = as_array(ary)
    if aval_of(x).ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    parts: list[Any] = split(x, indices_or_sections, min(1, aval_of(x).ndim - 1))
    return parts


@implements(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Split along the first axis of an array of two or more."""
    x = as_array(ary)
    if aval_of(x).ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    parts: list[Any] = split(x, indices_or_sections, 0)
    return parts


@implements(np.dsplit)
def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Split along the third axis."""
    x = as_array(ary)
    if aval_of(x).ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    parts: list[Any] = split(x, indices_or_sections, 2)
    return parts


@implements(np.unstack)
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """Split along an axis into arrays without it."""
    x = as_array(x)
    if aval_of(x).ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    axis = normalize_axis_index(axis, aval_of(x).ndim)
    extent = aval_of(x).shape[axis]
    return tuple(squeeze(axis_slice(x, axis, place, place + 1), axis) for place in range(extent))
