"""What an index means: from the object between the brackets to a region, new axes and index arrays.

NumPy's rules, taken from its indexing guide: integers and slices select a region; None adds an
axis; integer arrays and lists, boolean masks (which stand for the arrays that `nonzero` of them
gives) and everything beside them broadcast together. Their axes come where the first of them
stood, or in front of the result when anything but integers stands between them.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stagrad.errors import UnsupportedError
from stagrad.ir import aval_of
from stagrad.ops.convert import as_value, is_traced
from stagrad.ops.gather import are_neighbours, gathered_shape, known_array, settled
from stagrad.ops.movement import constant
from stagrad.ops.slicing import Region, Span, region_shape, span


@dataclass(frozen=True)
class Subscript:
    """An index applied to an array of a certain shape.

    - region: the part of the array that integers and slices take.
    - sliced: its shape.
    - expanded: its shape with the new axes.
    - indices, axes: index arrays and the axes of the expanded part that they address.
    - front: the axes of the index arrays are to be moved from where `gather` leaves them to the
      front of the result.
    """

    region: Region
    sliced: tuple[int, ...]
    expanded: tuple[int, ...]
    indices: tuple[Any, ...] = ()
    axes: tuple[int, ...] = ()
    front: bool = False

    @property
    def index_shape(self) -> tuple[int, ...]:
        """The shape the index arrays broadcast to."""
        return np.broadcast_shapes(*(aval_of(index).shape for index in self.indices))

    @property
    def gathered(self) -> tuple[int, ...]:
        """The shape `gather` gives."""
        if not self.axes:
            return self.expanded
        return gathered_shape(self.expanded, self.axes, self.index_shape)

    @property
    def order(self) -> tuple[int, ...]:
        """The axes of what `gather` gives, in the order they have in the result."""
        axes = tuple(range(len(self.gathered)))
        if not self.front:
            return axes
        first, count = self.axes[0], len(self.index_shape)
        return (*axes[first : first + count], *axes[:first], *axes[first + count :])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        return tuple(self.gathered[axis] for axis in self.order)


class _NewAxis:
    """An index array of a 0-d mask: it addresses an axis that the mask itself adds."""

    def __init__(self, index: np.ndarray) -> None:
        self.index = index


def subscript_of(index: Any, shape: tuple[int, ...], *, like: Any) -> Subscript:
    """Return what `index` means for an array of that shape; `like` is the array.

    Raises IndexError as NumPy does, and UnsupportedError for what needs concrete numbers.
    """
    entries = index if isinstance(index, tuple) else (index,)
    items = _expand_ellipsis([part for entry in entries for part in _parts(entry, like)], shape)
    _check_masks(items, shape)
    return _Assembly(shape, like).add(items).subscript()


class _Mask:
    """One axis of a boolean mask: the positions where it is true, and the mask's extent there."""

    def __init__(self, index: np.ndarray, extent: int) -> None:
        self.index = index
        self.extent = extent


def _parts(entry: Any, like: Any) -> list[Any]:
    """Return an index entry as parts of which each stands for at most one axis."""
    if entry is None or entry is Ellipsis:
        return [entry]
    if isinstance(entry, slice):
        return [_checked_slice(entry)]
    if isinstance(entry, bool | np.bool_):
        return [_NewAxis(np.zeros(int(entry), dtype=np.intp))]
    if isinstance(entry, int | np.integer):
        return [int(entry)]
    if hasattr(entry, "__index__") and not isinstance(entry, np.ndarray) and not is_traced(entry):
        return [operator.index(entry)]
    value = _index_value(entry)
    dtype = aval_of(value).dtype
    if dtype.kind == "b":
        return _mask_parts(entry, like)
    if aval_of(value).size == 0 and isinstance(entry, list | tuple):
        return [_Known(np.zeros(aval_of(value).shape, dtype=np.intp))]
    if dtype.kind not in "iu":
        raise IndexError(
            f"arrays used as indices must be of integer (or boolean) type, not {dtype}"
        )
    if is_traced(value) or isinstance(entry, np.ndarray):
        return [value]
    settled(entry, like=like)
    return [_Known(value)]


def _index_value(entry: Any) -> Any:
    """Return an index that is no integer and no slice as an array; IndexError for other things."""
    value = as_value(entry)
    foreign = isinstance(value, np.ndarray) and value.dtype.kind not in "biufc"
    if foreign or isinstance(value, float | complex | np.inexact):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
            f"boolean arrays are valid indices, not {type(entry).__name__}"
        )
    return value


class _Known:
    """An index array that nobody else holds, so that it is a constant of the program."""

    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)


def _checked_slice(entry: slice) -> slice:
    for bound in (entry.start, entry.stop, entry.step):
        if is_traced(bound) and not aval_of(bound).weak:
            raise UnsupportedError(
                f"indexing: a slice with a traced bound ({aval_of(bound)}) has no shape known "
                "while the function is traced. Take a fixed number of elements with an index "
                "array, x[start + np.arange(n)], or select with np.where; a bound that is an "
                "argument may be a Python int"
            )
    return entry


def _mask_parts(mask: Any, like: Any) -> list[Any]:
    array = settled(mask, like=like)
    if array is None:
        raise UnsupportedError(
            f"indexing: x[mask] with a traced mask ({aval_of(mask)}) has a shape that depends on "
            "numbers. Write np.where(mask, x, 0) (for a reduction: np.sum(x, where=mask)); "
            "y[mask] = value is supported where value does not depend on how many are selected"
        )
    if array.ndim == 0:
        return [_NewAxis(np.zeros(int(array), dtype=np.intp))]
    return [
        _Mask(positions, extent)
        for positions, extent in zip(np.nonzero(array), array.shape, strict=True)
    ]


def _takes_axis(item: Any) -> bool:
    return item is not None and item is not Ellipsis and not isinstance(item, _NewAxis)


def _expand_ellipsis(items: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """Return the items with exactly one ellipsis turned into whole slices behind a marker."""
    places = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    taken = sum(map(_takes_axis, items))
    if taken > len(shape):
        raise IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, but {taken} were "
            "indexed"
        )
    missing = [slice(None)] * (len(shape) - taken)
    if not places:
        return items + missing
    return items[: places[0] + 1] + missing + items[places[0] + 1 :]


def _check_masks(items: list[Any], shape: tuple[int, ...]) -> None:
    axis = 0
    for item in items:
        if isinstance(item, _Mask) and item.extent != shape[axis]:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis}; size of axis is "
                f"{shape[axis]} but size of corresponding boolean axis is {item.extent}"
            )
        axis += _takes_axis(item)


class _Assembly:
    """Builds a Subscript by walking over the parts of an index."""

    def __init__(self, shape: tuple[int, ...], like: Any) -> None:
        self.shape = shape
        self.like = like
        self.region: list[int | Span | None] = []
        self.expanded: list[int] = []
        self.indices: list[Any] = []
        self.axes: list[int] = []
        self.advanced: list[int] = []

    def add(self, items: Sequence[Any]) -> "_Assembly":
        """Take all parts, in order."""
        for place, item in enumerate(items):
            if item is None:
                self.expanded.append(1)
            elif isinstance(item, slice):
                self._add_slice(item)
            elif isinstance(item, int):
                self.advanced.append(place)
                self.region.append(self._integer(item))
            elif item is not Ellipsis:
                self.advanced.append(place)
                self._add_array(item)
        return self

    def _add_slice(self, item: slice) -> None:
        extent = self.shape[len(self.region)]
        start, stop, step = item.indices(extent)
        self.region.append(span(start, stop, step, extent))
        self.expanded.append(len(range(start, stop, step)))

    def _integer(self, item: int) -> int:
        axis = len(self.region)
        extent = self.shape[axis]
        if not -extent <= item < extent:
            raise IndexError(f"index {item} is out of bounds for axis {axis} with size {extent}")
        return item % extent

    def _add_array(self, item: Any) -> None:
        self.axes.append(len(self.expanded))
        if isinstance(item, _NewAxis):
            self.expanded.append(1)
            self.indices.append(constant(item.index, like=self.like))
            return
        axis = len(self.region)
        self.region.append(None)
        self.expanded.append(self.shape[axis])
        if isinstance(item, _Mask):
            self.indices.append(constant(item.index, like=self.like))
            return
        value = item.array if isinstance(item, _Known) else item
        check_bounds(value, axis, self.shape[axis])
        self.indices.append(constant(value, like=self.like) if isinstance(item, _Known) else value)

    def subscript(self) -> Subscript:
        """Return the finished meaning."""
        region = tuple(self.region)
        sliced, expanded = region_shape(region, self.shape), tuple(self.expanded)
        if not self.indices:
            return Subscript(region, sliced, expanded)
        axes = tuple(self.axes)
        self._check_shapes()
        front = not are_neighbours(self.advanced) and are_neighbours(axes) and axes[0] > 0
        return Subscript(region, sliced, expanded, tuple(self.indices), axes, front)

    def _check_shapes(self) -> None:
        shapes = [aval_of(index).shape for index in self.indices]
        try:
            np.broadcast_shapes(*shapes)
        except ValueError:
            listed = " ".join(map(str, shapes)).replace(", ", ",")
            raise IndexError(
                "shape mismatch: indexing arrays could not be broadcast together with shapes "
                f"{listed}"
            ) from None


def check_bounds(index: Any, axis: int, extent: int) -> None:
    """Raise IndexError for a position outside an axis, as far as the numbers are known."""
    array = known_array(index)
    if array is None or array.size == 0:
        return
    outside = array[(array < -extent) | (array >= extent)]
    if outside.size:
        raise IndexError(
            f"index {outside.flat[0]} is out of bounds for axis {axis} with size {extent}"
        )
