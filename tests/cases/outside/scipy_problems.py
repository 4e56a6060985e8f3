"""SciPy's optimisation benchmarks: global-optimisation functions and least-squares problems.

The functions are plain user code, much of it `from numpy import cos, exp`. Their points and
gradients in `data/scipy_functions.json` come from the complex step where a function is analytic,
else from a Richardson-extrapolated central difference. The least-squares problems carry Jacobians
of their own.
"""

import contextlib
import importlib
import inspect
import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import numpy
from scipy.optimize import least_squares

from tests.cases import DATA
from tests.cases.library import Library
from tests.cases.outside.outcome import Outcome, attempt, expect_close

BENCHMARKS = "benchmarks/benchmarks"
TOLERANCES = {"complex": 1e-8, "fd": 1e-4}


def run_functions(library: Library, tree: Path) -> Iterator[Outcome]:
    """Differentiate the global-optimisation functions at their recorded points."""
    classes = function_classes(tree)
    for name, points in json.loads((DATA / "scipy_functions.json").read_text()).items():
        yield attempt(name, check_function, classes[name], points, library)


def check_function(function_class, points, library) -> None:
    """Raise AssertionError unless the gradients at all points are as recorded."""
    for point in points:
        problem = function_class()
        (gradient,) = library.grad(lambda x, p=problem: p.fun(x), 1)(numpy.array(point["x"]))
        expect_close("gradient", gradient, point["g"], TOLERANCES[point["how"]])


def function_classes(tree: Path) -> dict[str, type]:
    """Import the functions as a package of their own, without the benchmark machinery."""
    folder = tree / BENCHMARKS / "go_benchmark_functions"
    names = "scipy_benchmarks", "scipy_benchmarks.common", "scipy_benchmarks.functions"
    top, common, functions = (types.ModuleType(name) for name in names)
    top.__path__, functions.__path__ = [], [str(folder)]
    common.safe_import = lambda: contextlib.suppress(ImportError)
    sys.modules.update(zip(names, (top, common, functions), strict=True))
    found = {}
    for path in sorted(folder.glob("go_funcs_*.py")):
        module = importlib.import_module(f"scipy_benchmarks.functions.{path.stem}")
        found.update(
            (name, member)
            for name, member in vars(module).items()
            if inspect.isclass(member) and member.__module__ == module.__name__
        )
    return found


def run_least_squares(library: Library, tree: Path) -> Iterator[Outcome]:
    """Differentiate the residuals of the least-squares problems and solve them with the result."""
    path = tree / BENCHMARKS / "lsq_problems.py"
    module = types.ModuleType("lsq_problems")
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    for name, member in sorted(vars(module).items()):
        if not (inspect.isclass(member) and issubclass(member, module.LSQBenchmarkProblem)):
            continue
        if member.INITIAL_GUESSES:
            problem = member(numpy.array(member.INITIAL_GUESSES[0], float))
            yield attempt(name, check_least_squares, problem, module, library)


def check_least_squares(problem, module, library) -> None:
    """Raise AssertionError unless the Jacobian is the problem's own and leads to its optimum."""

    def jacobian(x):
        module.np = library.np
        try:
            return library.jacobian_rows(problem.fun, x)[1]
        finally:
            module.np = numpy

    expect_close("Jacobian", jacobian(problem.x0), problem.jac(problem.x0), 1e-9)
    lower = -numpy.inf if problem.lb is None else problem.lb
    upper = numpy.inf if problem.ub is None else problem.ub
    precision = {"xtol": 1e-12, "ftol": 1e-12, "gtol": 1e-12, "max_nfev": 500}
    result = least_squares(problem.fun, problem.x0, jacobian, (lower, upper), **precision)
    reached = f"reached {2 * result.cost}, the optimum is {problem.fopt}"
    assert problem.check_answer(result.x, 1e-3), reached
