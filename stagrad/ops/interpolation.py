"""Linear interpolation in a table of points."""

from typing import Any, NamedTuple

import numpy as np

from stagrad.errors import ShapeError
from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.complex import imag, make_complex, real
from stagrad.ops.convert import as_value
from stagrad.ops.define import FUNCTIONS, implements
from stagrad.ops.gather import gather, known_array, scatter_add
from stagrad.ops.movement import astype, reshape, zeros
from stagrad.ops.reduction import sum as sum_
from stagrad.ops.selection import maximum, minimum, select
from stagrad.ops.sorting import argsort, searchsorted


def _interpolated(avals: tuple[Aval, ...], params: Params) -> Aval:
    return Aval(avals[0].shape, avals[2].dtype)


class _Line(NamedTuple):
    """The line each element lies on: the number of its first point, its slope and how far along.

    `inside` says whether the element lies within the table at all.
    """

    place: Any
    slope: Any
    along: Any
    inside: Any


def _lines(x: Any, xp: Any, fp: Any) -> _Line:
    last = aval_of(xp).size - 1
    place = minimum(maximum(searchsorted(xp, x, "right") - 1, 0), last - 1)
    before, after, value_before, value_after = (
        gather(points, (index,), (0,)) for points in (xp, fp) for index in (place, place + 1)
    )
    width = after - before
    # Points coincide here only at the ends, beyond which their line is not used.
    width = select(width == 0, 1, width)
    inside = (x >= xp[0]) & (x <= xp[-1])
    return _Line(place, (value_after - value_before) / width, (x - before) / width, inside)


def _x_rule(ct: Any, out: Any, x: Any, xp: Any, fp: Any, left: Any, right: Any) -> Any:
    if aval_of(xp).size == 1:
        return None
    line = _lines(x, xp, fp)
    return select(line.inside, line.slope, 0) * ct


def _to_both_ends(line: _Line, weight: Any, table: Any) -> Any:
    """Add a weight per element to the points at the ends of its line, the nearer more."""
    aval = aval_of(table)
    weight = select(line.inside, weight, 0)
    total = zeros(aval.shape, aval.dtype, like=weight)
    total = scatter_add(total, weight * (1 - line.along), (line.place,), (0,))
    return scatter_add(total, weight * line.along, (line.place + 1,), (0,))


def _xp_rule(ct: Any, out: Any, x: Any, xp: Any, fp: Any, left: Any, right: Any) -> Any:
    if aval_of(xp).size == 1:
        return None
    line = _lines(x, xp, fp)
    return _to_both_ends(line, -line.slope * ct, xp)


def _fp_rule(ct: Any, out: Any, x: Any, xp: Any, fp: Any, left: Any, right: Any) -> Any:
    if aval_of(xp).size == 1:
        return reshape(sum_(select(x == xp[0], ct, 0)), (1,))
    return _to_both_ends(_lines(x, xp, fp), ct, fp)


def _batcher(size: int, batched: Any, operands: Any) -> Any:
    if not any(batched[1:]):
        return bind(interp_p, *operands)
    rows = [
        bind(
            interp_p,
            *(
                operand[place] if is_batched else operand
                for operand, is_batched in zip(operands, batched, strict=True)
            ),
        )
        for place in range(size)
    ]
    return FUNCTIONS[np.stack](rows)


# One call of NumPy's computes what takes a composition two dozen passes over the elements.
interp_p: Primitive = register(
    Primitive(
        name="interp",
        kind=Kind.LIBRARY,
        dtypes="f",
        abstract_eval=_interpolated,
        py="xp.interp({args})",
        vjps=(
            _x_rule,
            _xp_rule,
            _fp_rule,
            lambda ct, out, x, xp, fp, left, right: sum_(select(x < xp[0], ct, 0)),
            lambda ct, out, x, xp, fp, left, right: sum_(select(x > xp[-1], ct, 0)),
        ),
        batcher=_batcher,
        doc="Values on the lines through the points of a table, and two others beyond its ends.",
    )
)


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
    left = fp[0] if left is None else astype(left, aval_of(fp).dtype)
    right = fp[-1] if right is None else astype(right, aval_of(fp).dtype)
    if aval_of(fp).dtype.kind != "c":
        return bind(interp_p, x, xp, fp, left, right)
    parts = bind(interp_p, x, xp, real(fp), real(left), real(right))
    others = bind(interp_p, x, xp, imag(fp), imag(left), imag(right))
    # NumPy returns a NaN among the elements as it is, a real number.
    return make_complex(parts, select((x != x) & (aval_of(xp).size > 1), 0, others))


def _wrapped(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    """Return everything within one period, with a point of the neighbouring ones at either end."""
    if known_array(period) == 0:
        raise ShapeError("interp: period must be a non-zero value")
    period = abs(period)
    x, xp = x % period, xp % period
    order = argsort(xp, kind="stable")
    xp, fp = gather(xp, (order,), (0,)), gather(fp, (order,), (0,))
    join = FUNCTIONS[np.concatenate]
    return x, join([xp[-1:] - period, xp, xp[:1] + period]), join([fp[-1:], fp, fp[:1]])
