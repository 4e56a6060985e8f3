"""The one place that makes NumPy's implicit casting and broadcasting explicit.

`promote` runs when an elementwise operation enters a graph: afterwards all operands have one shape
and the dtypes of one NumPy loop, so rules, passes and printers never meet mixed operands.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from stagrad.errors import DTypeError, ShapeError
from stagrad.ir import Aval, Literal, Params, aval_of

DTypes = tuple[tuple[np.dtype, ...], np.dtype]

_WEAK_TYPES: dict[str, type] = {"i": int, "f": float, "c": complex}


def loop_types(avals: Sequence[Aval]) -> tuple[Any, ...]:
    """Return what NEP 50 promotion sees: a dtype per strong operand, a Python type per weak one.

    When every operand is weak, Python's own scalars meet and their default dtypes take part.
    """
    if all(aval.weak for aval in avals):
        return tuple(aval.dtype for aval in avals)
    return tuple(_WEAK_TYPES[aval.dtype.kind] if aval.weak else aval.dtype for aval in avals)


@functools.lru_cache(maxsize=4096)
def ufunc_loop(ufunc: np.ufunc, operand_types: tuple[Any, ...]) -> DTypes:
    """Return the dtypes NumPy computes in, and of the result, for operands of these types."""
    try:
        resolved = ufunc.resolve_dtypes((*operand_types, *[None] * ufunc.nout))
    except TypeError as error:
        names = ", ".join(getattr(kind, "__name__", str(kind)) for kind in operand_types)
        raise DTypeError(f"{ufunc.__name__}: NumPy has no loop for operands ({names})") from error
    return tuple(resolved[: ufunc.nin]), resolved[ufunc.nin]


@functools.lru_cache(maxsize=4096)
def common_loop(operand_types: tuple[Any, ...]) -> DTypes:
    """Return the loop of an operation that is not a ufunc: all operands in their common dtype."""
    examples = [kind(0) if isinstance(kind, type) else kind for kind in operand_types]
    dtype = np.result_type(*examples)
    return (dtype,) * len(operand_types), dtype


def broadcast_shape(name: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape the operands broadcast to; ShapeError names the operation and the shapes."""
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(map(str, shapes))
        raise ShapeError(f"{name}: operands of shapes {listed} do not broadcast together") from None


def promote(primitive: Any, operands: Sequence[Any], params: Params) -> tuple[Any, ...]:
    """Return the operands cast to one NumPy loop and broadcast to one shape."""
    avals = [aval_of(operand) for operand in operands]
    first = avals[0]
    dtypes, _ = primitive.loop(loop_types(avals))
    if all(aval is first or aval == first for aval in avals) and dtypes[0] == first.dtype:
        return tuple(operands)
    lift = next(operand.lift for operand in operands if hasattr(operand, "lift"))
    shape = broadcast_shape(primitive.name, [aval.shape for aval in avals])
    weak = all(aval.weak for aval in avals)
    return tuple(
        _cast_and_broadcast(lift, operand, aval, dtype, shape, weak)
        for operand, aval, dtype in zip(operands, avals, dtypes, strict=True)
    )


def _cast_and_broadcast(
    lift: Any, operand: Any, aval: Aval, dtype: np.dtype, shape: tuple[int, ...], weak: bool
) -> Any:
    from stagrad.ops.movement import astype, broadcast_to

    if isinstance(operand, int | float | complex) and not isinstance(operand, np.generic):
        operand = lift(Literal(operand, dtype), weak=weak)
    elif aval.dtype != dtype or (aval.weak and not weak):
        operand = astype(lift(operand), dtype, weak=weak)
    return operand if aval.shape == shape else broadcast_to(lift(operand), shape)
