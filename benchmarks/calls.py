"""What a call of a compiled function costs, against its emitted function alone and NumPy by hand.

python benchmarks/calls.py
"""

import numpy as np

import stagrad
from benchmarks.measure import interleaved, repeated

CALLS = 2000


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def by_hand(x):
    """The value and the gradient, spelled out in plain NumPy."""
    left, right = x[:-1], x[1:]
    valley, hill = right - left**2, 1.0 - left
    gradient = np.zeros_like(x)
    gradient[:-1] = -400.0 * left * valley - 2.0 * hill
    gradient[1:] += 200.0 * valley
    return np.sum(100.0 * valley**2 + hill**2), gradient


def tree_loss(parameters):
    return sum(np.sum(value * value) for value in parameters.values())


def report(name, function, argument, leaves, rival=None):
    compiled = stagrad.value_and_grad(function)
    compiled(argument)
    emitted = compiled.lower(argument).compile()
    ways = {
        "compiled": repeated(lambda: compiled(argument), CALLS),
        "emitted": repeated(lambda: emitted(*leaves), CALLS),
    }
    if rival is not None:
        ways["NumPy"] = repeated(lambda: rival(argument), CALLS)
    times = {way: seconds / CALLS * 1e6 for way, seconds in interleaved(ways, rounds=7).items()}
    listed = ", ".join(f"{way} {micros:.2f} µs" for way, micros in times.items())
    print(f"{name}: {listed}; overhead {times['compiled'] - times['emitted']:.2f} µs")


def main() -> None:
    x = np.linspace(-1.0, 1.0, 10)
    report("Rosenbrock, n = 10 (at most 3 µs over)", rosenbrock, x, [x], by_hand)
    parameters = {f"p{number:02}": np.full(3, float(number)) for number in range(20)}
    report("dict of 20 (at most 10 µs over)", tree_loss, parameters, list(parameters.values()))


if __name__ == "__main__":
    main()
