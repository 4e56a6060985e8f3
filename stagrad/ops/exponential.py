"""Exponentials and logarithms, and the stable forms of sums of exponentials.

Exponentials overflow for finite arguments, so their rules mask the partial as those with poles do.
"""

import math
from typing import Any

import numpy as xp

from stagrad.ir import facts
from stagrad.ops.arithmetic import masked_divide, masked_multiply
from stagrad.ops.define import FLOATS, elementwise, float_loop
from stagrad.ops.selection import select

LOG_2 = math.log(2.0)
LOG_10 = math.log(10.0)

exp_p, exp = elementwise(
    "exp",
    facts=facts.exponential,
    dtypes=FLOATS,
    c="exp({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, out),),
    doc="e to a power.",
)

exp2_p, exp2 = elementwise(
    "exp2",
    facts=facts.exponential,
    dtypes=FLOATS,
    c={"f": "exp2({0})", "c": f"exp({LOG_2!r} * {{0}})"},
    vjps=(lambda ct, out, x: masked_multiply(ct, LOG_2 * out),),
    doc="Two to a power.",
)

# exp(x), not out + 1, which has no digits left for x far below zero.
expm1_p, expm1 = elementwise(
    "expm1",
    dtypes=FLOATS,
    c={"f": "expm1({0})"},
    vjps=(lambda ct, out, x: masked_multiply(ct, exp(x)),),
    doc="e to a power, minus one, exact for small powers.",
)

# A reciprocal has powers for derivatives, which grow slower than those of a quotient.
log_p, log = elementwise(
    "log",
    facts=facts.logarithm,
    dtypes=FLOATS,
    c="log({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, 1 / x),),
    doc="Natural logarithm.",
)

log2_p, log2 = elementwise(
    "log2",
    facts=facts.logarithm,
    dtypes=FLOATS,
    c={"f": "log2({0})", "c": f"(log({{0}}) / {LOG_2!r})"},
    vjps=(lambda ct, out, x: masked_divide(ct, LOG_2 * x),),
    doc="Logarithm to base two.",
)

log10_p, log10 = elementwise(
    "log10",
    facts=facts.logarithm,
    dtypes=FLOATS,
    c={"f": "log10({0})", "c": f"(log({{0}}) / {LOG_10!r})"},
    vjps=(lambda ct, out, x: masked_divide(ct, LOG_10 * x),),
    doc="Logarithm to base ten.",
)

log1p_p, log1p = elementwise(
    "log1p",
    dtypes=FLOATS,
    c={"f": "log1p({0})"},
    vjps=(lambda ct, out, x: masked_divide(ct, 1 + x),),
    doc="Logarithm of one plus a number, exact for small numbers.",
)


# Where exp(-x) overflows, one over infinity is the right zero.
expit_p, expit = elementwise(
    "expit",
    facts=facts.regular_nonnegative,
    is_ufunc=False,
    dtypes="f",
    loop=float_loop,
    py="1 / (1 + xp.exp(-{0}))",
    c="({0} < 0 ? exp(-fabs({0})) : 1) * (1 / (1 + exp(-fabs({0}))))",
    vjps=(lambda ct, out, x: masked_multiply(ct, out * (1 - out)),),
    doc="The logistic function 1 / (1 + exp(-x)), at its limits without overflow.",
)


def stable_softplus(x: xp.ndarray) -> xp.ndarray:
    """Return log(1 + exp(x)) without overflow."""
    result: xp.ndarray = xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x)))
    return result


softplus_p, softplus = elementwise(
    "softplus",
    facts=facts.regular_nonnegative,
    is_ufunc=False,
    dtypes="f",
    loop=float_loop,
    py="stable_softplus({0})",
    helpers=(stable_softplus,),
    c="({0} < 0 ? 0 : {0}) + log1p(exp(-fabs({0})))",
    vjps=(lambda ct, out, x: masked_multiply(ct, expit(x)),),
    doc="log(1 + exp(x)) without overflow.",
)


# Its slopes are one at equal numbers too, which those of `where(x == y, 0, x - y)` would not be.
level_difference_p, level_difference = elementwise(
    "level_difference",
    facts=facts.difference,
    is_ufunc=False,
    dtypes="f",
    py="xp.where({0} == {1}, 0, {0} - {1})",
    c="({0} == {1} ? 0 : {0} - {1})",
    vjps=(lambda ct, out, x, y: ct, lambda ct, out, x, y: -ct),
    doc="Difference of two numbers, zero for equal infinities.",
)


def _share(ct: Any, x: Any, y: Any, scale: float) -> Any:
    """Return the part of `ct` that goes to `x` of log(exp(x) + exp(y)); none where x is -inf."""
    share = expit(scale * level_difference(x, y))
    return masked_multiply(ct, select(x == -math.inf, 0, share))


logaddexp_p, logaddexp = elementwise(
    "logaddexp",
    facts=facts.regular,
    dtypes="f",
    c=f"({{0}} == {{1}} ? {{0}} + SG_LIKE({{0}}, {LOG_2!r}) : "
    "{0} != {0} || {1} != {1} ? {0} + {1} : "
    "({0} > {1} ? {0} : {1}) + log1p(exp(-fabs({0} - {1}))))",
    vjps=(
        lambda ct, out, x, y: _share(ct, x, y, 1.0),
        lambda ct, out, x, y: _share(ct, y, x, 1.0),
    ),
    doc="log(exp(x) + exp(y)) without overflow.",
)

logaddexp2_p, logaddexp2 = elementwise(
    "logaddexp2",
    facts=facts.regular,
    dtypes="f",
    c=f"({{0}} == {{1}} ? {{0}} + 1 : {{0}} != {{0}} || {{1}} != {{1}} ? {{0}} + {{1}} : "
    f"({{0}} > {{1}} ? {{0}} : {{1}}) + log1p(exp2(-fabs({{0}} - {{1}}))) / "
    f"SG_LIKE({{0}}, {LOG_2!r}))",
    vjps=(
        lambda ct, out, x, y: _share(ct, x, y, LOG_2),
        lambda ct, out, x, y: _share(ct, y, x, LOG_2),
    ),
    doc="log2(2**x + 2**y) without overflow.",
)
