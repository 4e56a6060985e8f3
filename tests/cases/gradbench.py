"""GradBench's objectives and the answers of its hand-differentiated C++.

The objectives lse, llsq, ode, det, kmeans and gmm are written here from GradBench's definitions of
them; `data/gradbench.json` holds recorded inputs and answers. GradBench itself tolerates 1e-4.
"""

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
from scipy.special import multigammaln

from tests.cases import DATA
from tests.cases.library import Library

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Evaluation:
    """One recorded call of a GradBench function."""

    module: str
    function: str
    size: str
    input: dict[str, Any]
    output: Any

    def __str__(self) -> str:
        return f"{self.module}-{self.function}-{self.size}"


def evaluations() -> list[Evaluation]:
    """Return the recorded calls."""
    return [Evaluation(**record) for record in json.loads((DATA / "gradbench.json").read_text())]


def check(evaluation: Evaluation, library: Library) -> None:
    """Raise AssertionError unless the library's answer is the recorded one."""
    error = worst_error(answer(evaluation, library), evaluation.output)
    assert error < TOLERANCE, f"error {error:.1e}"


def worst_error(got: Any, want: Any) -> float:
    """Return the largest error of an answer, relative to numbers above one."""
    if isinstance(want, dict):
        return max(worst_error(got[key], want[key]) for key in want)
    got, want = numpy.ravel(got), numpy.ravel(want)
    if got.shape != want.shape:
        return math.inf
    scale = numpy.maximum(1.0, numpy.abs(got) + numpy.abs(want))
    return float(numpy.max(numpy.abs(got - want) / scale, initial=0.0))


def answer(evaluation: Evaluation, library: Library) -> Any:
    """Compute what a GradBench function asks for."""
    given = evaluation.input
    objective = OBJECTIVES[evaluation.module](library.np, given)
    match evaluation.module, evaluation.function:
        case "gmm", "objective":
            return float(objective(*_mixture(given)))
        case "gmm", "jacobian":
            gradients = library.grad(objective, 4)(*_mixture(given))
            return dict(zip(("alpha", "mu", "q", "l"), gradients, strict=True))
        case "kmeans", "cost":
            return float(objective(numpy.array(given["centroids"])))
        case "kmeans", "dir":
            return _newton_direction(objective, numpy.array(given["centroids"]), library)
        case module, "primal":
            return objective(_argument(module, given))
        case "ode", "gradient":
            (gradient,) = library.grad(lambda x: objective(x)[-1], 1)(_argument("ode", given))
            return gradient
        case module, "gradient":
            (gradient,) = library.grad(objective, 1)(_argument(module, given))
            return gradient
    raise ValueError(f"unknown evaluation {evaluation}")


def _argument(module: str, given: dict[str, Any]) -> numpy.ndarray:
    return numpy.array(given["A" if module == "det" else "x"], dtype=float)


def _mixture(given: dict[str, Any]) -> list[numpy.ndarray]:
    alpha, *others = (numpy.array(given[key], dtype=float) for key in ("alpha", "mu", "q", "l"))
    return [alpha, *(array.reshape(given["k"], -1) for array in others)]


def _newton_direction(cost, centroids, library):
    """The gradient over the diagonal of the Hessian, which is diagonal here."""
    gradient = library.grad(cost, 1)
    diagonal = library.grad(lambda c: library.np.sum(gradient(c)[0]), 1)
    return gradient(centroids)[0] / diagonal(centroids)[0]


def log_sum_exp(np, given):
    """Logarithm of a sum of exponentials, shifted by the maximum."""
    return lambda x: np.log(np.sum(np.exp(x - np.max(x)))) + np.max(x)


def least_squares(np, given):
    """Distance of a polynomial from the sign function on [-1, 1]."""
    count, degree = given["n"], len(given["x"])
    points = -1.0 + 2.0 * numpy.arange(count) / (count - 1.0)
    powers = points[:, None] ** numpy.arange(degree)[None, :]
    signs = numpy.sign(points)
    return lambda x: 0.5 * np.sum((signs - powers @ x) ** 2)


def runge_kutta(np, given):
    """Final state of y' = x * (1, y[0], y[1], ...) by the classical Runge-Kutta method."""
    steps, size = given["s"], len(given["x"])
    step = 2.0 / steps
    first = numpy.eye(size)[0]

    def rate(x, y):
        return x * (first + (1.0 - first) * np.roll(y, 1))

    def final_state(x):
        y = 0.0 * x
        for _ in range(steps):
            k1 = rate(x, y)
            k2 = rate(x, y + 0.5 * step * k1)
            k3 = rate(x, y + 0.5 * step * k2)
            k4 = rate(x, y + step * k3)
            y = y + (step / 6) * (k1 + 2 * k2 + 2 * k3 + k4)
        return y

    return final_state


def determinant(np, given):
    """Determinant of a row-major matrix by Leibniz's sum over permutations."""
    size = given["ell"]
    permutations = numpy.array(list(itertools.permutations(range(size))))
    signs = numpy.array([numpy.linalg.det(numpy.eye(size)[p]) for p in permutations]).round()
    positions = permutations + size * numpy.arange(size)
    return lambda entries: np.sum(signs * np.prod(entries[positions], axis=1))


def cluster_cost(np, given):
    """Sum of the squared distances of points to their nearest centroids."""
    points = numpy.array(given["points"])

    def cost(centroids):
        distances = np.sum((points[:, None, :] - centroids[None, :, :]) ** 2, axis=2)
        return np.sum(np.min(distances, axis=1))

    return cost


def column_major_lower(size: int) -> numpy.ndarray:
    """Where each entry of a strictly lower triangular matrix stands in its columns put end to end.

    Entries on and above the diagonal point at one place beyond the last.
    """
    positions = numpy.full((size, size), size * (size - 1) // 2)
    columns, rows = numpy.triu_indices(size, 1)
    positions[rows, columns] = numpy.arange(len(rows))
    return positions


def mixture_posterior(np, given):
    """Log posterior of a Gaussian mixture with a Wishart prior on its precisions."""
    d, k, n, m, gamma = (given[key] for key in ("d", "k", "n", "m", "gamma"))
    x = numpy.array(given["x"])
    positions = column_major_lower(d).ravel()
    dof = d + m + 1
    wishart = dof * d * math.log(gamma / math.sqrt(2)) - multigammaln(0.5 * dof, d)
    constant = k * wishart - n * 0.5 * d * math.log(2 * math.pi)

    def log_sum_exp(v):
        shift = np.max(v, axis=-1, keepdims=True)
        return np.log(np.sum(np.exp(v - shift), axis=-1)) + np.max(v, axis=-1)

    def posterior(alpha, means, q, lower):
        padded = np.concatenate([lower, numpy.zeros((k, 1))], axis=1)
        factors = padded[:, positions].reshape((k, d, d))
        centred = x[:, None, :] - means[None, :, :]
        z = np.exp(q) * centred + np.einsum("kij,nkj->nki", factors, centred)
        sum_q = np.sum(q, axis=1)
        beta = alpha + sum_q - 0.5 * np.sum(z * z, axis=2)
        prior = 0.5 * gamma * gamma * (np.sum(np.exp(2 * q)) + np.sum(lower * lower))
        likelihood = np.sum(log_sum_exp(beta)) - n * log_sum_exp(alpha)
        return likelihood + constant - prior + m * np.sum(sum_q)

    return posterior


OBJECTIVES: dict[str, Callable[..., Callable[..., Any]]] = {
    "lse": log_sum_exp,
    "llsq": least_squares,
    "ode": runge_kutta,
    "det": determinant,
    "kmeans": cluster_cost,
    "gmm": mixture_posterior,
}
