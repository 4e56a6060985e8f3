"""Log posteriors of posteriordb's models, held against Stan's own reverse mode.

The densities are written here from the model definitions, in Stan's unconstrained space with its
transforms and Jacobian terms; the data sets are read from the tree. `data/posteriors.json` holds
points with Stan's log density, up to a constant, and gradient.
"""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy

from tests.cases import DATA
from tests.cases.library import Library
from tests.cases.outside.outcome import Outcome, attempt, expect_close

TOLERANCE = 1e-7


def run(library: Library, tree: Path) -> Iterator[Outcome]:
    """Differentiate each posterior at its recorded points."""
    for name, points in json.loads((DATA / "posteriors.json").read_text()).items():
        yield attempt(name, check, name, points, library, tree)


def check(name, points, library, tree) -> None:
    """Raise AssertionError unless densities, up to a constant, and gradients are Stan's."""
    density = POSTERIORS[name](library.np, data_set(tree, name))
    gradient = library.grad(density, 1)
    places = [numpy.array(point["u"]) for point in points]
    offset = float(density(places[0])) - points[0]["lp"]
    for place, point in zip(places, points, strict=True):
        expect_close("density", density(place) - offset, point["lp"], TOLERANCE)
        expect_close("gradient", gradient(place)[0], point["g"], TOLERANCE)


def data_set(tree: Path, posterior: str) -> dict[str, numpy.ndarray]:
    """Read the data of a posterior."""
    database = tree / "posterior_database"
    info = json.loads((database / "posteriors" / f"{posterior}.json").read_text())
    name = info["data_name"]
    with zipfile.ZipFile(database / "data/data" / f"{name}.json.zip") as archive:
        data = json.loads(archive.read(f"{name}.json"))
    return {key: numpy.array(value) for key, value in data.items()}


def normal(np, y, mean, deviation):
    """Sum of normal log densities, up to a constant."""
    return np.sum(-0.5 * ((y - mean) / deviation) ** 2 - np.log(deviation))


def cauchy(np, x, scale):
    """Log density of a Cauchy distribution about zero, up to a constant."""
    return -np.log(1 + (x / scale) ** 2)


def eight_schools(np, data):
    """Effects of coaching in eight schools, non-centred."""
    y, sigma = data["y"].astype(float), data["sigma"].astype(float)

    def density(u):
        theta, mu, tau = u[:8], u[8], np.exp(u[9])
        likelihood = normal(np, y, theta * tau + mu, sigma)
        prior = normal(np, theta, 0.0, 1.0) - 0.5 * (mu / 5) ** 2 + cauchy(np, tau, 5.0)
        return likelihood + prior + u[9]

    return density


def kid_score(np, data):
    """Linear regression with an interaction."""
    school, iq = data["mom_hs"].astype(float), data["mom_iq"].astype(float)
    columns = numpy.stack([numpy.ones_like(iq), school, iq, school * iq], 1)
    score = data["kid_score"].astype(float)

    def density(u):
        sigma = np.exp(u[-1])
        return normal(np, score, columns @ u[:-1], sigma) + u[-1] + cauchy(np, sigma, 2.5)

    return density


def wells(np, data):
    """Logistic regression on one variable."""
    switched, distance = data["switched"].astype(float), data["dist"].astype(float)

    def density(u):
        odds = u[0] + u[1] * distance
        return np.sum(switched * odds - np.logaddexp(0.0, odds))

    return density


def poisson(np, data):
    """Poisson regression on a cubic, its coefficients within bounds."""
    count, year = data["C"].astype(float), data["year"].astype(float)
    bounds = numpy.array([20.0, 10.0, 10.0, 10.0])

    def density(u):
        p = 1 / (1 + np.exp(-u))
        b = -bounds + 2 * bounds * p
        rate = b[0] + b[1] * year + b[2] * year**2 + b[3] * year**3
        return np.sum(count * rate - np.exp(rate)) + np.sum(np.log(p) + np.log(1 - p))

    return density


def autoregression(np, data):
    """Autoregression of order K."""
    y, order, length = data["y"].astype(float), int(data["K"]), int(data["T"])
    lagged = numpy.stack([y[order - k - 1 : length - k - 1] for k in range(order)], 1)

    def density(u):
        sigma = np.exp(u[order + 1])
        residuals = (y[order:] - u[0] - lagged @ u[1 : order + 1]) / sigma
        likelihood = -0.5 * np.sum(residuals * residuals) - (length - order) * u[order + 1]
        prior = -0.5 * np.sum(u[: order + 1] ** 2) / 100 + cauchy(np, sigma, 2.5)
        return likelihood + prior + u[order + 1]

    return density


def moving_average(np, data):
    """ARMA(1, 1), its errors by recursion over time."""
    y, length = data["y"].astype(float), int(data["T"])

    def density(u):
        mu, phi, theta, sigma = u[0], u[1], u[2], np.exp(u[3])
        error = y[0] - (mu + phi * mu)
        squares = error * error
        for t in range(1, length):
            error = y[t] - (mu + phi * y[t - 1] + theta * error)
            squares = squares + error * error
        likelihood = -0.5 * squares / (sigma * sigma) - length * u[3]
        prior = -0.5 * (mu / 10) ** 2 - 0.5 * (phi / 2) ** 2 - 0.5 * (theta / 2) ** 2
        return likelihood + prior + cauchy(np, sigma, 2.5) + u[3]

    return density


def radon(np, data):
    """Partial pooling over counties, non-centred."""
    y, counties = data["log_radon"].astype(float), int(data["J"])
    county = data["county_idx"].astype(int) - 1

    def density(u):
        raw, mu = u[:counties], u[counties]
        between, within = np.exp(u[counties + 1]), np.exp(u[counties + 2])
        residuals = (y - (mu + between * raw)[county]) / within
        likelihood = -0.5 * np.sum(residuals * residuals) - len(y) * u[counties + 2]
        prior = -0.5 * (within**2 + between**2 + (mu / 10) ** 2 + np.sum(raw**2))
        return likelihood + prior + u[counties + 1] + u[counties + 2]

    return density


POSTERIORS = {
    "eight_schools-eight_schools_noncentered": eight_schools,
    "kidiq-kidscore_interaction": kid_score,
    "wells_data-wells_dist": wells,
    "GLM_Poisson_Data-GLM_Poisson_model": poisson,
    "arK-arK": autoregression,
    "arma-arma11": moving_average,
    "radon_mn-radon_partially_pooled_noncentered": radon,
}
