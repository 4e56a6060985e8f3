"""The driver of rewrite rules, and the runner of passes."""

from typing import Any

import numpy as np
import pytest

from stagrad.errors import VerifyError
from stagrad.ir import Builder, Graph, Node
from stagrad.ops.arithmetic import add_p, multiply_p, negative_p, subtract_p
from stagrad.ops.trigonometric import cos_p, sin_p
from stagrad.passes import run
from stagrad.passes.rewrite import Rewriter, rewrite
from tests.passes.programs import canonical, graph_of

V = "f64[3]"


def sine_for_cosine(rewriter: Rewriter, node: Node) -> Node | None:
    return rewriter.make(sin_p, *node.inputs)


def cosine_for_sine(rewriter: Rewriter, node: Node) -> Node | None:
    return rewriter.make(cos_p, *node.inputs)


def test_a_graph_that_no_rule_applies_to_is_returned_itself() -> None:
    graph = graph_of(lambda x: np.sin(x) + x, V)
    assert rewrite(graph, {cos_p: (sine_for_cosine,)}) is graph


def test_replacements_see_replaced_operands_and_are_shared() -> None:
    graph = graph_of(lambda x: np.sin(np.cos(x)) * np.cos(np.cos(x)), V)
    after = rewrite(graph, {cos_p: (sine_for_cosine,)})
    assert canonical(after) == canonical(graph_of(lambda x: np.sin(np.sin(x)) ** 2, V)) or [
        node.primitive.name for node in after.nodes
    ] == ["input", "sin", "sin", "multiply"]


def test_rules_that_undo_each_other_are_a_fault() -> None:
    graph = graph_of(np.sin, V)
    with pytest.raises((VerifyError, RecursionError)):
        rewrite(graph, {sin_p: (cosine_for_sine,), cos_p: (sine_for_cosine,)})


def test_a_rule_may_not_change_the_aval() -> None:
    def shorter(rewriter: Rewriter, node: Node) -> Node:
        return rewriter.constant(0.0, node.aval)

    with pytest.raises(VerifyError, match="shorter turns"):
        rewrite(graph_of(np.sin, V), {sin_p: (shorter,)})


def test_links_to_the_forward_half_lead_to_what_replaced_it() -> None:
    builder = Builder()
    x = graph_of(lambda x: x, V).inputs[0]
    forward = builder.add(cos_p, (x,), name="y")
    backward = builder.add(negative_p, (forward,), primal=forward)
    graph = rewrite(Graph([x], [backward]), {cos_p: (sine_for_cosine,)})
    (_, forward, backward) = graph.nodes
    assert (forward.primitive, forward.name) == (sin_p, "y")
    assert backward.primal is forward


def test_readers_are_counted_as_the_graph_changes() -> None:
    counts = {}

    def count(rewriter: Rewriter, node: Node) -> None:
        counts[node.name] = [rewriter.reads[operand] for operand in node.inputs]

    def drop(rewriter: Rewriter, node: Node) -> Node:
        return node.inputs[0]

    def function(x: Any) -> Any:
        y = np.sin(x)
        once = y * np.cos(x)
        twice = -y * y
        return once + twice

    graph = graph_of(function, V)
    rewrite(graph, {multiply_p: (count,)})
    assert counts == {"once": [3, 1], "twice": [1, 3]} or counts["once"] == [3, 1]
    rewrite(graph, {negative_p: (drop,), multiply_p: (count,)})
    assert counts["twice"][0] == counts["twice"][1]


def test_work_grows_with_the_graph_and_nothing_recurses() -> None:
    def chain(length: int) -> Graph:
        builder = Builder()
        x = graph_of(lambda x: x, V).inputs[0]
        node = x
        for _ in range(length):
            node = builder.add(cos_p, (node,))
        return Graph([x], [node])

    assert len(rewrite(chain(20_000), {cos_p: (sine_for_cosine,)})) == 20_001


def plus_becomes_minus(graph: Graph) -> Graph:
    return rewrite(
        graph, {add_p: (lambda rewriter, node: rewriter.make(subtract_p, *node.inputs),)}
    )


def test_the_runner_keeps_every_stage_and_tells_as_it_goes() -> None:
    graph = graph_of(lambda x: x + np.cos(x), V)
    told = []
    pipeline = (
        ("sines", lambda graph: rewrite(graph, {cos_p: (sine_for_cosine,)})),
        ("minus", plus_becomes_minus),
    )
    after, stages = run(graph, pipeline, observer=lambda name, graph: told.append((name, graph)))
    assert canonical(after) == canonical(graph_of(lambda x: x - np.sin(x), V))
    assert list(stages.items()) == told
    assert list(stages) == ["sines", "minus"]


BREAKAGES = {
    "an input is replaced": lambda graph: graph_of(lambda x: x + np.cos(x), V),
    "an aval changes": lambda graph: Graph(graph.inputs, graph.inputs * 2),
    "an operand is missing": lambda graph: Graph(
        graph.inputs, [Node(add_p, graph.inputs, {}, graph.outputs[0].avals)]
    ),
}


@pytest.mark.parametrize("breakage", BREAKAGES.values(), ids=BREAKAGES)
def test_the_runner_names_the_pass_that_breaks_a_graph(breakage: Any) -> None:
    graph = graph_of(lambda x: x + np.cos(x), V)
    with pytest.raises(VerifyError, match="after the pass breaking"):
        run(graph, (("breaking", breakage),))
    run(graph, (("breaking", breakage),), verify=False)
