"""Estimate the parameters of a differential equation through a hand-written Runge-Kutta loop.

The Lotka-Volterra equations, d(hare)/dt = (a - b lynx) hare and d(lynx)/dt = (d hare - c) lynx, are
fitted to the pelts that the Hudson's Bay Company took in from 1900 to 1920. The solver is a Python
loop that fills an array; stagrad differentiates straight through it, so SciPy's least squares gets
the exact Jacobian of 42 residuals by six parameters, and from it come the standard errors.

Data: numbers of pelts in thousands, P. Howard, "Modeling Basics" (2009), after E. P. Odum,
"Fundamentals of Ecology" (1953) and D. A. MacLulich (1937). B. Carpenter's Stan case study
"Predator-Prey Population Dynamics" (2018) fits the same model by sampling.

Run with `python examples/ode_fit.py`. The exit status is 1 if the fit does not converge.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares
from tqdm import tqdm

import stagrad

YEARS = np.arange(1900, 1921)
HARE = [30, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22, 25.4, 27.1]
HARE += [40.3, 57, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6, 16.2, 24.7]
LYNX = [4, 6.1, 9.8, 35.2, 59.4, 41.7, 19, 13, 8.3, 9.1, 7.4]
LYNX += [8, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6]
PELTS = np.array([HARE, LYNX]).T

NAMES = ("hare birth a", "predation b", "lynx death c", "lynx growth d", "hare 1900", "lynx 1900")
GUESS = np.log([0.5, 0.02, 0.8, 0.02, 30.0, 4.0])
STEPS_PER_YEAR = 5


def growth(state, rates):
    """Return the time derivative of (hare, lynx)."""
    birth, predation, death, conversion = rates
    hare, lynx = state
    return np.array([(birth - predation * lynx) * hare, (conversion * hare - death) * lynx])


def simulate(log_parameters, years):
    """Return the populations at each year, shape (years, 2), by classical Runge-Kutta steps."""
    parameters = np.exp(log_parameters)
    rates, state = parameters[:4], parameters[4:]
    step = 1.0 / STEPS_PER_YEAR
    populations = np.empty((years, 2))
    populations[0] = state
    for year in range(1, years):
        for _ in range(STEPS_PER_YEAR):
            slope1 = growth(state, rates)
            slope2 = growth(state + 0.5 * step * slope1, rates)
            slope3 = growth(state + 0.5 * step * slope2, rates)
            slope4 = growth(state + step * slope3, rates)
            state = state + step / 6.0 * (slope1 + 2.0 * slope2 + 2.0 * slope3 + slope4)
        populations[year] = state
    return populations


def residuals(log_parameters, pelts):
    """Return the flat logarithmic misfits: the counting errors are proportional to the counts."""
    return (np.log(simulate(log_parameters, len(pelts))) - np.log(pelts)).ravel()


def fit(pelts):
    """Return SciPy's least-squares result for the logarithms of the six parameters."""
    jacobian = stagrad.jacobian(residuals)
    with tqdm(desc="Jacobians") as progress:

        def counted_jacobian(log_parameters, pelts):
            progress.update()
            return jacobian(log_parameters, pelts)

        return least_squares(
            stagrad.compile(residuals),
            GUESS,
            jac=counted_jacobian,
            args=(pelts,),
            xtol=1e-12,
            ftol=1e-12,
            gtol=1e-10,
        )


def plot(log_parameters, pelts, path):
    """Draw the fitted orbits, solved afresh by SciPy's adaptive method, over the counts."""
    parameters = np.exp(log_parameters)
    times = np.linspace(0, len(pelts) - 1, 400)
    solution = solve_ivp(
        lambda _, state: growth(state, parameters[:4]),
        (times[0], times[-1]),
        parameters[4:],
        t_eval=times,
        rtol=1e-8,
    )
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    for name, counts, curve, colour in zip(
        ("hare", "lynx"), pelts.T, solution.y, ("tab:blue", "tab:red"), strict=True
    ):
        axes.plot(YEARS[: len(pelts)], counts, "o", color=colour, label=f"{name}, pelts")
        axes.plot(YEARS[0] + times, curve, color=colour, label=f"{name}, fitted")
    axes.set(xlabel="year", ylabel="thousands", title="Pelts of the Hudson's Bay Company")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend()
    figure.savefig(path, dpi=120)


def main(argv=None):
    """Fit, plot and print the result; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="eight years, for a quick check")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
    options = parser.parse_args(argv)
    options.output.mkdir(parents=True, exist_ok=True)

    pelts = PELTS[:8] if options.short else PELTS
    result = fit(pelts)
    deviation = np.sqrt(2.0 * result.cost / (result.fun.size - result.x.size))
    covariance = deviation**2 * np.linalg.inv(result.jac.T @ result.jac)
    relative_errors = np.sqrt(np.diag(covariance))
    for name, value, relative in zip(NAMES, np.exp(result.x), relative_errors, strict=True):
        print(f"{name:14s}{value:9.4f} ± {value * relative:.4f}")
    plot(result.x, pelts, options.output / "ode_fit.png")
    print(
        f"ode_fit: residual deviation {deviation:.4f} (logarithmic) "
        f"after {result.njev} Jacobians of shape {result.jac.shape}"
    )
    return 0 if result.success else 1


if __name__ == "__main__":
    sys.exit(main())
