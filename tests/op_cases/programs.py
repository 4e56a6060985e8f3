"""Tracing a row's function and running its graph with every node held to its type rule."""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.ir import Graph, Node, aval_of, replay
from stagrad.ir.leaves import constant_p, input_p, project_p
from stagrad.trace.function import Traced, trace_function
from stagrad.trace.trees import flatten


def trace(function: Callable[..., Any], operands: tuple[Any, ...]) -> Traced:
    """Return a function traced for operands like these."""
    leaves, spec = flatten((operands, {}))
    avals = [aval_of(leaf) for leaf in leaves]
    return trace_function(function, spec, avals, [None] * len(leaves), leaves)


def run(traced: Traced, operands: tuple[Any, ...]) -> Any:
    """Run a traced function node by node, checking each node's type; see `run_checked`."""
    leaves, _ = flatten((operands, {}))
    outputs = run_checked(traced.graph, [*leaves, *traced.captures])
    return traced.result(outputs)


def run_checked(graph: Graph, arguments: list[Any]) -> list[Any]:
    """Run a graph node by node; fail where a result's shape or dtype is not what its aval says."""
    values = evaluate(graph, arguments)
    return [values[node] for node in graph.outputs]


def evaluate(graph: Graph, arguments: list[Any]) -> dict[Node, Any]:
    """Return the value of every node, checking each against its aval."""
    inputs = (
        np.asarray(value, dtype=node.aval.dtype)
        for node, value in zip(graph.inputs, arguments, strict=True)
    )
    with np.errstate(all="ignore"):
        return replay(graph.nodes, dict(zip(graph.inputs, inputs, strict=True)), apply_checked)


def apply_checked(node: Node, operands: tuple[Any, ...]) -> Any:
    """Evaluate one node, as `interpret` does, and hold the result to the node's aval."""
    assert node.primitive is not input_p, "an input was given no value"
    if node.primitive is constant_p:
        return node.params["value"].array
    if node.primitive is project_p:
        return operands[0][node.params["index"]]
    result = node.primitive.evaluate(operands, node.params)
    results = result if node.primitive.multiple else (result,)
    for part, aval in zip(results, node.avals, strict=True):
        found = np.asarray(part)
        given = f"{node.primitive.name} gave {found.dtype}{list(found.shape)}"
        assert (found.shape, found.dtype) == (aval.shape, aval.dtype), (
            f"{given}, its type rule says {aval}"
        )
    return tuple(map(np.asarray, results)) if node.primitive.multiple else np.asarray(result)
