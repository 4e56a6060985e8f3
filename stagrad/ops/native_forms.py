"""Native forms of operations along one axis: calls of what `stagrad_arrays.h` defines."""

import math
from collections.abc import Callable

import numpy as np

from stagrad.ir.native import NativeCall

FLOATING = {"f2": "_Float16", "f4": "float", "f8": "double"}
COMPLEX = {"c8": "float complex", "c16": "double complex"}


def native_position(before: str) -> Callable[[NativeCall], str | None]:
    """Return the native form of argmax (`>`) or argmin (`<`)."""

    def form(call: NativeCall) -> str | None:
        operand = call.operands[0]
        (axis,) = call.params["axis"]
        if operand.dtype.kind == "c" or not operand.shape[axis]:
            return None
        return f"SG_POSITION({_element(operand.dtype)}, {before}, {_along(call, axis)})"

    return form


def native_cumulation(operator: str) -> Callable[[NativeCall], str | None]:
    """Return the native form of running sums (`+`) or products (`*`)."""

    def form(call: NativeCall) -> str | None:
        dtype = call.operands[0].dtype
        rounds_apart = dtype.itemsize == 2 and dtype.kind == "f"
        if dtype.kind == "b" or rounds_apart or (dtype.kind == "c" and operator == "*"):
            return None
        reverse = int(call.params["reverse"])
        place = _along(call, call.params["axis"])
        return f"SG_CUMULATE({_element(dtype)}, {operator}, {place}, {reverse})"

    return form


def _element(dtype: np.dtype) -> str:
    if dtype.kind == "b":
        return "uint8_t"
    return (FLOATING | COMPLEX).get(dtype.str[1:]) or f"{dtype.name}_t"


def _along(call: NativeCall, axis: int) -> str:
    shape = call.operands[0].shape
    sizes = (math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))
    return ", ".join((*call.pointers, *map(call.size, sizes)))
