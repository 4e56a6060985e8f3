"""Batching does to a batch what a Python loop does to each element, for every row of the table."""

from typing import Any

import numpy as np
import pytest

from stagrad.ir import Graph
from stagrad.passes.batch import batch
from stagrad.passes.reverse import reverse
from stagrad.trace.trees import flatten
from tests.op_cases.case import Case
from tests.op_cases.programs import run_checked, trace
from tests.test_ops import CASES, differentiated, fresh, inexact_arguments, rows

# Scaled operands leave the domains of some functions, about which NumPy warns as it should.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SCALES = (1.0, 0.75, 1.25)


def stacked(argument: Any) -> np.ndarray:
    """Return a batch: multiples, which keep what a matrix is (positive, regular)."""
    array = np.asarray(argument)
    if array.dtype.kind not in "fc":
        return np.stack([array] * len(SCALES))
    return np.stack([(array * scale).astype(array.dtype) for scale in SCALES])


def assert_as_loop(graph: Graph, arguments: list[Any], batched: list[int]) -> None:
    """Hold a batched graph against its runs for one element after another."""
    whole = [
        stacked(argument) if place in batched else argument
        for place, argument in enumerate(arguments)
    ]
    got = run_checked(batch(graph, len(SCALES), batched), whole)
    for element in range(len(SCALES)):
        one = [value[element] if place in batched else value for place, value in enumerate(whole)]
        for ours, want in zip(got, run_checked(graph, one), strict=True):
            assert ours.dtype == want.dtype
            np.testing.assert_allclose(ours[element], want, rtol=1e-8, atol=1e-10)


def values_graph(case: Case) -> tuple[Graph, list[Any], list[int]]:
    """Return a row's graph with arguments, and which of them to batch."""
    traced = trace(case.function, fresh(case.operands))
    arguments = [*flatten(fresh(case.operands))[0], *traced.captures]
    own = list(range(len(arguments) - len(traced.captures)))
    return traced.graph, arguments, inexact_arguments(traced) or own


def gradient_graph(case: Case) -> tuple[Graph, list[Any], list[int]]:
    """Return the graph of a row's gradient with arguments, and which of them to batch."""
    function, operands = differentiated(case)
    traced = trace(function, operands)
    wrt = inexact_arguments(traced)
    graph = reverse(traced.graph, wrt)
    arguments = [*flatten(fresh(operands))[0], *traced.captures]
    seeds = graph.inputs[len(arguments) :]
    batched = [*wrt, *range(len(arguments), len(graph.inputs))]
    return graph, arguments + [np.ones(node.aval.shape, node.aval.dtype) for node in seeds], batched


@rows(CASES)
def test_values_of_a_batch_are_those_of_a_loop(case: Case) -> None:
    graph, arguments, batched = values_graph(case)
    assert_as_loop(graph, arguments, batched)
    for place in batched if len(batched) > 1 else ():
        assert_as_loop(graph, arguments, [place])


@rows([case for case in CASES if case.order])
def test_gradients_of_a_batch_are_those_of_a_loop(case: Case) -> None:
    graph, arguments, batched = gradient_graph(case)
    assert_as_loop(graph, arguments, batched)
    assert_as_loop(graph, arguments, batched[-1:])


@rows(CASES)
def test_an_empty_batch_is_empty(case: Case) -> None:
    graph, arguments, batched = values_graph(case)
    empty = [
        stacked(argument)[:0] if place in batched else argument
        for place, argument in enumerate(arguments)
    ]
    results = run_checked(batch(graph, 0, batched), empty)
    assert [result.shape for result in results] == [(0, *node.aval.shape) for node in graph.outputs]
