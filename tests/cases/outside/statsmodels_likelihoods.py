"""Likelihoods of an installed statsmodels, differentiated through its unmodified code.

The gradient of `loglike` must be the model's `score` and the derivative of that its `hessian`, both
written by hand in statsmodels.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy

from tests.cases.library import Library
from tests.cases.outside.outcome import Outcome, attempt, expect_close


def run(library: Library, _tree: Path | None = None) -> Iterator[Outcome]:
    """Differentiate each model at one point."""
    for name, model, parameters in models():
        yield attempt(name, check, model, parameters, library)


def check(model, parameters, library) -> None:
    """Raise AssertionError unless score and Hessian are the model's own."""
    gradient = library.grad(lambda p: library.np.sum(model.loglike(p)), 1)
    score = numpy.ravel(model.score(parameters))
    expect_close("score", gradient(parameters)[0], score, 1e-6)
    _, rows = library.jacobian_rows(lambda p: gradient(p)[0], parameters)
    expect_close("Hessian", rows, model.hessian(parameters), 1e-5)


def models() -> Iterator[tuple[str, object, numpy.ndarray]]:
    """Return names, models of the data sets that come with statsmodels, and parameters."""
    import statsmodels.api as sm
    from statsmodels.discrete.discrete_model import GeneralizedPoisson
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    def columns(dataset, count=None):
        exogenous = dataset.exog.to_numpy()[:, :count]
        return dataset.endog.to_numpy(), sm.add_constant(exogenous, prepend=False)

    random = numpy.random.default_rng(3)
    grades, tests = columns(sm.datasets.spector.load_pandas())
    visits, health = (part[:300] for part in columns(sm.datasets.randhie.load_pandas()))
    vote, voters = columns(sm.datasets.anes96.load_pandas(), 3)
    regressors = health.shape[1]
    yield "logit", sm.Logit(grades, tests), numpy.array([0.5, 0.02, 0.3, -2.0])
    yield "Poisson", sm.Poisson(visits, health), 0.1 * random.standard_normal(regressors)
    parameters = 0.1 * random.standard_normal(voters.shape[1] * 6)
    yield "multinomial logit", sm.MNLogit(vote, voters), parameters
    parameters = numpy.array([0.1] * regressors + [0.2])
    yield "generalised Poisson", GeneralizedPoisson(visits, health, p=1), parameters
    random.standard_normal(regressors)
    parameters = numpy.append(0.1 * random.standard_normal(3), [-1.0, 0.1, 0.0, -0.1, 0.1, 0.0])
    ordered = OrderedModel(vote[:200], voters[:200, :3], distr="logit")
    yield "ordered logit", ordered, parameters
