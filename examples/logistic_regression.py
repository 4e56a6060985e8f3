"""Maximum likelihood for a logistic regression, with standard errors from the exact Hessian.

The data are the 569 biopsies of the Wisconsin breast-cancer study that scikit-learn bundles; the
ten explanatory variables are the mean measurements of the cell nuclei. Radius, perimeter and area
are nearly collinear, so the likelihood is a long narrow valley in which gradient descent crawls.
Newton's method with a trust region walks through it in a few steps: `stagrad.value_and_grad` gives
SciPy the slope, `stagrad.hvp` the product of the Hessian with a vector, and `stagrad.hessian` the
information matrix whose inverse holds the squared standard errors.

Run with `python examples/logistic_regression.py`. The exit status is 1 if the estimates differ
from scikit-learn's.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from tqdm import tqdm

import stagrad

VARIABLES = 10
TOLERANCE = 1e-3


def negative_log_likelihood(design, benign):
    """Return -log L as a function of the coefficients; `benign` holds 0 or 1 per row."""

    def loss(coefficients):
        log_odds = design @ coefficients
        return np.sum(np.logaddexp(0.0, log_odds) - benign * log_odds)

    return loss


def fit(loss, size, iterations):
    """Return SciPy's optimisation result: the estimates, and how much work they took."""
    with tqdm(total=iterations, desc="Newton steps") as progress:

        def report(intermediate_result):
            progress.set_postfix(deviance=f"{2.0 * intermediate_result.fun:.4f}")
            progress.update()

        return minimize(
            stagrad.value_and_grad(loss),
            np.zeros(size),
            method="trust-ncg",
            jac=True,
            hessp=lambda coefficients, vector: stagrad.hvp(loss, coefficients, vector),
            callback=report,
            options={"gtol": 1e-8, "maxiter": iterations},
        )


def plot(names, coefficients, standard_errors, reference, path):
    """Draw the estimates with 95 % confidence intervals, and scikit-learn's estimates on top."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    rows = np.arange(len(names))
    axes.errorbar(coefficients, rows, xerr=1.96 * standard_errors, fmt="o", label="stagrad, 95 %")
    axes.plot(reference, rows, "kx", label="scikit-learn")
    axes.axvline(0.0, color="gray", linewidth=0.8)
    axes.set_yticks(rows, names)
    axes.invert_yaxis()
    axes.set(xlabel="log-odds of a benign tumour per standard deviation")
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=120)


def main(argv=None):
    """Fit, compare with scikit-learn, plot and print the result; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="fewer variables, for a quick check")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
    options = parser.parse_args(argv)
    options.output.mkdir(parents=True, exist_ok=True)

    data = load_breast_cancer()
    variables = 2 if options.short else VARIABLES
    measurements = data.data[:, :variables]
    standardised = (measurements - measurements.mean(axis=0)) / measurements.std(axis=0)
    design = np.column_stack([np.ones(len(standardised)), standardised])
    names = ["intercept", *data.feature_names[:variables]]
    benign = data.target.astype(float)

    loss = negative_log_likelihood(design, benign)
    result = fit(loss, design.shape[1], iterations=100)
    information = stagrad.hessian(loss)(result.x)
    standard_errors = np.sqrt(np.diag(np.linalg.inv(information)))

    unpenalised = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10)
    unpenalised.fit(standardised, benign)
    reference = np.concatenate([unpenalised.intercept_, unpenalised.coef_[0]])
    difference = np.max(np.abs(result.x - reference))

    print(f"{'':24s}{'estimate':>10s}{'std. error':>12s}{'z':>8s}{'scikit-learn':>14s}")
    for name, estimate, error, other in zip(
        names, result.x, standard_errors, reference, strict=True
    ):
        print(f"{name:24s}{estimate:10.4f}{error:12.4f}{estimate / error:8.2f}{other:14.4f}")
    plot(names, result.x, standard_errors, reference, options.output / "logistic_regression.png")
    print(
        f"logistic_regression: log-likelihood {-result.fun:.4f} after {result.nit} Newton steps, "
        f"largest difference from scikit-learn {difference:.1e}"
    )
    return 0 if difference < TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
