"""Random programs: every way to run one gives the same."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings

from stagrad.codegen import emit_numpy
from stagrad.errors import DerivativeError
from stagrad.ir import Graph, interpret, is_inexact
from stagrad.ir.verify import verify_graph
from stagrad.ir.verify_schedule import verify_schedule
from stagrad.passes import PIPELINE, REMATERIALIZE, lower, run
from stagrad.passes.recognize import recognize
from stagrad.passes.reverse import reverse
from stagrad.passes.schedule import schedule
from stagrad.runtime import load
from stagrad.runtime.compare import accuracy, difference
from tests.random_programs import Program, programs

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

REALS = tuple(map(np.dtype, ("f8", "f4", "i8", "?")))
FLOATS = tuple(map(np.dtype, ("f8", "f4", "c16")))


def rounded(arguments: list[np.ndarray]) -> list[np.ndarray]:
    """Return arguments moved by a rounding."""
    generator = np.random.default_rng(0)
    return [
        (array * (1 + accuracy(array.dtype) * generator.uniform(-1, 1, array.shape))).astype(
            array.dtype
        )
        if array.dtype.kind in "fc"
        else array
        for array in arguments
    ]


def assert_agrees(graph: Graph, results: Any, arguments: list[np.ndarray]) -> None:
    """Hold results to the interpreter's, by no more than rounding of the arguments would change."""
    wanted, nearby = interpret(graph, arguments), interpret(graph, rounded(arguments))
    with np.errstate(all="ignore"):
        for node, got, want, near in zip(graph.outputs, results, wanted, nearby, strict=True):
            assert (np.shape(got), got.dtype) == (node.aval.shape, node.aval.dtype)
            assert not difference(got, want, near)


def with_cotangents(program: Program) -> Program:
    """Return the program of the cotangents of all inexact inputs, seeded with ones."""
    graph = program.graph
    wrt = [place for place, node in enumerate(graph.inputs) if is_inexact(node.aval)]
    adjoint = reverse(graph, wrt)
    seeds = adjoint.inputs[len(graph.inputs) :]
    ones = [np.ones(node.aval.shape, node.aval.dtype) for node in seeds]
    return Program(adjoint, program.arguments + ones)


def assert_source_agrees(program: Program) -> None:
    graph, arguments = program.graph, program.arguments
    result = lower(graph).schedule
    verify_schedule(result)
    source = emit_numpy(result, "program")
    before = [array.copy() for array in arguments]
    results = load(source, "program")(*arguments)
    assert_agrees(graph, results, arguments)
    for array, kept in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(array, kept)
    for place, output in enumerate(results):
        others = (*arguments, *results[:place])
        assert not any(np.shares_memory(output, other) for other in others)


@given(programs())
@settings(max_examples=150)
def test_emitted_source_gives_what_the_interpreter_gives(program: Program) -> None:
    assert_source_agrees(program)


@given(programs(FLOATS))
@settings(max_examples=150)
def test_so_does_the_source_of_cotangents(program: Program) -> None:
    try:
        adjoint = with_cotangents(program)
    except DerivativeError:
        return
    assert_source_agrees(adjoint)


@given(programs())
@settings(max_examples=100)
def test_chunks_give_what_the_interpreter_gives(program: Program) -> None:
    """With chunks of a few elements, the kernels of small programs are cut as large ones are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stagrad.passes.chunk.MINIMUM_POINTS", 1)
        patch.setattr("stagrad.passes.chunk.CHUNK_BYTES", 16)
        patch.setattr("stagrad.passes.chunk.ROWS_PER_PARTIAL", 1)
        assert_source_agrees(program)


@given(programs(REALS))
@settings(max_examples=50)
def test_without_kernels_the_bits_are_the_interpreters(program: Program) -> None:
    """NumPy multiplies complex scalars and complex arrays by different code; reals by one."""
    graph, arguments = program.graph, program.arguments
    assume(all(aval.dtype.kind != "c" for node in graph.nodes for aval in node.avals))
    source = emit_numpy(schedule(graph, kernels=False), "program")
    results = load(source, "program")(*arguments)
    for got, want in zip(results, interpret(graph, arguments), strict=True):
        np.testing.assert_array_equal(got, want)


@given(programs(FLOATS))
@settings(max_examples=75)
def test_every_pass_keeps_the_numbers(program: Program) -> None:
    graph = program.graph
    recognized = recognize(graph)
    verify_graph(recognized)
    try:
        adjoint = with_cotangents(program)
    except DerivativeError:
        return
    _, stages = run(adjoint.graph, (*PIPELINE, *REMATERIALIZE))
    for stage in stages.values():
        assert_agrees(adjoint.graph, interpret(stage, adjoint.arguments), adjoint.arguments)
