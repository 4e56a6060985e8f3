"""Hypergeometric functions, Lambert's W and the power transforms of Box and Cox."""

from typing import Any

import numpy as np
import numpy as xp

from stagrad.ir import NOT_DIFFERENTIABLE, bind
from stagrad.ops.arithmetic import masked_multiply
from stagrad.ops.define import FLOATS, UFUNCS, Operation, elementwise, float_loop, implements_scipy
from stagrad.ops.exponential import exp, log, log1p
from stagrad.ops.power import power, square
from stagrad.ops.promote import DTypes

hyp0f1: Operation
hyp1f1: Operation
hyp2f1: Operation


def exprel_derivative(x: xp.ndarray, order: int) -> xp.ndarray:
    """Return a derivative of (exp(x) - 1) / x, which the quotient cannot give near zero.

    Away from zero it follows x f_n + n f_(n-1) = exp(x); near zero the power series, differentiated
    term by term.
    """
    near = xp.abs(x) < 1 + order
    inside = xp.where(near, x, 0)
    series = xp.zeros_like(x)
    for term in reversed(range(30 + 4 * order)):
        factor = 1.0 / (term + order + 1)
        for below in range(1, term + 1):
            factor /= below
        series = series + factor * inside**term
    outside = xp.where(near, 1, x)
    far = xp.expm1(outside) / outside
    for step in range(1, order + 1):
        far = (xp.exp(outside) - step * far) / outside
    result: xp.ndarray = xp.where(near, series, far)
    return result


def _exprel_rule(ct: Any, out: Any, x: Any, *, order: int) -> Any:
    return masked_multiply(ct, exprel(x, order + 1))


exprel_p, _ = elementwise(
    "exprel",
    is_ufunc=False,
    dtypes="f",
    loop=float_loop,
    py=lambda params, arity: (
        "exprel_derivative({0}, {order})" if params["order"] else "special.exprel({0})"
    ),
    helpers=(exprel_derivative,),
    c=lambda params: {} if params["order"] else {"f": "sg_exprel({0})"},
    vjps=(_exprel_rule,),
    doc="(exp(x) - 1) / x, 1 at zero, or a derivative of it.",
)


def exprel(x: Any, order: int = 0) -> Any:
    """Return (exp(x) - 1) / x, 1 at zero, or a derivative of it."""
    return bind(exprel_p, x, order=order)


UFUNCS["exprel"] = exprel


def _exponent_slope(ct: Any, logarithm: Any, exponent: Any) -> Any:
    return masked_multiply(ct, square(logarithm) * exprel(exponent * logarithm, 1))


boxcox_p, boxcox = elementwise(
    "boxcox",
    dtypes="f",
    c="sg_boxcox({0}, {1})",
    vjps=(
        lambda ct, out, x, exponent: masked_multiply(ct, power(x, exponent - 1)),
        lambda ct, out, x, exponent: _exponent_slope(ct, log(x), exponent),
    ),
    doc="(x**exponent - 1) / exponent, the logarithm where the exponent is zero.",
)

boxcox1p_p, boxcox1p = elementwise(
    "boxcox1p",
    dtypes="f",
    c="sg_boxcox1p({0}, {1})",
    vjps=(
        lambda ct, out, x, exponent: masked_multiply(ct, exp((exponent - 1) * log1p(x))),
        lambda ct, out, x, exponent: _exponent_slope(ct, log1p(x), exponent),
    ),
    doc="boxcox of one plus a number, exact for small ones.",
)

hyp0f1_p, hyp0f1 = elementwise(
    "hyp0f1",
    dtypes=FLOATS,
    c=None,
    vjps=(
        NOT_DIFFERENTIABLE,
        lambda ct, out, v, z: masked_multiply(ct, hyp0f1(v + 1, z) / v),
    ),
    doc="Confluent hypergeometric limit function.",
)

hyp1f1_p, hyp1f1 = elementwise(
    "hyp1f1",
    dtypes=FLOATS,
    c=None,
    vjps=(
        NOT_DIFFERENTIABLE,
        NOT_DIFFERENTIABLE,
        lambda ct, out, a, b, z: masked_multiply(ct, a / b * hyp1f1(a + 1, b + 1, z)),
    ),
    doc="Confluent hypergeometric function.",
)

hyp2f1_p, hyp2f1 = elementwise(
    "hyp2f1",
    dtypes=FLOATS,
    c=None,
    vjps=(
        NOT_DIFFERENTIABLE,
        NOT_DIFFERENTIABLE,
        NOT_DIFFERENTIABLE,
        lambda ct, out, a, b, c, z: masked_multiply(ct, a * b / c * hyp2f1(a + 1, b + 1, c + 1, z)),
    ),
    doc="Gauss's hypergeometric function.",
)


def _complex_loop(operand_types: tuple[Any, ...]) -> DTypes:
    wide = np.dtype(np.complex128)
    return (wide,) * len(operand_types), wide


lambertw_p, _ = elementwise(
    "lambertw",
    is_ufunc=False,
    dtypes="c",
    loop=_complex_loop,
    py="special.lambertw({0}, {k}, {tolerance})",
    c=None,
    vjps=(lambda ct, out, z, **params: masked_multiply(ct, exp(-out) / (1 + out)),),
    doc="Lambert's W, the inverse of w * exp(w); complex, as SciPy gives it.",
)


@implements_scipy("scipy.special.lambertw")
def lambertw(z: Any, k: int = 0, tol: float = 1e-8) -> Any:
    """Return branch `k` of Lambert's W."""
    return bind(lambertw_p, z, k=int(k), tolerance=float(tol))
