"""The problems of Moré, Garbow and Hillstrom as BenDFO writes them (its odd-numbered functions).

The code is the commonest idiom of scientific Python: `fvec = np.zeros(m)`, filled one element at a
time. It keeps the NumPy that it imports. The expected Jacobian is the repository's own, generated
by another source transformation tool, at the published starting points.
"""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy

from tests.cases.library import Library
from tests.cases.outside.outcome import Outcome, attempt, expect_close

TOLERANCE = 1e-8


def run(library: Library, tree: Path) -> Iterator[Outcome]:
    """Differentiate each problem at each starting point for which the tree has a Jacobian."""
    _load(tree, "g_dfovec_1d")
    residuals = _load(tree, "dfovec").dfovec
    start = _load(tree, "dfoxs").dfoxs
    jacobian = _load(tree, "jacobian").jacobian
    for line in (tree / "data/dfo.dat").read_text().splitlines():
        problem, n, m, scale = (int(word) for word in line.split())
        if problem % 2 == 0:
            continue
        x = numpy.array(start(n, problem, 10.0**scale), float)
        try:
            rows, values = jacobian(m, n, x.copy(), problem)
        except Exception:  # the published code itself fails with today's NumPy
            continue

        def function(t, problem=problem, n=n, m=m):
            return residuals(m, n, t, problem)

        name = f"problem {problem}, n {n}, m {m}, scale {scale}"
        yield attempt(name, check, function, x, numpy.ravel(values), rows, library)


def check(function, x, values, rows, library: Library) -> None:
    """Raise AssertionError unless gradient and sampled Jacobian rows are the published ones."""
    (gradient,) = library.grad(lambda t: library.np.sum(function(t) ** 2), 1)(x)
    expect_close("gradient of the sum of squares", gradient, 2 * rows.T @ values, TOLERANCE)
    for row in sorted({0, len(values) // 2, len(values) - 1}):
        (got,) = library.grad(lambda t, row=row: function(t)[row], 1)(x)
        scale = max(1.0, numpy.max(numpy.abs(rows)))
        expect_close(f"row {row} of the Jacobian", got / scale, rows[row] / scale, TOLERANCE)


def _load(tree: Path, name: str):
    """Import one module of the tree under its own name, by which the others import it."""
    spec = importlib.util.spec_from_file_location(name, tree / "py" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
