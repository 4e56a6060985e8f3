"""The gamma function and its kin."""

import math
from typing import Any

import numpy as np

from stagrad.ir import NOT_DIFFERENTIABLE, ZERO, aval_of
from stagrad.ops.arithmetic import masked_multiply
from stagrad.ops.define import FLOATS, Operation, elementwise, implements_scipy
from stagrad.ops.exponential import exp
from stagrad.ops.movement import astype
from stagrad.ops.promote import DTypes, common_loop
from stagrad.ops.selection import select
from stagrad.ops.special import xlog1py, xlogy

psi: Operation
zeta_of: Operation

gammaln_p, gammaln = elementwise(
    "gammaln",
    dtypes="f",
    c="lgamma({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, psi(x)),),
    doc="Logarithm of the absolute value of the gamma function.",
)

loggamma_p, loggamma = elementwise(
    "loggamma",
    dtypes=FLOATS,
    c=None,
    vjps=(lambda ct, out, z: masked_multiply(ct, psi(z)),),
    doc="Principal branch of the logarithm of the gamma function.",
)

gamma_p, gamma = elementwise(
    "gamma",
    dtypes=FLOATS,
    c={"f": "tgamma({0})"},
    vjps=(lambda ct, out, x: masked_multiply(ct, out * psi(x)),),
    doc="Gamma function.",
)

rgamma_p, rgamma = elementwise(
    "rgamma",
    dtypes=FLOATS,
    c=None,
    vjps=(lambda ct, out, x: masked_multiply(ct, -out * psi(x)),),
    doc="One over the gamma function.",
)

gammasgn_p, gammasgn = elementwise(
    "gammasgn", dtypes="f", c=None, vjps=(ZERO,), doc="Sign of the gamma function."
)

psi_p, psi = elementwise(
    "psi",
    dtypes=FLOATS,
    c=None,
    vjps=(lambda ct, out, x: masked_multiply(ct, zeta_of(2, x)),),
    doc="Digamma function, the derivative of gammaln.",
)


def _zeta_loop(operand_types: tuple[Any, ...]) -> DTypes:
    dtypes, dtype = common_loop((*operand_types, np.dtype(np.float32)))
    return dtypes[:-1], dtype


# The derivative with respect to the exponent has no closed form.
zeta_p, zeta_of = elementwise(
    "zeta",
    is_ufunc=False,
    dtypes="f",
    loop=_zeta_loop,
    py="special.zeta({0}, {1})",
    c=None,
    vjps=(
        NOT_DIFFERENTIABLE,
        lambda ct, out, s, q: masked_multiply(ct, -s * zeta_of(s + 1, q)),
    ),
    doc="Hurwitz zeta function, the sum of (q + k)**-s.",
)


@implements_scipy("scipy.special.zeta")
def zeta(x: Any, q: Any = None, out: None = None) -> Any:
    """Return the Hurwitz zeta function, of q = 1 when no `q` is given."""
    return zeta_of(x, 1 if q is None else q)


@implements_scipy("scipy.special.polygamma")
def polygamma(n: Any, x: Any) -> Any:
    """Return the n-th derivative of the digamma function, in double precision as SciPy does."""
    x = astype(x, np.result_type(aval_of(x).dtype, np.float64))
    if isinstance(n, int | np.integer):
        if n == 0:
            return psi(x)
        return (-1) ** (int(n) + 1) * math.gamma(int(n) + 1) * zeta_of(int(n) + 1, x)
    order = astype(n, np.dtype(np.float64))
    higher = (-1.0) ** (order + 1) * gamma(order + 1) * zeta_of(order + 1, x)
    return select(order == 0, psi(x), higher)


@implements_scipy("scipy.special.multigammaln")
def multigammaln(a: Any, d: int) -> Any:
    """Return the logarithm of the d-dimensional gamma function, for a > (d - 1) / 2."""
    if d != int(d) or d < 1:
        raise ValueError(f"multigammaln: d={d!r} should be a positive integer (dimension)")
    total = d * (d - 1) * 0.25 * math.log(math.pi)
    for below in range(int(d)):
        total = total + gammaln(a - below / 2)
    return total


beta_p, beta = elementwise(
    "beta",
    dtypes="f",
    c=None,
    vjps=(
        lambda ct, out, a, b: masked_multiply(ct, out * (psi(a) - psi(a + b))),
        lambda ct, out, a, b: masked_multiply(ct, out * (psi(b) - psi(a + b))),
    ),
    doc="Beta function.",
)

betaln_p, betaln = elementwise(
    "betaln",
    dtypes="f",
    c=None,
    vjps=(
        lambda ct, out, a, b: masked_multiply(ct, psi(a) - psi(a + b)),
        lambda ct, out, a, b: masked_multiply(ct, psi(b) - psi(a + b)),
    ),
    doc="Logarithm of the absolute value of the beta function.",
)


def _gamma_density(a: Any, x: Any) -> Any:
    return exp(xlogy(a - 1, x) - x - gammaln(a))


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    return exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))


gammainc_p, gammainc = elementwise(
    "gammainc",
    dtypes="f",
    c=None,
    vjps=(
        NOT_DIFFERENTIABLE,
        lambda ct, out, a, x: masked_multiply(ct, _gamma_density(a, x)),
    ),
    doc="Regularised lower incomplete gamma function.",
)

gammaincc_p, gammaincc = elementwise(
    "gammaincc",
    dtypes="f",
    c=None,
    vjps=(
        NOT_DIFFERENTIABLE,
        lambda ct, out, a, x: masked_multiply(ct, -_gamma_density(a, x)),
    ),
    doc="Regularised upper incomplete gamma function.",
)

betainc_p, betainc = elementwise(
    "betainc",
    dtypes="f",
    c=None,
    vjps=(
        NOT_DIFFERENTIABLE,
        NOT_DIFFERENTIABLE,
        lambda ct, out, a, b, x: masked_multiply(ct, _beta_density(a, b, x)),
    ),
    doc="Regularised incomplete beta function.",
)

betaincc_p, betaincc = elementwise(
    "betaincc",
    dtypes="f",
    c=None,
    vjps=(
        NOT_DIFFERENTIABLE,
        NOT_DIFFERENTIABLE,
        lambda ct, out, a, b, x: masked_multiply(ct, -_beta_density(a, b, x)),
    ),
    doc="One minus the regularised incomplete beta function.",
)
