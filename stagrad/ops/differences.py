"""Differences along an axis and what is made of them: diff, ediff1d, gradient, trapezoid."""

from typing import Any

import numpy as np

from stagrad.errors import DTypeError, ShapeError
from stagrad.ir import aval_of
from stagrad.ops.along_axis import one_axis
from stagrad.ops.convert import as_value
from stagrad.ops.define import FUNCTIONS, UFUNCS, implements
from stagrad.ops.gather import known_array
from stagrad.ops.movement import astype, broadcast_to, constant, reshape
from stagrad.ops.reduction import UNSET
from stagrad.ops.reduction import sum as sum_
from stagrad.ops.slicing import axis_slice


def neighbours(x: Any, axis: int) -> tuple[Any, Any]:
    """Return all elements but the first along an axis, and all but the last."""
    extent = aval_of(x).shape[axis]
    return axis_slice(x, axis, min(1, extent), extent), axis_slice(x, axis, 0, max(extent - 1, 0))


def _row(x: Any, shape: tuple[int, ...], axis: int) -> Any:
    """Return one more element, or several, for the end of an axis of an array of this shape."""
    x = as_value(x)
    if aval_of(x).shape == ():
        return broadcast_to(x, (*shape[:axis], 1, *shape[axis + 1 :]))
    return x


@implements(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = UNSET, append: Any = UNSET) -> Any:
    """Differences of neighbours along an axis, taken `n` times, as `numpy.diff`."""
    if n == 0:
        return a
    if n < 0:
        raise ShapeError(f"diff: order must be non-negative but got {n!r}")
    a = as_value(a)
    aval = aval_of(a)
    if aval.ndim == 0:
        raise ShapeError("diff requires input that is at least one dimensional")
    place = one_axis(axis, aval.ndim, "diff")
    parts = [
        *([] if prepend is UNSET else [_row(prepend, aval.shape, place)]),
        a,
        *([] if append is UNSET else [_row(append, aval.shape, place)]),
    ]
    if len(parts) > 1:
        a = FUNCTIONS[np.concatenate](parts, place)
    subtract = UFUNCS["not_equal" if aval_of(a).dtype.kind == "b" else "subtract"]
    for _ in range(n):
        a = subtract(*neighbours(a, place))
    return a


@implements(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours of the flattened array, as `numpy.ediff1d`."""
    ary = as_value(ary)
    aval = aval_of(ary)
    differences = UFUNCS["subtract"](*neighbours(reshape(ary, (aval.size,)), 0))
    parts = [differences]
    for name, extra in (("to_begin", to_begin), ("to_end", to_end)):
        if extra is None:
            continue
        extra = as_value(extra)
        given = aval_of(extra)
        if not np.can_cast(given.dtype, aval.dtype, casting="same_kind"):
            raise DTypeError(
                f"ediff1d: dtype of `{name}` must be compatible with the array's under the "
                f"same_kind rule; {given.dtype} is not with {aval.dtype}"
            )
        row = astype(reshape(extra, (given.size,)), aval.dtype)
        parts.insert(0 if name == "to_begin" else len(parts), row)
    return FUNCTIONS[np.concatenate](parts) if len(parts) > 1 else differences


@implements(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integrate along an axis by the trapezoidal rule, as `numpy.trapezoid`."""
    y = as_value(y)
    ndim = aval_of(y).ndim
    place = one_axis(axis, ndim, "trapezoid")
    width = dx
    if x is not None:
        x = as_value(x)
        if aval_of(x).ndim == 1:
            width = diff(x)
            width = reshape(width, aligned(aval_of(width).size, place, ndim))
        else:
            width = diff(x, axis=axis)
    after, before = neighbours(y, place)
    return sum_(width * (after + before) / 2.0, place)


def aligned(extent: int, axis: int, ndim: int) -> tuple[int, ...]:
    """Return the shape that lays a row along one of several axes."""
    return tuple(extent if place == axis else 1 for place in range(ndim))


@implements(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Slopes by central differences along one or more axes, as `numpy.gradient`.

    Coordinates may be traced; they are then taken as unevenly spaced.
    """
    f = as_value(f)
    aval = aval_of(f)
    if axis is None:
        axes = tuple(range(aval.ndim))
    else:
        axes = np.lib.array_utils.normalize_axis_tuple(axis, aval.ndim, "gradient")
    if edge_order not in (1, 2):
        raise ShapeError(f"gradient: 'edge_order' must be 1 or 2, not {edge_order!r}")
    dtype = aval.dtype if aval.dtype.kind in "fc" else np.dtype(np.float64)
    values = astype(f, dtype) if aval.dtype.kind in "iu" else f
    steps = _spacings(varargs, axes, aval.shape)
    slopes = tuple(
        astype(_slope(values, place, step, edge_order), dtype)
        for place, step in zip(axes, steps, strict=True)
    )
    return slopes[0] if len(slopes) == 1 else slopes


def _spacings(varargs: Any, axes: tuple[int, ...], shape: tuple[int, ...]) -> list[Any]:
    """Return for each axis a scalar step, or the steps between neighbours."""
    given = [as_value(spacing) for spacing in varargs]
    if not given:
        return [1.0] * len(axes)
    if len(given) == 1 and aval_of(given[0]).ndim == 0:
        return given * len(axes)
    if len(given) != len(axes):
        raise TypeError(
            f"gradient: invalid number of arguments: {len(given)} spacings for {len(axes)} axes"
        )
    return [_steps(spacing, shape[axis]) for spacing, axis in zip(given, axes, strict=True)]


def _steps(coordinates: Any, extent: int) -> Any:
    aval = aval_of(coordinates)
    if aval.ndim == 0:
        return coordinates
    if aval.ndim != 1:
        raise ShapeError(f"gradient: distances must be either scalars or 1d, not {aval.ndim}d")
    if aval.size != extent:
        raise ShapeError(
            f"gradient: when 1d, distances must match the length of the corresponding dimension: "
            f"{aval.size} is not {extent}"
        )
    if aval.dtype.kind in "iu":
        coordinates = astype(coordinates, np.float64)
    known = known_array(coordinates)
    if known is None:
        return diff(coordinates)
    steps = np.diff(known)
    return steps[0] if (steps == steps[:1]).all() else constant(steps, like=coordinates)


def _slope(f: Any, axis: int, step: Any, edge_order: int) -> Any:
    shape = aval_of(f).shape
    extent = shape[axis]
    if extent < edge_order + 1:
        raise ShapeError(
            f"gradient: shape of array too small to calculate a numerical gradient, at least "
            f"(edge_order + 1) elements are required; axis {axis} of {shape} has {extent}"
        )
    if aval_of(step).ndim == 0:
        inner = (axis_slice(f, axis, 2, extent) - axis_slice(f, axis, 0, extent - 2)) / (2.0 * step)
        first_steps = last_steps = (step, step)
    else:
        rows = reshape(step, aligned(extent - 1, axis, len(shape)))
        inner = _uneven_inner(f, axis, rows)
        first_steps = (step[0], step[min(1, extent - 2)])
        last_steps = (step[-1], step[max(-2, 1 - extent)])
    places = range(edge_order + 1)
    first = _edge([axis_slice(f, axis, place, place + 1) for place in places], first_steps, 1)
    mirrored = [axis_slice(f, axis, extent - 1 - place, extent - place) for place in places]
    return FUNCTIONS[np.concatenate]([first, inner, _edge(mirrored, last_steps, -1)], axis)


def _uneven_inner(f: Any, axis: int, steps: Any) -> Any:
    """Slope of the parabola through each element and its two neighbours, at the element."""
    extent = aval_of(f).shape[axis]
    after, before = neighbours(steps, axis)
    span = before + after
    return (
        axis_slice(f, axis, 0, extent - 2) * (-after / (before * span))
        + axis_slice(f, axis, 1, extent - 1) * ((after - before) / (before * after))
        + axis_slice(f, axis, 2, extent) * (before / (after * span))
    )


def _edge(values: list[Any], steps: tuple[Any, Any], direction: int) -> Any:
    """Slope at the first of two or three values, which are listed along (1) or against (-1) it."""
    near, far = steps
    if len(values) == 2:
        difference = values[1] - values[0] if direction == 1 else values[0] - values[1]
        return difference / near
    near, far = direction * near, direction * far
    span = near + far
    return (
        values[0] * (-(near + span) / (near * span))
        + values[1] * (span / (near * far))
        + values[2] * (-near / (far * span))
    )
