"""Random programs: compiled C gives what the interpreter gives, on any number of threads."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

import stagrad
from stagrad.errors import DerivativeError
from stagrad.ir import interpret
from stagrad.passes import unknown_dtype
from stagrad.runtime.compare import difference
from tests.codegen.native_programs import load_together
from tests.random_programs import Program, programs
from tests.test_random_programs import rounded, with_cotangents

pytestmark = [pytest.mark.compiler, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

DTYPES = tuple(map(np.dtype, ("f8", "f4", "f2", "i8", "i4", "u1", "?", "c16", "c8")))
FLOATS = tuple(map(np.dtype, ("f8", "f4", "c16")))
LARGE = (1, 3, 17, 17, 33, 70)
LARGE_SIZE = 20_000
AT_ONCE = 40
"""How many programs are compiled together; two compilers run at a time."""


def drawn(strategy: SearchStrategy[Program], count: int) -> list[Program]:
    """Return so many programs: shrinking one would mean to compile each smaller one."""
    found: list[Program] = []

    @settings(
        max_examples=count,
        phases=[Phase.generate],
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(program: Program) -> None:
        if unknown_dtype(program.graph) is None:
            found.append(program)

    collect()
    return found


def cotangents(drawn_programs: list[Program]) -> list[Program]:
    """Return the programs of cotangents of those that have some."""
    found = []
    for program in drawn_programs:
        try:
            adjoint = with_cotangents(program)
        except DerivativeError:
            continue
        if unknown_dtype(adjoint.graph) is None:
            found.append(adjoint)
    return found


@contextmanager
def small_chunks() -> Iterator[None]:
    """Cut the kernels of small programs as those of large ones are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stagrad.passes.cut.CHUNK_NANOSECONDS", 20.0)
        patch.setattr("stagrad.passes.cut.SHORTEST_ROW", 16)
        patch.setattr("stagrad.passes.cut.MOST_CHUNKS", 7)
        yield


def compiled(given_programs: list[Program]) -> list[Any]:
    """Return the compiled functions of programs."""
    graphs = [program.graph for program in given_programs]
    units = [graphs[start : start + AT_ONCE] for start in range(0, len(graphs), AT_ONCE)]
    with ThreadPoolExecutor(2) as pool:
        return [run for runs in pool.map(load_together, units) for run in runs]


def complaints(program: Program, results: Any) -> list[str]:
    """Return how results differ from the interpreter's by more than rounding would."""
    graph, arguments = program.graph, program.arguments
    found = []
    with np.errstate(all="ignore"):
        wanted, nearby = interpret(graph, arguments), interpret(graph, rounded(arguments))
        for node, got, want, near in zip(graph.outputs, results, wanted, nearby, strict=True):
            if (np.shape(got), got.dtype) != (node.aval.shape, node.aval.dtype):
                found.append(f"{node.name}: {got.dtype}{np.shape(got)}, not {node.aval}")
            elif complaint := difference(got, want, near):
                found.append(f"{node.name}: {complaint}")
    return found


def assert_all_agree(given_programs: list[Program]) -> None:
    assert given_programs
    wrong = []
    for program, run in zip(given_programs, compiled(given_programs), strict=True):
        before = [array.copy() for array in program.arguments]
        results = run(*program.arguments)
        found = complaints(program, results)
        for array, kept in zip(program.arguments, before, strict=True):
            np.testing.assert_array_equal(array, kept)
        for place, output in enumerate(results):
            others = (*program.arguments, *results[:place])
            if any(np.shares_memory(output, other) for other in others):
                found.append(f"result {place} shares memory")
        if found:
            wrong.append("\n".join([*found, str(program.graph)]))
    assert not wrong, f"{len(wrong)} programs:\n" + "\n\n".join(wrong[:3])


def test_c_gives_what_the_interpreter_gives() -> None:
    assert_all_agree(drawn(programs(DTYPES), 200))


def test_so_does_the_c_of_cotangents() -> None:
    assert_all_agree(cotangents(drawn(programs(FLOATS), 200)))


def test_large_programs_in_many_chunks_give_the_same() -> None:
    with small_chunks():
        assert_all_agree(drawn(programs(DTYPES, LARGE, LARGE_SIZE), 150))


def test_so_do_their_cotangents() -> None:
    with small_chunks():
        assert_all_agree(cotangents(drawn(programs(FLOATS, LARGE, LARGE_SIZE), 120)))


def test_the_bits_are_the_same_on_any_number_of_threads() -> None:
    with small_chunks():
        many = drawn(programs(FLOATS, LARGE, LARGE_SIZE), 60)
        many += cotangents(many)
        runs = compiled(many)
    before = stagrad.config.num_threads
    try:
        for program, run in zip(many, runs, strict=True):
            results = []
            for count in (1, 2, 8):
                stagrad.config.num_threads = count
                results.append([np.array(result).tobytes() for result in run(*program.arguments)])
            assert results[0] == results[1] == results[2], program
    finally:
        stagrad.config.num_threads = before
