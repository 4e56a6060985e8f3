"""numpy.lib.stride_tricks.as_strided: elements read by the distance between them in memory."""

import math
from typing import Any

import numpy as np

from stagrad.errors import ShapeError
from stagrad.ir import aval_of
from stagrad.ops.define import implements_scipy
from stagrad.ops.gather import gather
from stagrad.ops.movement import constant, reshape
from stagrad.ops.shaping import as_shape


@implements_scipy("numpy.lib.stride_tricks.as_strided")
def as_strided(
    x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
) -> Any:
    """Return a copy of the elements at given distances, in bytes, from the first of `x`.

    Raises ShapeError where NumPy would read memory that is not the array's.
    """
    owner, memory, view = x.layout()
    steps = view.strides if strides is None else as_shape(strides)
    extents = view.shape if shape is None else as_shape(shape)
    size = aval_of(x).dtype.itemsize
    if len(steps) != len(extents) or any(step % size for step in steps):
        raise ShapeError(f"as_strided: strides {steps} do not fit shape {extents} of {aval_of(x)}")
    places = np.full(extents, (_address(view) - _address(memory)) // size)
    for axis, (extent, step) in enumerate(zip(extents, steps, strict=True)):
        along = np.arange(extent) * (step // size)
        places += along.reshape((-1,) + (1,) * (len(extents) - axis - 1))
    if places.size and not 0 <= places.min() <= places.max() < memory.size:
        raise ShapeError(f"as_strided: strides {steps} and shape {extents} leave the array")
    line = reshape(owner, (math.prod(memory.shape),))
    return gather(line, [constant(places, like=x)], (0,))


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])
