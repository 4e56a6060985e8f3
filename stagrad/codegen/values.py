"""Values of a kernel as NumPy arrays: which axis of an array is which iteration axis."""

from dataclasses import dataclass

from stagrad.codegen.expression import ATOM, Text
from stagrad.ir import Along
from stagrad.ir.index import Index, range_text

Dims = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Array:
    """An array expression; `dims` names the iteration axis of each axis, None for extent one."""

    text: Text
    dims: Dims

    def aligned(self, ndim: int) -> "Array":
        """Return the array as NumPy's broadcasting needs it beside arrays of the whole space."""
        if is_aligned(self.dims, ndim):
            return self
        array = self.squeezed()
        dims: list[int | None] = [
            axis if axis in array.dims else None for axis in range(_first(array.dims), ndim)
        ]
        entries = ", ".join("None" if axis is None else ":" for axis in dims)
        return Array(Text(f"{array.text.within(ATOM - 1)}[{entries}]"), tuple(dims))

    def squeezed(self, wanted: Dims | None = None) -> "Array":
        """Return the array without axes of extent one that are no iteration axis or unwanted."""
        dims = tuple(
            axis for axis in self.dims if axis is not None and (wanted is None or axis in wanted)
        )
        if dims == self.dims:
            return self
        entries = ["0" if axis is None or axis not in dims else ":" for axis in self.dims]
        while entries[-1] == ":":
            entries.pop()
        return Array(Text(f"{self.text.within(ATOM - 1)}[{', '.join(entries)}]"), dims)


def is_aligned(dims: Dims, ndim: int) -> bool:
    """Say whether an array's axes are the iteration axes, both counted from the last."""
    offset = ndim - len(dims)
    return all(axis is None or axis == offset + place for place, axis in enumerate(dims))


def _first(dims: Dims) -> int:
    return min(axis for axis in dims if axis is not None)


def loaded(text: Text, index: Index, shape: tuple[int, ...], space: tuple[int, ...]) -> Array:
    """Return what a kernel's load reads of an array: the array, sliced and transposed as needed."""
    kept: Dims = tuple(entry.axis if isinstance(entry, Along) else None for entry in index)
    ones = all(
        extent == 1
        for entry, extent in zip(index, shape, strict=True)
        if not isinstance(entry, Along)
    )
    keep_ones = ones and is_aligned(kept, len(space))
    entries = []
    dims: list[int | None] = []
    for entry, extent in zip(index, shape, strict=True):
        if isinstance(entry, Along):
            entries.append(range_text(entry.start, space[entry.axis], entry.step, extent))
            dims.append(entry.axis)
        elif keep_ones:
            entries.append(":")
            dims.append(None)
        else:
            entries.append(str(entry))
    while entries and entries[-1] == ":":
        entries.pop()
    if entries:
        text = Text(f"{text.within(ATOM - 1)}[{', '.join(entries)}]")
    order = sorted(range(len(dims)), key=lambda place: (dims[place] is not None, dims[place] or 0))
    if not keep_ones and order != list(range(len(dims))):
        reversed_order = order == list(range(len(dims)))[::-1]
        call = f"np.transpose({text.text}, {tuple(order)})"
        text = Text(f"{text.within(ATOM - 1)}.T" if reversed_order else call)
        dims = [dims[place] for place in order]
    return Array(text, tuple(dims))
