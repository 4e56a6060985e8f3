"""Emitted NumPy source and the interpreter agree on every row of the operation table."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stagrad.codegen import emit_numpy
from stagrad.ir import Graph, interpret, is_inexact
from stagrad.ir.verify_schedule import verify_schedule
from stagrad.passes import lower
from stagrad.passes.recognize import recognize
from stagrad.passes.reverse import reverse
from stagrad.runtime import load
from stagrad.trace.trees import flatten
from tests.op_cases.case import Case
from tests.op_cases.compare import assert_same
from tests.op_cases.programs import trace
from tests.test_ops import CASES, differentiated

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def traced_program(
    function: Callable[..., Any], operands: tuple[Any, ...]
) -> tuple[Graph, list[Any]]:
    """Return a function's graph, and the arrays to run it on."""
    traced = trace(function, operands)
    leaves = [*flatten((operands, {}))[0], *traced.captures]
    arguments = [
        leaf if node.aval.weak else np.array(leaf, node.aval.dtype)
        for leaf, node in zip(leaves, traced.graph.inputs, strict=True)
    ]
    return recognize(traced.graph), arguments


def with_cotangents(graph: Graph, arguments: list[Any], count: int) -> tuple[Graph, list[Any]]:
    """Return the graph with cotangents of its first inexact inputs, and arguments for it."""
    wrt = [place for place in range(count) if is_inexact(graph.inputs[place].aval)]
    adjoint = reverse(graph, wrt)
    seeds = adjoint.inputs[len(graph.inputs) :]
    generator = np.random.default_rng(0)
    numbers = [generator.normal(size=node.aval.shape).astype(node.aval.dtype) for node in seeds]
    return adjoint, arguments + numbers


def assert_source_agrees(graph: Graph, arguments: list[Any]) -> None:
    """Run the emitted source against the interpreter; hold results to their avals and memory."""
    schedule = lower(graph).schedule
    verify_schedule(schedule)
    source = emit_numpy(schedule, "program")
    results = load(source, "program")(*arguments)
    for node, got, want in zip(graph.outputs, results, interpret(graph, arguments), strict=True):
        assert isinstance(got, np.ndarray if node.aval.shape else np.generic), source
        assert (got.shape, got.dtype) == (node.aval.shape, node.aval.dtype), source
        assert not any(np.shares_memory(got, given) for given in arguments), source
        assert_same(got, want, rtol=1e-12, atol=1e-13, signs=False)
    for place, one in enumerate(results):
        assert not any(np.shares_memory(one, other) for other in results[:place]), source


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_source_gives_what_the_interpreter_gives(case: Case) -> None:
    for operands in (case.operands, *case.edges):
        assert_source_agrees(*traced_program(case.function, operands))


@pytest.mark.parametrize("case", [case for case in CASES if case.order], ids=lambda case: case.name)
def test_source_of_cotangents_gives_what_the_interpreter_gives(case: Case) -> None:
    function, operands = differentiated(case)
    count = len(flatten(operands)[0])
    assert_source_agrees(*with_cotangents(*traced_program(function, operands), count))
