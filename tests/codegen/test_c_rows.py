"""C programs and the interpreter agree on every row of the operation table."""

import functools
from typing import Any

import numpy as np
import pytest

from stagrad.ir import Graph, interpret
from stagrad.passes import unknown_dtype
from stagrad.trace.trees import flatten
from tests.codegen.native_programs import load_together
from tests.codegen.test_numpy_rows import traced_program, with_cotangents
from tests.op_cases.case import Case
from tests.op_cases.compare import assert_same
from tests.test_ops import CASES, differentiated

pytestmark = [pytest.mark.compiler, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

BATCH = 25
"""Rows whose programs are compiled together."""

# Its sums of float32 are read as float64, and C adds them in double precision.
TOLERANT = {"var with a given mean and dtype": 3e-7}

# Where parts are infinite, C's rules for these differ from NumPy's in some parts.
FINITE_ALONE = {"divide complex", "power complex"}

# Near zero SciPy's logarithm of gamma overflows, and C's does not.
WITHOUT_EDGES = {"gammaln"}


def programs_of(case: Case) -> list[tuple[Graph, list[Any]]]:
    """Return the programs of a row: of its operands, of its edge cases, of its cotangents."""
    edges = () if case.name in WITHOUT_EDGES else case.edges
    made = [traced_program(case.function, operands) for operands in (case.operands, *edges)]
    if case.order:
        function, operands = differentiated(case)
        count = len(flatten(operands)[0])
        made.append(with_cotangents(*traced_program(function, operands), count))
    return [(graph, arguments) for graph, arguments in made if unknown_dtype(graph) is None]


@functools.lru_cache(maxsize=1)
def batch(number: int) -> list[list[tuple[Graph, list[Any], Any]]]:
    """Return the programs of some rows with what runs them, for each row."""
    rows = [programs_of(case) for case in CASES[number * BATCH : (number + 1) * BATCH]]
    runs = iter(load_together([graph for row in rows for graph, _ in row]))
    return [[(graph, arguments, next(runs)) for graph, arguments in row] for row in rows]


@pytest.mark.parametrize("place", range(len(CASES)), ids=[case.name for case in CASES])
def test_c_gives_what_the_interpreter_gives(place: int) -> None:
    number, row = divmod(place, BATCH)
    for graph, arguments, run in batch(number)[row]:
        results = run(*arguments)
        for node, got, want in zip(
            graph.outputs, results, interpret(graph, arguments), strict=True
        ):
            assert isinstance(got, np.ndarray if node.aval.shape else np.generic)
            assert (got.shape, got.dtype) == (node.aval.shape, node.aval.dtype)
            assert not any(np.shares_memory(got, given) for given in arguments)
            if node.aval.dtype.kind == "c" and CASES[place].name in FINITE_ALONE:
                got, want = finite(got, want)
            rtol = TOLERANT.get(CASES[place].name, 1e-12)
            assert_same(got, want, rtol=rtol, atol=1e-13, signs=False)
        for position, one in enumerate(results):
            assert not any(np.shares_memory(one, other) for other in results[:position])


def finite(got: Any, want: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return complex results where both parts are finite."""
    known = np.isfinite(want)
    return np.asarray(got)[known], np.asarray(want)[known]
