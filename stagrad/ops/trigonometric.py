"""Trigonometric and hyperbolic functions, their inverses, and units and jumps of angles."""

import math
from typing import Any

import numpy as np
import numpy as xp

from stagrad.ir import aval_of, bind, facts
from stagrad.ops.arithmetic import masked_divide, masked_multiply, remainder
from stagrad.ops.complex import absolute
from stagrad.ops.convert import as_value
from stagrad.ops.define import FLOATS, FUNCTIONS, UFUNCS, Operation, elementwise, implements
from stagrad.ops.floating import stop_gradient
from stagrad.ops.logical import logical_and
from stagrad.ops.movement import astype
from stagrad.ops.power import hypot, sqrt, square
from stagrad.ops.promote import common_loop, loop_types
from stagrad.ops.selection import select
from stagrad.ops.slicing import axis_slice

cos: Operation
cosh: Operation
deg2rad: Operation
rad2deg: Operation

sin_p, sin = elementwise(
    "sin",
    facts=facts.regular,
    dtypes=FLOATS,
    c="sin({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, cos(x)),),
    doc="Sine.",
)

cos_p, cos = elementwise(
    "cos",
    facts=facts.regular,
    dtypes=FLOATS,
    c="cos({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, -sin(x)),),
    doc="Cosine.",
)

tan_p, tan = elementwise(
    "tan",
    facts=facts.regular,
    dtypes=FLOATS,
    c="tan({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, 1 + square(out)),),
    doc="Tangent.",
)

# (1 - x) * (1 + x) keeps the digits that 1 - x*x loses near one.
arcsin_p, arcsin = elementwise(
    "arcsin",
    dtypes=FLOATS,
    c="asin({0})",
    vjps=(lambda ct, out, x: masked_divide(ct, sqrt((1 - x) * (1 + x))),),
    doc="Inverse sine; its slope at -1 and 1 is infinite.",
)

arccos_p, arccos = elementwise(
    "arccos",
    dtypes=FLOATS,
    c="acos({0})",
    vjps=(lambda ct, out, x: masked_divide(-ct, sqrt((1 - x) * (1 + x))),),
    doc="Inverse cosine; its slope at -1 and 1 is infinite.",
)

arctan_p, arctan = elementwise(
    "arctan",
    facts=facts.regular,
    dtypes=FLOATS,
    c="atan({0})",
    vjps=(lambda ct, out, x: masked_divide(ct, 1 + square(x)),),
    doc="Inverse tangent.",
)


def _over_square(ct: Any, x: Any, radius: Any) -> Any:
    """Return ct * x / radius**2 without squaring; zero where x is."""
    return masked_multiply(ct, masked_divide(masked_divide(x, radius), radius))


arctan2_p, arctan2 = elementwise(
    "arctan2",
    facts=facts.regular,
    dtypes="f",
    c="atan2({0}, {1})",
    vjps=(
        lambda ct, out, y, x: _over_square(ct, x, hypot(x, y)),
        lambda ct, out, y, x: _over_square(-ct, y, hypot(x, y)),
    ),
    doc="Angle of the point (second, first); both slopes at the origin are zero.",
)

sinh_p, sinh = elementwise(
    "sinh",
    dtypes=FLOATS,
    c="sinh({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, cosh(x)),),
    doc="Hyperbolic sine.",
)

cosh_p, cosh = elementwise(
    "cosh",
    dtypes=FLOATS,
    c="cosh({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, sinh(x)),),
    doc="Hyperbolic cosine.",
)

tanh_p, tanh = elementwise(
    "tanh",
    facts=facts.regular,
    dtypes=FLOATS,
    c="tanh({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, 1 - square(out)),),
    doc="Hyperbolic tangent.",
)


def _root_one_plus_square(x: Any) -> Any:
    return sqrt(1 + square(x)) if aval_of(x).dtype.kind == "c" else hypot(1, x)


arcsinh_p, arcsinh = elementwise(
    "arcsinh",
    facts=facts.regular,
    dtypes=FLOATS,
    c="asinh({0})",
    vjps=(lambda ct, out, x: masked_divide(ct, _root_one_plus_square(x)),),
    doc="Inverse hyperbolic sine.",
)

# Two roots, not the root of x*x - 1: that of a complex number left of zero has the other sign.
arccosh_p, arccosh = elementwise(
    "arccosh",
    dtypes=FLOATS,
    c="acosh({0})",
    vjps=(lambda ct, out, x: masked_divide(ct, sqrt(x - 1) * sqrt(x + 1)),),
    doc="Inverse hyperbolic cosine; its slope at 1 is infinite.",
)

arctanh_p, arctanh = elementwise(
    "arctanh",
    dtypes=FLOATS,
    c="atanh({0})",
    vjps=(lambda ct, out, x: masked_divide(ct, (1 - x) * (1 + x)),),
    doc="Inverse hyperbolic tangent.",
)

deg2rad_p, deg2rad = elementwise(
    "deg2rad",
    facts=facts.one_of,
    dtypes="f",
    c=f"{{0}} * SG_LIKE({{0}}, {math.pi / 180!r})",
    vjps=(lambda ct, out, x: deg2rad(ct),),
    linear=True,
    doc="Degrees to radians.",
)

rad2deg_p, rad2deg = elementwise(
    "rad2deg",
    facts=facts.one_of,
    dtypes="f",
    c=f"{{0}} * SG_LIKE({{0}}, {180 / math.pi!r})",
    vjps=(lambda ct, out, x: rad2deg(ct),),
    linear=True,
    doc="Radians to degrees.",
)

UFUNCS["radians"] = deg2rad
UFUNCS["degrees"] = rad2deg


def sinc_derivative(x: xp.ndarray, order: int) -> xp.ndarray:
    """Return a derivative of sin(pi x) / (pi x), which the quotient cannot give near zero.

    Away from zero it follows t s_n + n s_(n-1) = sin(t + n pi/2); near zero the power series of
    sin(t)/t, differentiated term by term.
    """
    t = xp.pi * x
    near = xp.abs(t) < 1 + order
    inside = xp.where(near, t, 0)
    first = order + order % 2
    series = xp.zeros_like(t)
    for power in reversed(range(first, first + 40, 2)):
        factor = (-1.0) ** (power // 2) / (power + 1)
        for below in range(1, power - order + 1):
            factor /= below
        series = series + factor * inside ** (power - order)
    outside = xp.where(near, 1, t)
    far = xp.sin(outside) / outside
    for step in range(1, order + 1):
        far = (xp.sin(outside + step * (xp.pi / 2)) - step * far) / outside
    return xp.pi**order * xp.where(near, series, far)


_SINC = {
    "f": f"({{0}} == 0 ? 1 : sin({{0}} * SG_LIKE({{0}}, {math.pi!r})) / "
    f"({{0}} * SG_LIKE({{0}}, {math.pi!r})))"
}


def _sinc_rule(ct: Any, out: Any, x: Any, *, order: int) -> Any:
    return masked_multiply(ct, bind(sinc_p, x, order=order + 1))


sinc_p, _ = elementwise(
    "sinc",
    facts=facts.regular,
    is_ufunc=False,
    dtypes=FLOATS,
    py=lambda params, arity: "sinc_derivative({0}, {order})" if params["order"] else "xp.sinc({0})",
    helpers=(sinc_derivative,),
    c=lambda params: {} if params["order"] else _SINC,
    vjps=(_sinc_rule,),
    doc="sin(pi x) / (pi x), 1 at zero, or a derivative of it.",
)


@implements(np.sinc)
def sinc(x: Any) -> Any:
    """Return sin(pi x) / (pi x), 1 at zero."""
    dtype = aval_of(x).dtype
    if dtype.kind not in FLOATS:
        x = astype(x, np.dtype(np.float64))
    return bind(sinc_p, x, order=0)


@implements(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Any:
    """Add whole periods so that neighbours differ by half of one at most, as `numpy.unwrap`."""
    p = as_value(p)
    extent = aval_of(p).shape[axis]
    steps = FUNCTIONS[np.diff](p, axis=axis)
    dtype = common_loop(loop_types([aval_of(steps), aval_of(period)]))[1]
    if dtype.kind in "iu":
        high, odd = divmod(period, 2)
    else:
        high, odd = period / 2, False
    # Whole periods do not change with the angle: only the period itself has a derivative in them.
    steps = stop_gradient(steps)
    wrapped = remainder(steps + high, period) - high
    if not odd:
        wrapped = select(logical_and(wrapped == -high, steps > 0), high, wrapped)
    small = absolute(steps) < (period / 2 if discont is None else discont)
    jumps = FUNCTIONS[np.cumsum](select(small, 0, wrapped - steps), axis)
    axis = axis % aval_of(p).ndim
    first = astype(axis_slice(p, axis, 0, min(1, extent)), dtype)
    rest = astype(axis_slice(p, axis, min(1, extent), extent) + jumps, dtype)
    return FUNCTIONS[np.concatenate]([first, rest], axis)
