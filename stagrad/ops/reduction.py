"""Reductions: operations that fold axes away. Axes are a sorted tuple; kept axes are a reshape."""

import math
from typing import Any

import numpy as np

from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.movement import broadcast_to, reshape


def kept_shape(shape: tuple[int, ...], axis: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape after a reduction that keeps reduced axes as extent one."""
    return tuple(1 if position in axis else extent for position, extent in enumerate(shape))


def reduced(avals: tuple[Aval, ...], params: Params) -> Aval:
    """Type rule of a reduction that keeps its operand's dtype."""
    aval = avals[0]
    axis = params["axis"]
    shape = tuple(extent for position, extent in enumerate(aval.shape) if position not in axis)
    return Aval(shape, aval.dtype)


def expand_like(reduced_value: Any, x: Any, axis: tuple[int, ...]) -> Any:
    """Spread a reduced value back over the axes that were folded."""
    shape = aval_of(x).shape
    return broadcast_to(reshape(reduced_value, kept_shape(shape, axis)), shape)


sum_p = register(
    Primitive(
        name="sum",
        kind=Kind.REDUCTION,
        abstract_eval=reduced,
        py="xp.sum({0}, axis={axis}, dtype={0}.dtype)",
        vjps=(lambda ct, out, x, *, axis: expand_like(ct, x, axis),),
        linear=True,
        doc="Sum over axes, in the operand's dtype.",
    )
)


def sum(x: Any, axis: tuple[int, ...]) -> Any:
    """Sum over a sorted tuple of axes, keeping the dtype."""
    return bind(sum_p, x, axis=axis) if axis else x


def count(x: Any, axis: tuple[int, ...]) -> int:
    """Return how many elements each reduced value stands for."""
    shape = aval_of(x).shape
    return math.prod(shape[position] for position in axis)


def accumulator(dtype: np.dtype) -> np.dtype:
    """Return the dtype NumPy's sum and prod use by default: small integers widen."""
    return np.add.reduce(np.zeros(0, dtype)).dtype
