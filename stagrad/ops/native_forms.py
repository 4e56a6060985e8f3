"""Native forms of operations on whole arrays: calls of what emitted C's headers define."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stagrad.ir.aval import Aval
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


def native_gather(call: NativeCall) -> str | None:
    """Return the native form of reading at positions."""
    base, *_ = call.operands
    places = _places(call, 1)
    if places is None:
        return None
    to, source = call.pointers[-1], call.pointers[0]
    return _checked(call, places, f"sg_gather({to}, {source}, {places.blocks(base, call)});")


def native_scatter(call: NativeCall) -> str | None:
    """Return the native form of writing at positions."""
    base, *_ = call.operands
    places = _places(call, 2)
    if places is None:
        return None
    to, source = call.pointers[:2]
    return _checked(call, places, f"sg_scatter({to}, {source}, {places.blocks(base, call)});")


def native_scatter_add(call: NativeCall) -> str | None:
    """Return the native form of adding at positions, in order."""
    base, *_ = call.operands
    places = _places(call, 2)
    if places is None or base.dtype.kind == "b":
        return None
    to, source = call.pointers[:2]
    sizes = places.blocks(base, call, itemsize=1)
    return _checked(
        call, places, f"SG_SCATTER_ADD({_element(base.dtype)}, {to}, {source}, {sizes})"
    )


@dataclass(frozen=True, slots=True)
class _Places:
    """Positions along neighbouring axes: the C text of their arrays, and how many there are."""

    text: str
    count: str
    arrays: int
    axes: tuple[int, ...]

    def blocks(self, base: Aval, call: NativeCall, itemsize: int = 0) -> str:
        """Return the arguments that say which blocks of an array are meant."""
        shape, first, last = base.shape, self.axes[0], self.axes[-1] + 1
        outer, blocks, inner = (
            math.prod(shape[:first]),
            math.prod(shape[first:last]),
            math.prod(shape[last:]),
        )
        inner *= itemsize or base.dtype.itemsize
        sizes = ", ".join(map(call.size, (outer, blocks, inner)))
        return f"{sizes}, {self.count}, {self.arrays}, {self.text}"


def _places(call: NativeCall, first: int) -> _Places | None:
    """Return the positions that operands from number `first` on give; None for other layouts."""
    axes, indices = call.params["axes"], call.operands[first:]
    shape = np.broadcast_shapes(*(index.shape for index in indices))
    count = math.prod(shape)
    if axes[-1] - axes[0] != len(axes) - 1:
        return None
    if any(index.dtype != np.int64 or index.size not in (1, count) for index in indices):
        return None
    extents = call.operands[0].shape[axes[0] : axes[-1] + 1]
    entries = []
    for place, (index, extent) in enumerate(zip(indices, extents, strict=True)):
        step = int(index.size == count and count != 1)
        stride = math.prod(extents[place + 1 :])
        numbers = f"{step}, {call.size(extent)}, {call.size(stride)}"
        entries.append(f"{{(const int64_t *)({call.pointers[first + place]}), {numbers}}}")
    text = f"((sg_index[]){{{', '.join(entries)}}})"
    return _Places(text, call.size(count), len(indices), axes)


def _checked(call: NativeCall, places: _Places, text: str) -> str:
    """Return a statement that runs where all positions are fine; elsewhere Python complains."""
    return (
        f"if (!sg_within({places.count}, {places.arrays}, {places.text})) {{\n"
        f"    {call.fallback()}\n}} else {{\n    {text}\n}}"
    )


def _element(dtype: np.dtype) -> str:
    if dtype.kind == "b":
        return "uint8_t"
    return (FLOATING | COMPLEX).get(dtype.str[1:]) or f"{dtype.name}_t"


def _along(call: NativeCall, axis: int) -> str:
    shape = call.operands[0].shape
    sizes = (math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))
    return ", ".join((*call.pointers, *map(call.size, sizes)))
