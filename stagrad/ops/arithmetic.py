"""Arithmetic: the records of `+ - * / ** abs` and their kin."""

from typing import Any

from stagrad.ir import ZERO
from stagrad.ops.define import FLOATS, elementwise

add_p, add = elementwise(
    "add",
    infix="+",
    c="{0} + {1}",
    vjps=(lambda ct, out, x, y: ct, lambda ct, out, x, y: ct),
    linear=True,
    doc="Sum of two numbers.",
)

subtract_p, subtract = elementwise(
    "subtract",
    infix="-",
    c="{0} - {1}",
    vjps=(lambda ct, out, x, y: ct, lambda ct, out, x, y: -ct),
    linear=True,
    doc="Difference of two numbers.",
)

multiply_p, multiply = elementwise(
    "multiply",
    infix="*",
    c="{0} * {1}",
    vjps=(lambda ct, out, x, y: ct * y, lambda ct, out, x, y: ct * x),
    doc="Product of two numbers.",
)

negative_p, negative = elementwise(
    "negative",
    infix="-",
    c="-{0}",
    vjps=(lambda ct, out, x: -ct,),
    linear=True,
    doc="Minus a number.",
)

# A zero cotangent means "the result does not depend on this": it must contribute zero even where
# the partial derivative is infinite or NaN (the branch that `where` did not select). Its own
# derivative with respect to the cotangent is the plain partial, so second derivatives survive.
masked_multiply_p, masked_multiply = elementwise(
    "masked_multiply",
    is_ufunc=False,
    py="xp.where({0} == 0, {0}, {0} * {1})",
    c="({0} == 0 ? {0} : {0} * {1})",
    vjps=(
        lambda ct, out, cotangent, partial: masked_multiply(ct, partial),
        lambda ct, out, cotangent, partial: masked_multiply(ct, cotangent),
    ),
    doc="Cotangent times partial derivative, zero where the cotangent is zero.",
)

divide_p, divide = elementwise(
    "divide",
    infix="/",
    c="{0} / {1}",
    dtypes=FLOATS,
    vjps=(
        lambda ct, out, x, y: masked_multiply(ct, 1 / y),
        lambda ct, out, x, y: masked_multiply(ct, -out / y),
    ),
    doc="Quotient; integers divide into floats.",
)


def _comparison(name: str, symbol: str, doc: str) -> tuple[Any, Any]:
    return elementwise(name, infix=symbol, c=f"{{0}} {symbol} {{1}}", vjps=(ZERO, ZERO), doc=doc)


equal_p, equal = _comparison("equal", "==", "Whether two numbers are equal.")
not_equal_p, not_equal = _comparison("not_equal", "!=", "Whether two numbers differ.")
less_p, less = _comparison("less", "<", "Whether the first number is smaller.")
less_equal_p, less_equal = _comparison("less_equal", "<=", "Whether the first number is not larger.")
greater_p, greater = _comparison("greater", ">", "Whether the first number is larger.")
greater_equal_p, greater_equal = _comparison(
    "greater_equal", ">=", "Whether the first number is not smaller."
)
