"""NumPy's functions on shapes: compositions of reshape, transpose, broadcast_to and slice."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from stagrad.ir import aval_of
from stagrad.ops import movement
from stagrad.ops.convert import as_array, fresh
from stagrad.ops.define import implements
from stagrad.ops.slicing import Span, slice, span


def shape_of(x: Any) -> tuple[int, ...]:
    """Return the shape of a value."""
    return aval_of(x).shape


def as_shape(shape: Any) -> tuple[int, ...]:
    """Return a shape argument, an integer or a sequence of them, as a tuple."""
    if isinstance(shape, Sequence | np.ndarray):
        return tuple(operator.index(extent) for extent in shape)
    return (operator.index(shape),)


@implements(np.reshape)
def reshape(
    a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None
) -> Any:
    """Return the elements of `a`, read in `order`, under another shape."""
    x = as_array(a)
    wanted = as_shape(newshape if shape is None else shape)
    if order in ("C", "A"):
        return _reshaped(x, wanted)
    if order != "F":
        raise ValueError(f"reshape: order must be one of 'C', 'F', or 'A' (got {order!r})")
    return reverse_axes(_reshaped(reverse_axes(x), wanted[::-1]))


def _reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    """Return a view where NumPy makes one, a copy where the elements do not lie in order."""
    result = movement.reshape(x, shape)
    can_view = getattr(x, "can_view", None)
    return result if can_view is None or can_view(shape) else fresh(result)


def reverse_axes(x: Any) -> Any:
    """Return the array with its axes in reverse order."""
    return movement.transpose(x, tuple(range(aval_of(x).ndim))[::-1])


@implements(np.ravel)
def ravel(a: Any, order: str = "C") -> Any:
    """Return all elements in a row."""
    return reshape(a, -1, order="C" if order == "K" else order)


@implements(np.transpose, np.permute_dims)
def transpose(a: Any, axes: Any = None) -> Any:
    """Reorder the axes; without `axes`, reverse them."""
    x = as_array(a)
    ndim = aval_of(x).ndim
    if axes is None:
        return reverse_axes(x)
    if len(axes) != ndim:
        raise ValueError("axes don't match array")
    return movement.transpose(x, normalize_axis_tuple(axes, ndim, "transpose"))


@implements(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(x: Any, /) -> Any:
    """Exchange the last two axes."""
    x = as_array(x)
    if aval_of(x).ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {aval_of(x).ndim}")
    return swapaxes(x, -1, -2)


@implements(np.swapaxes)
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Exchange two axes."""
    x = as_array(a)
    axes = list(range(aval_of(x).ndim))
    first = normalize_axis_index(axis1, len(axes), "axis1")
    second = normalize_axis_index(axis2, len(axes), "axis2")
    axes[first], axes[second] = axes[second], axes[first]
    return movement.transpose(x, tuple(axes))


@implements(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Move axes to new positions, keeping the others in order."""
    x = as_array(a)
    ndim = aval_of(x).ndim
    given = normalize_axis_tuple(source, ndim, "source")
    wanted = normalize_axis_tuple(destination, ndim, "destination")
    if len(given) != len(wanted):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements"
        )
    order = [axis for axis in range(ndim) if axis not in given]
    for place, axis in sorted(zip(wanted, given, strict=True)):
        order.insert(place, axis)
    return movement.transpose(x, tuple(order))


@implements(np.rollaxis)
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """Move one axis before the axis at `start`."""
    x = as_array(a)
    ndim = aval_of(x).ndim
    axis = normalize_axis_index(axis, ndim)
    start = start + ndim if start < 0 else start
    if not 0 <= start <= ndim:
        raise np.exceptions.AxisError(start, ndim, "start")
    return moveaxis(x, axis, start - (axis < start))


@implements(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Any:
    """Drop axes of extent one: those named, or all."""
    x = as_array(a)
    shape = shape_of(x)
    if axis is None:
        return movement.reshape(x, tuple(extent for extent in shape if extent != 1))
    axes = normalize_axis_tuple(axis, len(shape), "squeeze")
    if any(shape[place] != 1 for place in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return movement.reshape(
        x, tuple(extent for place, extent in enumerate(shape) if place not in axes)
    )


@implements(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Any:
    """Insert axes of extent one at positions of the result."""
    x = as_array(a)
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    ndim = aval_of(x).ndim + len(axes)
    places = normalize_axis_tuple(axes, ndim, "expand_dims")
    rest = iter(shape_of(x))
    return movement.reshape(x, tuple(1 if place in places else next(rest) for place in range(ndim)))


@implements(np.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """Repeat an array to a shape by NumPy's broadcasting rules."""
    return movement.broadcast_to(as_array(array), as_shape(shape))


@implements(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """Repeat arrays to the shape they have together."""
    values = [as_array(value) for value in args]
    shape = np.broadcast_shapes(*map(shape_of, values))
    return tuple(movement.broadcast_to(value, shape) for value in values)


def _at_least(ndim: int, values: Sequence[Any]) -> Any:
    results = tuple(_with_axes(as_array(value), ndim) for value in values)
    return results[0] if len(results) == 1 else results


def _with_axes(x: Any, ndim: int) -> Any:
    shape = shape_of(x)
    if len(shape) >= ndim:
        return x
    if ndim == 3 and len(shape) == 2:
        return movement.reshape(x, (*shape, 1))
    if ndim == 3 and len(shape) == 1:
        return movement.reshape(x, (1, *shape, 1))
    return movement.reshape(x, (1,) * (ndim - len(shape)) + shape)


@implements(np.atleast_1d)
def atleast_1d(*arys: Any) -> Any:
    """Give scalars an axis."""
    return _at_least(1, arys)


@implements(np.atleast_2d)
def atleast_2d(*arys: Any) -> Any:
    """Give arrays with fewer than two axes leading ones."""
    return _at_least(2, arys)


@implements(np.atleast_3d)
def atleast_3d(*arys: Any) -> Any:
    """Give arrays with fewer than three axes more, as NumPy places them."""
    return _at_least(3, arys)


@implements(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    """Reverse the order of elements along axes."""
    x = as_array(m)
    shape = shape_of(x)
    axes = range(len(shape)) if axis is None else normalize_axis_tuple(axis, len(shape))
    region: list[int | Span | None] = [None] * len(shape)
    for place in axes:
        region[place] = span(shape[place] - 1, -1, -1, shape[place])
    return slice(x, tuple(region))


@implements(np.flipud)
def flipud(m: Any) -> Any:
    """Reverse the order along the first axis."""
    return _flip_axis(m, 0, "Input must be >= 1-d.")


@implements(np.fliplr)
def fliplr(m: Any) -> Any:
    """Reverse the order along the second axis."""
    return _flip_axis(m, 1, "Input must be >= 2-d.")


def _flip_axis(m: Any, axis: int, message: str) -> Any:
    x = as_array(m)
    if aval_of(x).ndim <= axis:
        raise ValueError(message)
    return flip(x, axis)


@implements(np.rot90)
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Rotate by 90 degrees `k` times, from the first axis towards the second."""
    x = as_array(m)
    ndim = aval_of(x).ndim
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    first, second = (normalize_axis_index(axis, ndim) for axis in axes)
    if first == second:
        raise ValueError("Axes must be different.")
    turns = k % 4
    if turns == 0:
        return x
    if turns == 2:
        return flip(x, (first, second))
    if turns == 1:
        return swapaxes(flip(x, second), first, second)
    return flip(swapaxes(x, first, second), second)
