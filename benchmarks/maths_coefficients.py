"""Compute the coefficients of the C target's own mathematical functions, with mpmath.

Run `python -m benchmarks.maths_coefficients [NAME ...]`; each line is a name and the coefficients,
lowest power first, as they stand in stagrad/codegen/c/include. Every polynomial meets its function
at Chebyshev's nodes, but for erf's, which has the least weighted error.
"""

import sys
from collections.abc import Callable
from typing import Any

from mpmath import mp

mp.dps = 50

Function = Callable[[Any], Any]


def at_nodes(function: Function, low: Any, high: Any, degree: int) -> list[Any]:
    """Return the polynomial that meets a function at Chebyshev's nodes of an interval."""
    count = degree + 1
    nodes = [mp.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    points = [(low + high) / 2 + (high - low) / 2 * node for node in nodes]
    rows = mp.matrix([[point**power for power in range(count)] for point in points])
    return list(mp.lu_solve(rows, mp.matrix([function(point) for point in points])))


def least_weighted(
    function: Function, weight: Function, low: Any, high: Any, degree: int
) -> list[Any]:
    """Return the polynomial whose greatest weighted error is least, by Lawson's iteration."""
    count, many = degree + 1, 160
    nodes = [mp.cos(mp.pi * (2 * k + 1) / (2 * many)) for k in range(many)]
    points = [(low + high) / 2 - (high - low) / 2 * node for node in nodes]
    rows = mp.matrix([[point**power for power in range(count)] for point in points])
    values = mp.matrix([function(point) for point in points])
    weights = [weight(point) for point in points]
    shares = [mp.mpf(1) / many] * many
    best: tuple[Any, Any] | None = None
    for _ in range(30):
        scale = mp.diag([share * w**2 for share, w in zip(shares, weights, strict=True)])
        found = mp.lu_solve(rows.T * scale * rows, rows.T * scale * values)
        left = rows * found - values
        errors = [abs(w * left[k]) for k, w in enumerate(weights)]
        if best is None or max(errors) < best[0]:
            best = max(errors), found
        shares = [share * error for share, error in zip(shares, errors, strict=True)]
        total = sum(shares)
        shares = [share / total for share in shares]
    assert best is not None
    return list(best[1])


HALF_LOG_2 = mp.log(2) / 2
ATANH_END = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2
TAIL_P = mp.mpf("0.075")


def quantile(y: Any) -> Any:
    """Return x with P(X > x) = exp(-y) for a standard normal X."""
    start = mp.sqrt(2 * y) * (1 - mp.log(4 * mp.pi * y) / (4 * y)) if y > 2 else mp.mpf("1.3")
    return mp.findroot(lambda x: mp.log(mp.erfc(x / mp.sqrt(2)) / 2) + y, start)


def _middle(z: Any) -> Any:
    """Return the quantile of 1/2 + q over q, for z = q^2."""
    return mp.sqrt(2) * mp.erfinv(2 * mp.sqrt(z)) / mp.sqrt(z)


def _tail(u: Any) -> Any:
    """Return how far the quantile of p stays below sqrt(2) r, times r, for r^2 = -log p = e^2u."""
    r = mp.exp(u)
    return (mp.sqrt(2) * r - quantile(r * r)) * r


def _k0_near(z: Any) -> Any:
    x = mp.sqrt(z)
    return mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x)


def _k1_near(z: Any) -> Any:
    x = mp.sqrt(z)
    return x * (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x))


def _erfcx(t: Any) -> Any:
    x = mp.mpf("3.75") * (1 + t) / (1 - t)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


def _scaled(function: Function) -> Function:
    """Return a function of t in (-1, 1) for one of x beyond 8: t = 16/x - 1."""
    return lambda t: function(16 / (1 + t))


def _beyond_2(order: int) -> Function:
    return lambda t: (lambda x: mp.sqrt(x) * mp.exp(x) * mp.besselk(order, x))(4 / (1 + t))


ONE = mp.mpf(1)
PSI_ROOT = mp.findroot(mp.digamma, 1.4616)
PSI_BELOW = mp.findroot(mp.digamma, -0.504)
TABLES: dict[str, Callable[[], list[Any]]] = {
    "exp": lambda: at_nodes(
        lambda r: (mp.expm1(r) - r) / r**2, -HALF_LOG_2 * 1.0005, HALF_LOG_2 * 1.0005, 9
    ),
    "expf": lambda: at_nodes(
        lambda r: (mp.expm1(r) - r) / r**2, -HALF_LOG_2 * 1.001, HALF_LOG_2 * 1.001, 5
    ),
    "log": lambda: at_nodes(
        lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z, 0 * ONE, ATANH_END * 1.001, 6
    ),
    "logf": lambda: at_nodes(
        lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z, 0 * ONE, ATANH_END * 1.001, 2
    ),
    "erf": lambda: least_weighted(
        lambda x: -mp.log(mp.erfc(x)) / x,
        lambda x: x * mp.erfc(x) / mp.erf(x),
        mp.mpf(2) ** -20,
        mp.mpf("5.95"),
        22,
    ),
    "erff": lambda: least_weighted(
        lambda x: -mp.log(mp.erfc(x)) / x,
        lambda x: x * mp.erfc(x) / mp.erf(x),
        mp.mpf(2) ** -20,
        mp.mpf("3.95"),
        9,
    ),
    "i0e_near": lambda: at_nodes(
        lambda t: mp.exp(-4 * (t + 1)) * mp.besseli(0, 4 * (t + 1)), -ONE, ONE, 28
    ),
    "i0e_far": lambda: at_nodes(
        _scaled(lambda x: mp.sqrt(x) * mp.exp(-x) * mp.besseli(0, x)), -ONE, ONE, 22
    ),
    "i1e_near": lambda: at_nodes(
        lambda t: mp.exp(-4 * (t + 1)) * mp.besseli(1, 4 * (t + 1)) / (4 * (t + 1)), -ONE, ONE, 27
    ),
    "i1e_far": lambda: at_nodes(
        _scaled(lambda x: mp.sqrt(x) * mp.exp(-x) * mp.besseli(1, x)), -ONE, ONE, 22
    ),
    "k0_near": lambda: at_nodes(_k0_near, 0 * ONE, 4 * ONE, 9),
    "k0_far": lambda: at_nodes(_beyond_2(0), -ONE, ONE, 24),
    "k1_near": lambda: at_nodes(_k1_near, 0 * ONE, 4 * ONE, 10),
    "k1_far": lambda: at_nodes(_beyond_2(1), -ONE, ONE, 24),
    "erfcx": lambda: at_nodes(_erfcx, -ONE, ONE, 28),
    "quantile_middle": lambda: at_nodes(
        lambda t: _middle((1 + t) * (mp.mpf("0.5") - TAIL_P) ** 2 / 2), -ONE, ONE, 30
    ),
    "quantile_tail": lambda: at_nodes(lambda t: _tail(1 + mp.mpf("0.6") * t), -ONE, ONE, 21),
    "quantile_far": lambda: at_nodes(lambda t: _tail(mp.mpf("2.5") + t), -ONE, ONE, 22),
    "psi_root": lambda: [
        mp.polygamma(k, PSI_ROOT) / mp.factorial(k) for k in range(1, 20)
    ],
    "psi_below": lambda: [
        mp.polygamma(k, PSI_BELOW) / mp.factorial(k) for k in range(1, 18)
    ],
}  # fmt: skip


def main(names: list[str]) -> None:
    """Print the tables of these names, or all."""
    for name in names or TABLES:
        print(f"{name}: {', '.join(repr(float(number)) for number in TABLES[name]())}")


if __name__ == "__main__":
    main(sys.argv[1:])
