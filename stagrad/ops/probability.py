"""Distribution functions of scipy.special and their inverses; the slope is the density.

Derivatives with respect to shape parameters that have no closed form are refused.
"""

import math
from typing import Any

from stagrad.ir import NOT_DIFFERENTIABLE, ZERO, Primitive
from stagrad.ops.arithmetic import masked_divide, masked_multiply
from stagrad.ops.define import Operation, elementwise
from stagrad.ops.exponential import exp, log, log1p
from stagrad.ops.gamma import beta_density, gamma_density, gammaln
from stagrad.ops.power import square
from stagrad.ops.rounding import floor
from stagrad.ops.special import xlogy


def _student_density(freedom: Any, t: Any) -> Any:
    half = 0.5 * (freedom + 1)
    scale = gammaln(half) - gammaln(0.5 * freedom) - 0.5 * log(math.pi * freedom)
    return exp(scale - half * log1p(square(t) / freedom))


def _poisson_mass(count: Any, mean: Any) -> Any:
    whole = floor(count)
    return exp(xlogy(whole, mean) - mean - gammaln(whole + 1))


def _chi_square_density(freedom: Any, x: Any) -> Any:
    return 0.5 * gamma_density(0.5 * freedom, 0.5 * x)


def _f_density(above: Any, below: Any, x: Any) -> Any:
    total = below + above * x
    turned = above * below / square(total)
    return turned * beta_density(0.5 * above, 0.5 * below, above * x / total)


def _binomial_slope(successes: Any, trials: Any, p: Any) -> Any:
    whole = floor(successes)
    return beta_density(whole + 1, trials - whole, p)


def _distribution(
    name: str, slopes: tuple[Any, ...], doc: str, dtypes: str = "f"
) -> tuple[Primitive, Operation]:
    """Register a function by its slopes, functions of the operands, or what stands for a rule."""
    rules = tuple(_times(slope) if callable(slope) else slope for slope in slopes)
    return elementwise(name, dtypes=dtypes, c=None, vjps=rules, doc=doc)


def _times(slope: Operation) -> Operation:
    return lambda ct, out, *operands: masked_multiply(ct, slope(*operands))


UNKNOWN = NOT_DIFFERENTIABLE

stdtr_p, stdtr = _distribution(
    "stdtr", (UNKNOWN, _student_density), "Distribution function of Student's t."
)
pdtr_p, pdtr = _distribution(
    "pdtr",
    (ZERO, lambda k, m: -_poisson_mass(k, m)),
    "Distribution function of Poisson's distribution.",
)
pdtrc_p, pdtrc = _distribution(
    "pdtrc", (ZERO, _poisson_mass), "One minus the distribution function of Poisson's distribution."
)
chdtr_p, chdtr = _distribution(
    "chdtr", (UNKNOWN, _chi_square_density), "Distribution function of chi square."
)
chdtrc_p, chdtrc = _distribution(
    "chdtrc",
    (UNKNOWN, lambda v, x: -_chi_square_density(v, x)),
    "One minus the distribution function of chi square.",
)
gdtr_p, gdtr = _distribution(
    "gdtr",
    (
        lambda a, b, x: x * gamma_density(b, a * x),
        UNKNOWN,
        lambda a, b, x: a * gamma_density(b, a * x),
    ),
    "Distribution function of the gamma distribution.",
)
gdtrc_p, gdtrc = _distribution(
    "gdtrc",
    (
        lambda a, b, x: -x * gamma_density(b, a * x),
        UNKNOWN,
        lambda a, b, x: -a * gamma_density(b, a * x),
    ),
    "One minus the distribution function of the gamma distribution.",
)
fdtr_p, fdtr = _distribution(
    "fdtr", (UNKNOWN, UNKNOWN, _f_density), "Distribution function of Fisher's F."
)
fdtrc_p, fdtrc = _distribution(
    "fdtrc",
    (UNKNOWN, UNKNOWN, lambda above, below, x: -_f_density(above, below, x)),
    "One minus the distribution function of Fisher's F.",
)
bdtr_p, bdtr = _distribution(
    "bdtr",
    (ZERO, UNKNOWN, lambda k, n, p: -_binomial_slope(k, n, p)),
    "Distribution function of the binomial distribution.",
    dtypes="iuf",
)
bdtrc_p, bdtrc = _distribution(
    "bdtrc",
    (ZERO, UNKNOWN, _binomial_slope),
    "One minus the distribution function of the binomial distribution.",
    dtypes="iuf",
)


def _inverse(name: str, density: Operation, shapes: int, doc: str) -> tuple[Primitive, Operation]:
    """Register a quantile function; the density takes `shapes` parameters and the quantile."""

    def rule(ct: Any, out: Any, *operands: Any) -> Any:
        return masked_divide(ct, density(*operands[:shapes], out))

    return elementwise(name, dtypes="f", c=None, vjps=(UNKNOWN,) * shapes + (rule,), doc=doc)


stdtrit_p, stdtrit = _inverse("stdtrit", _student_density, 1, "Quantile of Student's t.")
chdtri_p, chdtri = _inverse(
    "chdtri",
    lambda v, x: -_chi_square_density(v, x),
    1,
    "Inverse of chdtrc in its second operand.",
)
gammaincinv_p, gammaincinv = _inverse(
    "gammaincinv", gamma_density, 1, "Inverse of gammainc in its second operand."
)
gammainccinv_p, gammainccinv = _inverse(
    "gammainccinv",
    lambda a, x: -gamma_density(a, x),
    1,
    "Inverse of gammaincc in its second operand.",
)
betaincinv_p, betaincinv = _inverse(
    "betaincinv", beta_density, 2, "Inverse of betainc in its third operand."
)
