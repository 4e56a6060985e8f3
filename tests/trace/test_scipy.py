"""SciPy's distributions, called as users call them, inside traced functions."""

import numpy as np
import pytest
from scipy import stats

import stagrad

POINTS = np.array([0.2, 0.5, 1.5, -0.7])

DISTRIBUTIONS = {
    "norm": (stats.norm, (0.1, 2.0)),
    "logistic": (stats.logistic, ()),
    "gamma": (stats.gamma, (2.0,)),
    "beta": (stats.beta, (2.0, 3.0)),
    "expon": (stats.expon, (0.1,)),
    "t": (stats.t, (3.0,)),
    "uniform": (stats.uniform, ()),
    "lognorm": (stats.lognorm, (0.5,)),
    "weibull_min": (stats.weibull_min, (1.5,)),
}
METHODS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")


def no_function_of_its_own(name, method):
    """SciPy computes these with compiled functions that it keeps to itself."""
    return (name, method) == ("beta", "pdf")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions(name, method):
    if no_function_of_its_own(name, method):
        with pytest.raises(stagrad.errors.UnsupportedError, match="_beta_pdf"):
            stagrad.compile(lambda x: stats.beta.pdf(x, 2.0, 3.0))(POINTS)
        return
    distribution, arguments = DISTRIBUTIONS[name]
    function = getattr(distribution, method)
    got = stagrad.compile(lambda x: function(x, *arguments))(POINTS)
    np.testing.assert_allclose(got, function(POINTS, *arguments), rtol=1e-10)
    inside = POINTS[:2]
    step = 1e-6
    want = (function(inside + step, *arguments) - function(inside - step, *arguments)) / (2 * step)
    gradient = stagrad.grad(lambda x: np.sum(function(x, *arguments)))(inside)
    np.testing.assert_allclose(gradient, want, rtol=1e-6, atol=1e-8)


def test_location_scale_and_shape_are_differentiated():
    def loss(loc, scale):
        return -np.sum(stats.norm.logpdf(POINTS, loc, scale=scale))

    loc, scale = stagrad.grad(loss, (0, 1))(0.3, 1.2)
    z = (POINTS - 0.3) / 1.2
    np.testing.assert_allclose(loc, -np.sum(z) / 1.2)
    np.testing.assert_allclose(scale, np.sum(1.0 - z**2) / 1.2)
    rate = stagrad.grad(lambda rate: stats.poisson.logpmf(3, rate))(2.0)
    np.testing.assert_allclose(rate, 0.5)


def test_scipys_functions_are_their_own_outside_a_trace():
    code = stats.norm.logpdf.__func__.__code__
    loss = stagrad.grad(lambda x: stats.norm.logpdf(x))
    loss(0.5)
    assert stats.norm.logpdf.__func__.__code__ is code
    np.testing.assert_allclose(stats.norm.logpdf(0.0), -0.9189385332046727)
