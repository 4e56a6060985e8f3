"""Integrals over samples, as scipy.integrate has them."""

from typing import Any

import numpy as np

from stagrad.errors import ShapeError
from stagrad.ir import aval_of
from stagrad.ops.along_axis import one_axis
from stagrad.ops.convert import as_value
from stagrad.ops.cumulative import cumsum, with_initial
from stagrad.ops.define import implements_scipy
from stagrad.ops.differences import aligned, diff, neighbours, trapezoid
from stagrad.ops.movement import astype, reshape
from stagrad.ops.reduction import sum as sum_
from stagrad.ops.selection import select
from stagrad.ops.slicing import axis_slice

implements_scipy("scipy.integrate.trapezoid")(trapezoid)


def _widths(name: str, y: Any, x: Any, axis: int) -> Any:
    """Return the distances of neighbouring points along an axis, with the axes of `y`."""
    x = as_value(x)
    shape, given = aval_of(y).shape, aval_of(x).shape
    if len(given) not in (1, len(shape)):
        raise ShapeError(
            f"{name}: If given, shape of x must be 1-D or the same as y; {given} is not {shape}"
        )
    if given[axis if len(given) > 1 else 0] != shape[axis]:
        raise ShapeError(
            f"{name}: If given, length of x along axis must be the same as y: {given} and {shape}"
        )
    if len(given) == 1:
        x = reshape(x, aligned(given[0], axis, len(shape)))
    return diff(x, axis=axis)


@implements_scipy("scipy.integrate.cumulative_trapezoid")
def cumulative_trapezoid(
    y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Any:
    """Running integral by the trapezoidal rule, as `scipy.integrate.cumulative_trapezoid`."""
    y = as_value(y)
    shape = aval_of(y).shape
    place = one_axis(axis, len(shape), "cumulative_trapezoid")
    if shape[place] == 0:
        raise ShapeError("cumulative_trapezoid: At least one point is required along `axis`.")
    if initial not in (None, 0):
        raise ShapeError(f"cumulative_trapezoid: `initial` must be None or 0, not {initial!r}")
    width = dx if x is None else _widths("cumulative_trapezoid", y, x, place)
    after, before = neighbours(y, place)
    integrals = cumsum(width * (after + before) / 2.0, place)
    return integrals if initial is None else with_initial(integrals, place, 0)


@implements_scipy("scipy.integrate.simpson")
def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integral by Simpson's rule, as `scipy.integrate.simpson`.

    Of an even number of points the last interval has the parabola through the last three.
    """
    y = as_value(y)
    shape = aval_of(y).shape
    place = one_axis(axis, len(shape), "simpson")
    extent = shape[place]
    if extent == 0:
        raise ShapeError("simpson: at least one point is required along `axis`")
    if extent == 2:
        return trapezoid(y, x, dx, axis)
    widths = None if x is None else _widths("simpson", y, x, place)
    panels = _panels(y, widths, dx, place, (extent - 1) // 2)
    if extent % 2 == 1:
        return panels
    last = [reshape(part, _without(shape, place)) for part in _last(y, place, 3)]
    if widths is None:
        before = after = dx
    else:
        kept = _without(aval_of(widths).shape, place)
        before, after = (reshape(part, kept) for part in _last(widths, place, 2))
    return panels + _last_interval(last, before, after)


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def _last(x: Any, axis: int, number: int) -> list[Any]:
    extent = aval_of(x).shape[axis]
    return [axis_slice(x, axis, place, place + 1) for place in range(extent - number, extent)]


def _quotient(x: Any, y: Any) -> Any:
    """Return x / y, zero where y is: intervals of no width add nothing."""
    return select(y == 0, 0.0, x / select(y == 0, 1.0, y))


def _panels(y: Any, widths: Any, dx: Any, axis: int, number: int) -> Any:
    """Integrate over pairs of intervals, each by the parabola through its three points."""
    first, middle, last = (
        axis_slice(y, axis, start, max(start, start + 2 * number - 1), 2) for start in range(3)
    )
    if widths is None:
        return sum_(first + 4.0 * middle + last, axis) * (dx / 3.0)
    before = _as_floats(axis_slice(widths, axis, 0, 2 * number - 1, 2))
    after = _as_floats(axis_slice(widths, axis, 1, 2 * number, 2))
    both, ratio = before + after, _quotient(before, after)
    weighted = (
        first * (2.0 - _quotient(1.0, ratio))
        + middle * (both * _quotient(both, before * after))
        + last * (2.0 - ratio)
    )
    return sum_(both / 6.0 * weighted, axis)


def _as_floats(x: Any) -> Any:
    return astype(x, np.float64) if aval_of(x).dtype.kind in "biu" else x


def _last_interval(points: list[Any], before: Any, after: Any) -> Any:
    """Integrate over the last interval alone (Cartwright 2017, equation 8)."""
    return (
        points[2] * _quotient(2 * after**2 + 3 * before * after, 6 * (before + after))
        + points[1] * _quotient(after**2 + 3.0 * before * after, 6 * before)
        - points[0] * _quotient(after**3, 6 * before * (before + after))
    )
