"""Joining: concatenation and the functions made of it."""

from collections.abc import Sequence
from typing import Any

from stagrad.errors import ShapeError
from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.convert import is_traced, result_dtype
from stagrad.ops.movement import astype, lifted, reshape
from stagrad.ops.slicing import axis_slice


def _concatenated(avals: tuple[Aval, ...], params: Params) -> Aval:
    axis, first = params["axis"], avals[0]
    total = sum(aval.shape[axis] for aval in avals)
    return Aval((*first.shape[:axis], total, *first.shape[axis + 1 :]), first.dtype)


def _concatenate_rule(position: int, ct: Any, out: Any, *parts: Any, axis: int) -> Any:
    extents = [aval_of(part).shape[axis] for part in parts]
    start = sum(extents[:position])
    return axis_slice(ct, axis, start, start + extents[position])


concatenate_p = register(
    Primitive(
        name="concatenate",
        kind=Kind.MOVEMENT,
        abstract_eval=_concatenated,
        py="xp.concatenate(({args}), axis={axis})",
        vjps=_concatenate_rule,
        linear=True,
        doc="Arrays of one dtype joined along an axis.",
    )
)


def join(parts: Sequence[Any], axis: int, *, new_axis: bool = False) -> Any:
    """Join arrays along an existing axis, or along a new one; dtypes meet in their common one.

    `axis` counts the axes of the result and is not negative. Shapes must agree elsewhere.
    """
    like = next(filter(is_traced, parts), None)
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
