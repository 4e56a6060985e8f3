"""Computing forward values again: less memory, the same numbers, and only where it is cheap."""

from typing import Any

import numpy as np

from stagrad.codegen import emit_numpy
from stagrad.ir import Graph, interpret
from stagrad.ir.verify import verify_graph
from stagrad.ir.verify_schedule import verify_schedule
from stagrad.passes import PIPELINE, lower, run
from stagrad.passes.rematerialize import rematerialize
from stagrad.passes.reverse import reverse
from stagrad.runtime import load
from tests.passes.programs import graph_of

WEIGHTS = np.random.default_rng(0).normal(size=(30, 30)) / 5


def layers(x: Any, w: Any) -> Any:
    for _ in range(4):
        z = x @ w
        x = np.exp(-z * z) * np.sin(z) * np.cos(z)
    return np.sum(x * x)


def joint(function: Any, *avals: str) -> Graph:
    graph = graph_of(function, *avals)
    return run(reverse(graph, range(len(graph.inputs))), PIPELINE)[0]


def test_less_is_kept_and_the_numbers_stay() -> None:
    graph = joint(layers, "f64[40,30]", "f64[30,30]")
    after = rematerialize(graph)
    verify_graph(after)
    arguments = [np.full((40, 30), 0.3), WEIGHTS, np.float64(1.0)]
    for got, want in zip(interpret(after, arguments), interpret(graph, arguments), strict=True):
        np.testing.assert_array_equal(got, want)
    plain, lean = (lower(g).schedule for g in (graph, after))
    assert lean.workspace < 0.6 * plain.workspace


def test_the_emitted_program_is_right_and_lean_when_asked() -> None:
    graph = reverse(graph_of(layers, "f64[40,30]", "f64[30,30]"), [0, 1])
    lean = lower(graph, options={"rematerialize": True})
    verify_schedule(lean.schedule)
    assert list(lean.stages)[-1] == "rematerialize"
    assert lean.schedule.workspace < 0.6 * lower(graph).schedule.workspace
    arguments = [np.full((40, 30), 0.3), WEIGHTS, np.float64(1.0)]
    results = load(emit_numpy(lean.schedule, "program"), "program")(*arguments)
    for got, want in zip(results, interpret(graph, arguments), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_products_are_never_computed_again() -> None:
    graph = joint(layers, "f64[40,30]", "f64[30,30]")

    def products(graph: Graph) -> int:
        return sum(node.primitive.name == "matmul" for node in graph.nodes)

    assert products(rematerialize(graph)) == products(graph)


def test_nothing_changes_where_inputs_suffice() -> None:
    graph = joint(lambda x: np.sum(x * x), "f64[5]")
    assert rematerialize(graph) is graph


def test_a_graph_without_a_backward_half_stays() -> None:
    graph = graph_of(lambda x: np.exp(np.sin(x)), "f64[5]")
    assert rematerialize(graph) is graph
