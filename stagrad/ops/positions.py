"""Arithmetic on positions: flat ones and those of many axes; the positions of triangles."""

import math
from typing import Any

import numpy as np

from stagrad.errors import ShapeError
from stagrad.ir import aval_of
from stagrad.ops.choosing import within
from stagrad.ops.convert import as_array
from stagrad.ops.define import UFUNCS, implements
from stagrad.ops.gather import known_array
from stagrad.ops.movement import constant
from stagrad.ops.shaping import as_shape


def _strides(shape: tuple[int, ...], order: str) -> list[int]:
    """Return how many elements one step along each axis skips."""
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    if order == "F":
        return [math.prod(shape[:axis]) for axis in range(len(shape))]
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


@implements(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """Return the flat positions of entries given by one index array per axis."""
    shape = as_shape(dims)
    if len(multi_index) != len(shape):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(shape)}")
    modes = mode if isinstance(mode, tuple) else (mode,) * len(shape)
    total: Any = 0
    parts = zip(multi_index, shape, modes, _strides(shape, order), strict=True)
    for axis, (index, extent, how, stride) in enumerate(parts):
        place = as_array(index)
        known = known_array(place)
        if how == "raise" and known is not None and ((known < 0) | (known >= extent)).any():
            raise ValueError("invalid entry in coordinates array")
        total = within(place, extent, axis, how) * stride + total
    return total


@implements(np.unravel_index)
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """Return one index array per axis for flat positions."""
    extents, places = as_shape(shape), as_array(indices)
    size = math.prod(extents)
    known = known_array(places)
    if known is not None and ((known < 0) | (known >= size)).any():
        raise ValueError(f"index is out of bounds for array with size {size}")
    floor, rest = UFUNCS["floor_divide"], UFUNCS["remainder"]
    return tuple(
        rest(floor(places, stride), extent)
        for stride, extent in zip(_strides(extents, order), extents, strict=True)
    )


@implements(np.diag_indices_from)
def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """Return the positions of the main diagonal."""
    shape = aval_of(arr).shape
    if len(shape) < 2:
        raise ShapeError("input array must be at least 2-d")
    if len(set(shape)) > 1:
        raise ShapeError("All dimensions of input must be of equal length")
    return _constants(np.diag_indices(shape[0], len(shape)), arr)


@implements(np.tril_indices_from)
def tril_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """Return the positions of the lower triangle."""
    rows, columns = _matrix_shape(arr)
    return _constants(np.tril_indices(rows, k, columns), arr)


@implements(np.triu_indices_from)
def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """Return the positions of the upper triangle."""
    rows, columns = _matrix_shape(arr)
    return _constants(np.triu_indices(rows, k, columns), arr)


def _constants(indices: tuple[np.ndarray, ...], like: Any) -> tuple[Any, ...]:
    return tuple(constant(index, like=like) for index in indices)


def _matrix_shape(arr: Any) -> tuple[int, int]:
    shape = aval_of(arr).shape
    if len(shape) != 2:
        raise ShapeError("input array must be 2-d")
    return shape[0], shape[1]
