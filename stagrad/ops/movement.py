"""Movement: operations that only rearrange, repeat or reinterpret elements."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from stagrad.errors import ShapeError
from stagrad.ir import (
    Along,
    Aval,
    Index,
    Kind,
    Literal,
    Params,
    Primitive,
    aval_of,
    bind,
    facts,
    format_param,
    register,
)
from stagrad.ir.index import identity


def _astype_rule(ct: Any, out: Any, x: Any, *, dtype: np.dtype, weak: bool) -> Any:
    from stagrad.ops.complex import real

    target = aval_of(x).dtype
    if target.kind != "c" and aval_of(ct).dtype.kind == "c":
        ct = real(ct)
    return astype(ct, target)


def _astype_access(aval: Aval, params: Params) -> Index | None:
    """Return the access of a cast that changes no number: it makes a Python scalar an array's."""
    return identity(aval.ndim) if aval.dtype == params["dtype"] else None


astype_p = register(
    Primitive(
        name="astype",
        access=_astype_access,
        facts=facts.one_of,
        kind=Kind.ELEMENTWISE,
        abstract_eval=lambda avals, params: Aval(avals[0].shape, params["dtype"], params["weak"]),
        py=lambda params, arity: f"xp.asarray({{0}}, dtype={format_param(params['dtype'])})",
        c=lambda params: "cast({0})",
        vjps=(_astype_rule,),
        linear=True,
        doc="The same numbers in another dtype, converted as NumPy converts them.",
    )
)


def astype(x: Any, dtype: Any, *, weak: bool = False) -> Any:
    """Convert to a dtype; `weak` marks the result as a Python scalar."""
    dtype = np.dtype(dtype)
    aval = aval_of(x)
    if aval.dtype == dtype and aval.weak == weak:
        return x
    return bind(astype_p, x, dtype=dtype, weak=weak)


def constant(value: Any, *, like: Any) -> Any:
    """Return a known array or NumPy scalar as a value of the kind `like` is.

    A traced value makes it a constant of its trace, where a plain array would be read at each call.
    """
    lift = getattr(like, "lift", None)
    if lift is None:
        return value
    return lift(Literal(value))


def lifted(value: Any, *, like: Any) -> Any:
    """Return a value of the kind `like` is, so that operations on it are recorded."""
    lift = getattr(like, "lift", None)
    return value if lift is None else lift(value)


def zeros(shape: tuple[int, ...], dtype: np.dtype, *, like: Any) -> Any:
    """Return zeros, as a value of the kind `like` is."""
    return broadcast_to(constant(dtype.type(0), like=like), shape)


def all_batched(size: int, batched: Sequence[bool], operands: Sequence[Any]) -> list[Any]:
    """Return operands with a leading batch axis each, repeating those that have none."""
    return [
        operand if is_batched else broadcast_to(operand, (size, *aval_of(operand).shape))
        for operand, is_batched in zip(operands, batched, strict=True)
    ]


def _broadcast_batcher(size: int, batched: Any, operands: Any, *, shape: tuple[int, ...]) -> Any:
    own = aval_of(operands[0]).shape[1:]
    aligned = reshape(operands[0], (size, *(1,) * (len(shape) - len(own)), *own))
    return broadcast_to(aligned, (size, *shape))


def _broadcast_rule(ct: Any, out: Any, x: Any, *, shape: tuple[int, ...]) -> Any:
    return sum_to(ct, aval_of(x).shape)


def sum_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Undo a broadcast: sum over the axes that broadcasting from `shape` added or stretched."""
    from stagrad.ops.reduction import sum as sum_

    given = aval_of(x).shape
    if given == shape:
        return x
    added = len(given) - len(shape)
    stretched = tuple(
        added + axis for axis, extent in enumerate(shape) if extent != given[added + axis]
    )
    return reshape(sum_(x, axis=(*range(added), *stretched)), shape)


def _read_only(base: Any, value: Any, params: Params) -> Any:
    raise ValueError("assignment destination is read-only: it was made by broadcast_to; copy it")


def _broadcast_access(aval: Aval, params: Params) -> Index:
    added = len(params["shape"]) - aval.ndim
    return tuple(
        Along(added + axis) if extent == params["shape"][added + axis] else 0
        for axis, extent in enumerate(aval.shape)
    )


broadcast_to_p = register(
    Primitive(
        name="broadcast_to",
        kind=Kind.MOVEMENT,
        abstract_eval=lambda avals, params: Aval(params["shape"], avals[0].dtype, avals[0].weak),
        py="xp.broadcast_to({0}, {shape})",
        vjps=(_broadcast_rule,),
        view=_read_only,
        access=_broadcast_access,
        batcher=_broadcast_batcher,
        linear=True,
        doc="The same elements repeated along new or length-one axes.",
    )
)


def broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Repeat `x` to `shape` by NumPy's broadcasting rules."""
    given = aval_of(x).shape
    if given == shape:
        return x
    try:
        fits = np.broadcast_shapes(given, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(f"broadcast_to: shape {given} does not broadcast to {shape}")
    return bind(broadcast_to_p, x, shape=shape)


def _reshape_access(aval: Aval, params: Params) -> Index | None:
    """Return the access of a reshape that only adds or drops axes of extent one."""
    axes = [axis for axis, extent in enumerate(params["shape"]) if extent != 1]
    if [params["shape"][axis] for axis in axes] != [extent for extent in aval.shape if extent != 1]:
        return None
    moving = iter(axes)
    return tuple(0 if extent == 1 else Along(next(moving)) for extent in aval.shape)


reshape_p = register(
    Primitive(
        name="reshape",
        kind=Kind.MOVEMENT,
        abstract_eval=lambda avals, params: Aval(params["shape"], avals[0].dtype, avals[0].weak),
        py="xp.reshape({0}, {shape})",
        vjps=(lambda ct, out, x, *, shape: reshape(ct, aval_of(x).shape),),
        view=lambda base, value, params: reshape(value, aval_of(base).shape),
        access=_reshape_access,
        batcher=lambda size, batched, operands, *, shape: reshape(operands[0], (size, *shape)),
        linear=True,
        doc="The same elements, in the same order, under another shape.",
    )
)


def reshape(x: Any, shape: tuple[int, ...]) -> Any:
    """Give `x` another shape of the same size; at most one extent may be -1."""
    aval = aval_of(x)
    if shape == aval.shape:
        return x
    known = math.prod(extent for extent in shape if extent != -1)
    if shape.count(-1) == 1 and known > 0 and aval.size % known == 0:
        shape = tuple(aval.size // known if extent == -1 else extent for extent in shape)
    elif min(shape, default=0) < 0 or known != aval.size:
        raise ShapeError(f"reshape: {aval.size} elements of shape {aval.shape} do not fit {shape}")
    return x if shape == aval.shape else bind(reshape_p, x, shape=shape)


def _transposed(avals: tuple[Aval, ...], params: Params) -> Aval:
    aval = avals[0]
    return Aval(tuple(aval.shape[axis] for axis in params["axes"]), aval.dtype, aval.weak)


def _inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(axis) for axis in np.argsort(axes))


def _transpose_text(params: Params, arity: int) -> str:
    axes = params["axes"]
    return "{0}.T" if axes == tuple(range(len(axes)))[::-1] else "xp.transpose({0}, {axes})"


transpose_p = register(
    Primitive(
        name="transpose",
        kind=Kind.MOVEMENT,
        abstract_eval=_transposed,
        py=_transpose_text,
        vjps=(lambda ct, out, x, *, axes: transpose(ct, _inverse(axes)),),
        view=lambda base, value, params: transpose(value, _inverse(params["axes"])),
        batcher=lambda size, batched, operands, *, axes: transpose(
            operands[0], (0, *(axis + 1 for axis in axes))
        ),
        access=lambda aval, params: tuple(map(Along, _inverse(params["axes"]))),
        linear=True,
        doc="The same elements with axes in another order.",
    )
)


def transpose(x: Any, axes: tuple[int, ...]) -> Any:
    """Reorder axes; `axes` is a permutation of all of them, counted from zero."""
    return x if axes == tuple(range(len(axes))) else bind(transpose_p, x, axes=axes)
