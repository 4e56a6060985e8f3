"""Arithmetic: `+ - *`, division in all its forms, comparison, and the masked products of rules."""

import operator
from typing import Any

import numpy as np

from stagrad.ir import ZERO, aval_of, facts
from stagrad.ops.define import FLOATS, INTEGERS, REALS, UFUNCS, Operation, elementwise
from stagrad.ops.quiet import restore, silence

masked_multiply: Operation
masked_divide: Operation
masked_product: Operation

add_p, add = elementwise(
    "add",
    facts=facts.total,
    infix="+",
    c="{0} + {1}",
    vjps=(lambda ct, out, x, y: ct, lambda ct, out, x, y: ct),
    linear=True,
    doc="Sum of two numbers.",
)

subtract_p, subtract = elementwise(
    "subtract",
    facts=facts.difference,
    infix="-",
    c="{0} - {1}",
    vjps=(lambda ct, out, x, y: ct, lambda ct, out, x, y: -ct),
    linear=True,
    doc="Difference of two numbers.",
)

multiply_p, multiply = elementwise(
    "multiply",
    facts=facts.product,
    infix="*",
    c="{0} * {1}",
    vjps=(
        lambda ct, out, x, y: masked_multiply(ct, y),
        lambda ct, out, x, y: masked_multiply(ct, x),
    ),
    doc="Product of two numbers.",
)

negative_p, negative = elementwise(
    "negative",
    facts=facts.opposite,
    infix="-",
    c="-{0}",
    vjps=(lambda ct, out, x: -ct,),
    linear=True,
    doc="Minus a number.",
)

positive_p, positive = elementwise(
    "positive",
    facts=facts.one_of,
    infix="+",
    c="{0}",
    vjps=(lambda ct, out, x: ct,),
    linear=True,
    doc="The number itself, in a new array.",
)


def _unmasked_if_same(masked: Operation, plain: Operation) -> Operation:
    """Return a masked operation that on plain arrays looks for zeros only where it has to.

    Without a NaN in the result no zero has met an infinity. Reading the result once more is much
    cheaper than comparing and selecting: a sum of squares is NaN exactly where an element is.
    """

    def apply(x: Any, y: Any) -> Any:
        if type(x) is not np.ndarray or (type(y) is not np.ndarray and type(y) not in _NUMBERS):
            return masked(x, y)
        before = silence()
        try:
            result = plain(x, y)
            flat = result if result.ndim == 1 else result.ravel("K")
            total = flat.dot(flat)
            return result if total == total else masked(x, y)
        finally:
            restore(before)

    apply.__name__ = apply.__qualname__ = masked.__name__
    apply.__doc__ = masked.__doc__
    return apply


_NUMBERS = (int, float)

# A zero cotangent means "the result does not depend on this": it must contribute zero even where
# the partial derivative is infinite or NaN (the branch that `where` did not select). The derivative
# of the product with respect to the cotangent is the plain partial, so second derivatives survive;
# with respect to the partial it is the cotangent, and there a zero on either side decides.
masked_multiply_p, masked_multiply = elementwise(
    "masked_multiply",
    facts=facts.product,
    is_ufunc=False,
    dtypes=FLOATS,
    py="xp.where({0} == 0, {0}, {0} * {1})",
    c="({0} == 0 ? {0} : {0} * {1})",
    vjps=(
        lambda ct, out, cotangent, partial: masked_multiply(ct, partial),
        lambda ct, out, cotangent, partial: masked_product(ct, cotangent),
    ),
    doc="Cotangent times partial derivative, zero where the cotangent is zero.",
)

masked_divide_p, masked_divide = elementwise(
    "masked_divide",
    facts=facts.quotient,
    is_ufunc=False,
    dtypes=FLOATS,
    py="xp.where({0} == 0, {0}, {0} / {1})",
    c="({0} == 0 ? {0} : {0} / {1})",
    vjps=(
        lambda ct, out, cotangent, y: masked_divide(ct, y),
        lambda ct, out, cotangent, y: masked_product(ct, -masked_divide(out, y)),
    ),
    doc="Cotangent over a number, zero where the cotangent is zero.",
)

masked_product_p, masked_product = elementwise(
    "masked_product",
    facts=facts.product,
    is_ufunc=False,
    dtypes=FLOATS,
    py="xp.where(({0} == 0) | ({1} == 0), 0, {0} * {1})",
    c="({0} == 0 || {1} == 0 ? 0 : {0} * {1})",
    vjps=(
        lambda ct, out, x, y: masked_product(ct, y),
        lambda ct, out, x, y: masked_product(ct, x),
    ),
    doc="Product of two cotangents, zero where either is zero.",
)

masked_multiply = _unmasked_if_same(masked_multiply, operator.mul)
masked_divide = _unmasked_if_same(masked_divide, operator.truediv)
masked_product = _unmasked_if_same(masked_product, operator.mul)

divide_p, _divide = elementwise(
    "divide",
    facts=facts.quotient,
    infix="/",
    c="{0} / {1}",
    dtypes=FLOATS,
    vjps=(
        lambda ct, out, x, y: masked_divide(ct, y),
        lambda ct, out, x, y: masked_multiply(ct, -out / y),
    ),
    doc="Quotient; integers divide into floats.",
)


def _reciprocal_rule(ct: Any, out: Any, x: Any) -> Any:
    from stagrad.ops.power import power

    # Not -out * out: powers stay powers, however often they are differentiated.
    return masked_multiply(ct, -power(x, -2))


reciprocal_p, reciprocal = elementwise(
    "reciprocal",
    facts=facts.inverse,
    c={"iu": "1.0 / {0}", "fc": "1 / {0}"},
    vjps=(_reciprocal_rule,),
    doc="One over a number.",
)


def divide(x: Any, y: Any) -> Any:
    """Divide; one over a number is its reciprocal."""
    if type(x) in (int, float) and x == 1 and aval_of(y).dtype.kind in FLOATS:
        return reciprocal(y)
    return _divide(x, y)


UFUNCS["divide"] = divide


def _rounded_quotient(x: facts.Facts, y: facts.Facts) -> facts.Facts:
    return facts.Facts(finite=facts.quotient(x, y).finite)


# C's % takes the sign of the dividend, Python's remainder that of the divisor. Division of
# integers by zero gives zero, and dividing the smallest integer by -1 must not trap.
_INTEGER_OPPOSITE = "({0} % {1} != 0 && ({0} < 0) != ({1} < 0))"

floor_divide_p, floor_divide = elementwise(
    "floor_divide",
    facts=_rounded_quotient,
    infix="//",
    dtypes=REALS,
    c={
        "i": f"({{1}} == 0 ? 0 : {{1}} == -1 ? -{{0}} : {{0}} / {{1}} - {_INTEGER_OPPOSITE})",
        "u": "({1} == 0 ? 0 : {0} / {1})",
        "f": "SG_FLOOR_DIVIDE({0}, {1})",
    },
    vjps=(ZERO, ZERO),
    doc="The quotient rounded down.",
)

remainder_p, remainder = elementwise(
    "remainder",
    facts=_rounded_quotient,
    infix="%",
    dtypes=REALS,
    c={
        "i": f"({{1}} == 0 || {{1}} == -1 ? 0 : {{0}} % {{1}} + ({_INTEGER_OPPOSITE} ? {{1}} : 0))",
        "u": "({1} == 0 ? 0 : {0} % {1})",
        "f": "SG_REMAINDER({0}, {1})",
    },
    vjps=(
        lambda ct, out, x, y: ct,
        lambda ct, out, x, y: masked_multiply(ct, -floor_divide(x, y)),
    ),
    doc="What floor division leaves; it has the sign of the divisor.",
)

fmod_p, fmod = elementwise(
    "fmod",
    facts=_rounded_quotient,
    dtypes=REALS,
    c={
        "i": "({1} == 0 || {1} == -1 ? 0 : {0} % {1})",
        "u": "({1} == 0 ? 0 : {0} % {1})",
        "f": "SG_FMOD({0}, {1})",
    },
    vjps=(
        lambda ct, out, x, y: ct,
        lambda ct, out, x, y: masked_multiply(ct, -_truncated_quotient(x, y)),
    ),
    doc="What division rounded towards zero leaves; it has the sign of the dividend.",
)


def _truncated_quotient(x: Any, y: Any) -> Any:
    from stagrad.ops.rounding import trunc

    return trunc(x / y)


def divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """Return the quotient rounded down and what it leaves."""
    return floor_divide(x, y), remainder(x, y)


UFUNCS["divmod"] = divmod

gcd_p, gcd = elementwise(
    "gcd",
    dtypes=INTEGERS,
    c={"bu": "sg_gcd({0}, {1})", "i": "sg_gcd(sg_size({0}), sg_size({1}))"},
    vjps=(ZERO, ZERO),
    doc="Greatest common divisor.",
)

lcm_p, lcm = elementwise(
    "lcm",
    dtypes=INTEGERS,
    c={"bu": "sg_lcm({0}, {1})", "i": "sg_lcm(sg_size({0}), sg_size({1}))"},
    vjps=(ZERO, ZERO),
    doc="Least common multiple.",
)


equal_p, equal = elementwise(
    "equal",
    infix="==",
    c="{0} == {1}",
    vjps=(ZERO, ZERO),
    doc="Whether two numbers are equal.",
)

not_equal_p, not_equal = elementwise(
    "not_equal",
    infix="!=",
    c="{0} != {1}",
    vjps=(ZERO, ZERO),
    doc="Whether two numbers differ.",
)


def _comparison(name: str, symbol: str, doc: str) -> tuple[Any, Any]:
    # NumPy orders complex numbers by their real parts, and equal ones by their imaginary parts.
    by_parts = (
        f"(creal({{0}}) == creal({{1}}) ? cimag({{0}}) {symbol} cimag({{1}}) : "
        f"creal({{0}}) {symbol} creal({{1}}))"
    )
    text = {"biuf": f"{{0}} {symbol} {{1}}", "c": by_parts}
    return elementwise(name, infix=symbol, c=text, vjps=(ZERO, ZERO), doc=doc)


less_p, less = _comparison("less", "<", "Whether the first number is smaller.")
less_equal_p, less_equal = _comparison(
    "less_equal", "<=", "Whether the first number is not larger."
)
greater_p, greater = _comparison("greater", ">", "Whether the first number is larger.")
greater_equal_p, greater_equal = _comparison(
    "greater_equal", ">=", "Whether the first number is not smaller."
)
