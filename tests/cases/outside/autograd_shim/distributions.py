"""autograd.scipy.stats: densities and distribution functions, written in NumPy.

Each distribution is a namespace of functions with SciPy's signatures.
"""

from types import SimpleNamespace

import numpy as np
import scipy.stats
from scipy import special


def _standard(function, shift=lambda density, scale: density):
    """Give a function of a standardised variable the arguments `loc` and `scale`."""

    def located(x, *shapes_loc_scale, **named):
        count = function.__code__.co_argcount - 1
        shapes, rest = shapes_loc_scale[:count], shapes_loc_scale[count:]
        loc, scale = [*rest, *(0.0, 1.0)[len(rest) :]]
        loc, scale = named.get("loc", loc), named.get("scale", scale)
        return shift(function((x - loc) / scale, *shapes), scale)

    return located


def _density(log_density):
    """Return the density, its logarithm and nothing else of a standardised log density."""
    logarithm = _standard(log_density, lambda density, scale: density - np.log(scale))
    return {"logpdf": logarithm, "pdf": lambda *args, **named: np.exp(logarithm(*args, **named))}


def _normal(x):
    return -0.5 * x**2 - 0.5 * np.log(2 * np.pi)


def _student(x, df):
    normalizer = special.gammaln(0.5 * (df + 1)) - special.gammaln(0.5 * df)
    return normalizer - 0.5 * np.log(df * np.pi) - 0.5 * (df + 1) * np.log1p(x**2 / df)


def _gamma(x, a):
    return (a - 1) * np.log(x) - x - special.gammaln(a)


def _chi_squared(x, df):
    return (0.5 * df - 1) * np.log(x) - 0.5 * x - special.gammaln(0.5 * df) - 0.5 * df * np.log(2)


def _beta(x, a, b):
    return (a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - special.betaln(a, b)


def _student_cdf(x, df):
    return special.stdtr(df, x)


def _gamma_cdf(x, a):
    return special.gammainc(a, x)


def _chi_squared_cdf(x, df):
    return special.gammainc(0.5 * df, 0.5 * x)


def _beta_cdf(x, a, b):
    return special.betainc(a, b, x)


norm = SimpleNamespace(
    **_density(_normal),
    cdf=_standard(lambda x: special.ndtr(x)),
    sf=_standard(lambda x: special.ndtr(-x)),
    logcdf=_standard(lambda x: special.log_ndtr(x)),
    logsf=_standard(lambda x: special.log_ndtr(-x)),
)
t = SimpleNamespace(
    **_density(_student),
    cdf=_standard(_student_cdf),
    logcdf=_standard(lambda x, df: np.log(_student_cdf(x, df))),
)
gamma = SimpleNamespace(**_density(_gamma), cdf=_standard(_gamma_cdf))
chi2 = SimpleNamespace(**_density(_chi_squared), cdf=_standard(_chi_squared_cdf))
beta = SimpleNamespace(**_density(_beta), cdf=_standard(_beta_cdf))


def _poisson_logarithm(k, mu):
    return k * np.log(mu) - mu - special.gammaln(k + 1)


poisson = SimpleNamespace(
    logpmf=_poisson_logarithm,
    pmf=lambda k, mu: np.exp(_poisson_logarithm(k, mu)),
    cdf=lambda k, mu: special.pdtr(k, mu),
)


def _dirichlet_logarithm(x, alpha):
    normalizer = special.gammaln(np.sum(alpha)) - np.sum(special.gammaln(alpha))
    return normalizer + np.sum((alpha - 1) * np.log(x))


dirichlet = SimpleNamespace(
    logpdf=_dirichlet_logarithm,
    pdf=lambda x, alpha: np.exp(_dirichlet_logarithm(x, alpha)),
    rvs=scipy.stats.dirichlet.rvs,
)


def _multivariate_logarithm(x, mean=0.0, cov=1.0, allow_singular=False):
    if np.ndim(cov) == 0:
        return norm.logpdf(x, mean, np.sqrt(cov))
    deviation = x - mean
    if allow_singular:
        rank = np.linalg.matrix_rank(cov)
        eigenvalues = np.linalg.eigvalsh(cov)[len(cov) - rank :]
        log_determinant = np.sum(np.log(eigenvalues))
        solved = deviation @ np.linalg.pinv(cov)
    else:
        rank = len(cov)
        log_determinant = np.linalg.slogdet(cov)[1]
        solved = np.linalg.solve(cov, deviation.T).T
    distance = np.sum(deviation * solved, axis=-1)
    return -0.5 * (distance + log_determinant + rank * np.log(2 * np.pi))


def _multivariate_entropy(mean, cov):
    return 0.5 * np.linalg.slogdet(2 * np.pi * np.e * cov)[1]


multivariate_normal = SimpleNamespace(
    logpdf=_multivariate_logarithm,
    pdf=lambda *args, **named: np.exp(_multivariate_logarithm(*args, **named)),
    entropy=_multivariate_entropy,
)
