"""Linear interpolation in a table of points."""

from typing import Any

import numpy as np

from stagrad.errors import ShapeError
from stagrad.ir import aval_of
from stagrad.ops.convert import as_value
from stagrad.ops.define import FUNCTIONS, implements
from stagrad.ops.gather import gather, known_array
from stagrad.ops.movement import astype
from stagrad.ops.selection import maximum, minimum, select
from stagrad.ops.sorting import argsort, searchsorted


@implements(np.interp)
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """Interpolate linearly between points, as `numpy.interp`; all arguments may be traced.

    At a point the slope is that of the interval to its right, at the last point to its left.
    """
    x, xp, fp = (as_value(value) for value in (x, xp, fp))
    if aval_of(xp).ndim != 1 or aval_of(fp).ndim != 1:
        raise ShapeError(
            f"interp: Data points must be 1-D sequences, not of shapes {aval_of(xp).shape} and "
            f"{aval_of(fp).shape}"
        )
    if aval_of(xp).size != aval_of(fp).size:
        raise ShapeError("interp: fp and xp are not of the same length.")
    if aval_of(xp).size == 0:
        raise ShapeError("interp: array of sample points is empty")
    x, xp = astype(x, np.float64), astype(xp, np.float64)
    fp = astype(fp, np.result_type(aval_of(fp).dtype, np.float64))
    if period is not None:
        x, xp, fp = _wrapped(x, xp, fp, period)
        left = right = None
    inner = _between(x, xp, fp)
    left = fp[0] if left is None else left
    right = fp[-1] if right is None else right
    return select(x < xp[0], left, select(x > xp[-1], right, inner))


def _wrapped(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    """Return everything within one period, with a point of the neighbouring ones at either end."""
    if known_array(period) == 0:
        raise ShapeError("interp: period must be a non-zero value")
    period = abs(period)
    x, xp = x % period, xp % period
    order = argsort(xp, kind="stable")
    xp, fp = xp[order], fp[order]
    join = FUNCTIONS[np.concatenate]
    return x, join([xp[-1:] - period, xp, xp[:1] + period]), join([fp[-1:], fp, fp[:1]])


def _between(x: Any, xp: Any, fp: Any) -> Any:
    """Return the values on the lines through neighbouring points, also beyond the ends."""
    last = aval_of(xp).size - 1
    if last == 0:
        return fp[0]
    place = minimum(maximum(searchsorted(xp, x, "right") - 1, 0), last - 1)
    before, after, value_before, value_after = (
        gather(points, (index,), (0,)) for points in (xp, fp) for index in (place, place + 1)
    )
    width = after - before
    # Points coincide here only at the ends, where their line is not used.
    slope = (value_after - value_before) / select(width == 0, 1, width)
    is_last = x == after
    base, value = select(is_last, after, before), select(is_last, value_after, value_before)
    line = slope * (x - base) + value
    # Where values are infinite: the value at a point and between equal ones, else the line from the
    # other end.
    other = slope * (x - after) + value_after
    known = select((x == base) | (value_before == value_after), value, other)
    return select(x != x, x, select(line == line, line, known))
