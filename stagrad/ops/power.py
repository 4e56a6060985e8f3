"""Powers and roots."""

from typing import Any

import numpy as np

from stagrad.ir import Params, aval_of, bind, facts
from stagrad.ops.arithmetic import masked_divide, masked_multiply, positive, reciprocal
from stagrad.ops.define import FLOATS, UFUNCS, elementwise
from stagrad.ops.exponential import log
from stagrad.ops.movement import astype
from stagrad.ops.promote import common_loop, loop_types
from stagrad.ops.selection import select

square_p, square = elementwise(
    "square",
    facts=facts.regular_nonnegative,
    c="{0} * {0}",
    vjps=(lambda ct, out, x: masked_multiply(ct, 2 * x),),
    doc="A number times itself.",
)

sqrt_p, sqrt = elementwise(
    "sqrt",
    facts=facts.root,
    dtypes=FLOATS,
    c="sqrt({0})",
    vjps=(lambda ct, out, x: masked_divide(0.5 * ct, out),),
    doc="Square root; its slope at zero is infinite.",
)

cbrt_p, cbrt = elementwise(
    "cbrt",
    facts=facts.regular,
    dtypes="f",
    c="cbrt({0})",
    vjps=(lambda ct, out, x: masked_divide(ct, 3 * square(out)),),
    doc="Cube root, of negative numbers too; its slope at zero is infinite.",
)

# sqrt(x**2 + y**2) without overflow: neither value nor slope squares anything.
hypot_p, hypot = elementwise(
    "hypot",
    facts=facts.magnitude,
    dtypes="f",
    c="hypot({0}, {1})",
    vjps=(
        lambda ct, out, x, y: masked_multiply(ct, masked_divide(x, out)),
        lambda ct, out, x, y: masked_multiply(ct, masked_divide(y, out)),
    ),
    doc="Length of the hypotenuse; both slopes at the origin are zero.",
)


def _base_rule(ct: Any, out: Any, x: Any, y: Any) -> Any:
    # An exponent of zero makes a constant, whatever the base; otherwise 0 * 0**-1 would be NaN.
    constant = y == 0
    partial = y * power(x, select(constant, 1, y - 1))
    return masked_multiply(ct, select(constant, 0, partial))


def _exponent_rule(ct: Any, out: Any, x: Any, y: Any) -> Any:
    # 0**y is 0 for every y > 0 and 1 for y = 0, so it does not change; 0 * log(0) would be NaN.
    constant = (out == 0) | ((x == 0) & (y == 0))
    return masked_multiply(ct, select(constant, 0, out * log(select(constant, 1, x))))


power_p, general_power = elementwise(
    "power",
    dtypes="iufc",
    c={
        "f": "pow({0}, {1})",
        "c": "({1} == 0 ? 1 : {0} != 0 ? pow({0}, {1}) : creal({1}) > 0 && cimag({1}) == 0 ? 0 : "
        "CMPLX(NAN, NAN))",
    },
    vjps=(_base_rule, _exponent_rule),
    doc="A number to a power.",
)


def _integer_power_text(params: Params, arity: int) -> str:
    if params["exponent"] == 3:
        return "{0} * {0} * {0}"
    if params["exponent"] == 4:
        return "xp.square(xp.square({0}))"
    if params["exponent"] == -2:
        return "xp.square(xp.reciprocal({0}))"
    return "xp.power({0}, {exponent})"


def _integer_power_c(params: Params) -> str:
    exponent = params["exponent"]
    if exponent == -2:
        return "(1 / {0}) * (1 / {0})"
    return " * ".join(["{0}"] * exponent) if exponent in (3, 4) else f"pow({{0}}, {exponent})"


def _integer_power_facts(x: facts.Facts, *, exponent: int) -> facts.Facts:
    even = exponent % 2 == 0
    return facts.Facts(
        finite=x.finite and (exponent > 0 or x.nonzero), nonnegative=even or x.nonnegative
    )


def _integer_power_rule(ct: Any, out: Any, x: Any, *, exponent: int) -> Any:
    return masked_multiply(ct, exponent * power(x, exponent - 1))


# Apart from `power`, so that repeated differentiation of a polynomial stays a polynomial.
integer_power_p, _ = elementwise(
    "integer_power",
    facts=_integer_power_facts,
    is_ufunc=False,
    dtypes=FLOATS,
    py=_integer_power_text,
    c=_integer_power_c,
    vjps=(_integer_power_rule,),
    doc="A number to an integer power known when the program is traced.",
)


def power(x: Any, y: Any) -> Any:
    """Raise `x` to the power `y`; an integral exponent known while tracing is kept as one."""
    exponent = _integral(y)
    if exponent is None or exponent == 0 or aval_of(y).dtype.kind == "b":
        return general_power(x, y)
    base = aval_of(x)
    dtypes, _ = power_p.loop(loop_types([base, aval_of(y)]))  # type: ignore[misc]
    if dtypes[0].kind not in FLOATS:
        if exponent < 0:
            raise ValueError(
                f"power: integers to negative integer powers are not allowed ({base} ** {exponent})"
                "; make the base a float"
            )
        return general_power(x, y)
    x = astype(x, dtypes[0], weak=base.weak and aval_of(y).weak)
    if exponent == 1:
        return positive(x)
    if exponent == 2:
        return square(x)
    if exponent == -1:
        return reciprocal(x)
    return bind(integer_power_p, x, exponent=exponent)


def _integral(exponent: Any) -> int | None:
    """Return a scalar exponent that is a small integer, None for all others."""
    if not isinstance(exponent, int | float | np.integer | np.floating):
        return None
    number = float(exponent)
    return int(number) if abs(number) < 2**31 and number.is_integer() else None


UFUNCS["power"] = power


def float_power(x: Any, y: Any) -> Any:
    """Raise to a power in double precision at least."""
    _, dtype = common_loop(loop_types([aval_of(x), aval_of(y)]))
    wide = np.dtype(np.complex128 if dtype.kind == "c" else np.float64)
    return power(*(v if isinstance(v, int | float | complex) else astype(v, wide) for v in (x, y)))


UFUNCS["float_power"] = float_power
