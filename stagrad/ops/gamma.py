"""The gamma function and its kin."""

import math
from typing import Any

import numpy as np

from stagrad.errors import UnsupportedError
from stagrad.ir import NOT_DIFFERENTIABLE, ZERO, aval_of
from stagrad.ops.arithmetic import masked_multiply
from stagrad.ops.define import FLOATS, Operation, elementwise, implements_scipy
from stagrad.ops.exponential import exp
from stagrad.ops.logical import logical_and
from stagrad.ops.movement import astype
from stagrad.ops.promote import DTypes, common_loop
from stagrad.ops.selection import select
from stagrad.ops.special import xlog1py, xlogy

psi: Operation
zeta_of: Operation

gammaln_p, gammaln = elementwise(
    "gammaln",
    dtypes="f",
    c="({0} == -INFINITY ? {0} : lgamma({0}))",
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
    c={"f": "sg_rgamma({0})"},
    vjps=(lambda ct, out, x: masked_multiply(ct, -out * psi(x)),),
    doc="One over the gamma function.",
)

gammasgn_p, gammasgn = elementwise(
    "gammasgn",
    dtypes="f",
    c="sg_gammasgn({0})",
    vjps=(ZERO,),
    doc="Sign of the gamma function.",
)

psi_p, psi = elementwise(
    "psi",
    dtypes=FLOATS,
    c={"f": "sg_psi({0})"},
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


def gamma_density(a: Any, x: Any) -> Any:
    """Return the density of the gamma distribution of shape `a`."""
    return exp(xlogy(a - 1, x) - x - gammaln(a))


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """Return the density of the beta distribution."""
    return exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))


gammainc_p, gammainc = elementwise(
    "gammainc",
    dtypes="f",
    c=None,
    vjps=(
        NOT_DIFFERENTIABLE,
        lambda ct, out, a, x: masked_multiply(ct, gamma_density(a, x)),
    ),
    doc="Regularised lower incomplete gamma function.",
)

gammaincc_p, gammaincc = elementwise(
    "gammaincc",
    dtypes="f",
    c=None,
    vjps=(
        NOT_DIFFERENTIABLE,
        lambda ct, out, a, x: masked_multiply(ct, -gamma_density(a, x)),
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
        lambda ct, out, a, b, x: masked_multiply(ct, beta_density(a, b, x)),
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
        lambda ct, out, a, b, x: masked_multiply(ct, -beta_density(a, b, x)),
    ),
    doc="One minus the regularised incomplete beta function.",
)

binom_p, binom = elementwise(
    "binom",
    dtypes="f",
    c=None,
    vjps=(
        lambda ct, out, n, k: masked_multiply(ct, out * (psi(n + 1) - psi(n - k + 1))),
        lambda ct, out, n, k: masked_multiply(ct, out * (psi(n - k + 1) - psi(k + 1))),
    ),
    doc="Binomial coefficient of real numbers.",
)

poch_p, poch = elementwise(
    "poch",
    dtypes="f",
    c=None,
    vjps=(
        lambda ct, out, z, m: masked_multiply(ct, out * (psi(z + m) - psi(z))),
        lambda ct, out, z, m: masked_multiply(ct, out * psi(z + m)),
    ),
    doc="Rising factorial, gamma(z + m) / gamma(z).",
)


@implements_scipy("scipy.special.comb")
def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    """Return the number of combinations as a float; zero for impossible ones."""
    if exact:
        raise UnsupportedError(
            "scipy.special.comb(exact=True) computes with Python integers of any length, which a "
            "traced value has not. Leave exact away"
        )
    if repetition:
        return comb(N + k - 1, k)
    possible = logical_and(logical_and(k <= N, N >= 0), k >= 0)
    return select(possible, binom(N, k), 0.0)


@implements_scipy("scipy.special.factorial")
def factorial(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    """Return n! of real numbers as a float; zero for negative ones."""
    if exact or extend != "zero":
        raise UnsupportedError(
            f"scipy.special.factorial(exact={exact}, extend={extend!r}) is not supported on traced "
            "values. Leave both away, or write scipy.special.gamma(n + 1)"
        )
    return select(n < 0, 0.0, gamma(n + 1))
