"""Graphs of plain functions, and when two of them are the same program."""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.ir import Graph, Node, input_p, interpret, params_key, parse_aval
from stagrad.trace import Trace


def graph_of(function: Callable[..., Any], *avals: str) -> Graph:
    """Return the graph of a function of arrays of these avals, results in a tuple or alone."""
    with Trace() as trace:
        inputs = [trace.input(parse_aval(aval), f"x{place}") for place, aval in enumerate(avals)]
        results = function(*inputs)
        outputs = results if isinstance(results, tuple) else (results,)
        nodes = [trace.lift(output).node for output in outputs]
    return trace.builder.graph([item.node for item in inputs], nodes)


def canonical(graph: Graph) -> tuple[Any, ...]:
    """Return what a graph computes, whatever order its nodes were made in."""
    number: dict[Node, int] = {node: place for place, node in enumerate(graph.inputs)}
    lines: list[Any] = []
    stack = list(reversed(graph.outputs))
    while stack:
        node = stack[-1]
        missing = [operand for operand in node.inputs if operand not in number]
        if node in number or not missing:
            stack.pop()
            if node not in number:
                number[node] = len(number)
                operands = tuple(number[operand] for operand in node.inputs)
                lines.append((node.primitive.name, operands, params_key(node.params), node.avals))
        else:
            stack += reversed(missing)
    return tuple(lines), tuple(number[node] for node in graph.outputs)


def arguments_for(graph: Graph, seed: int = 0) -> list[np.ndarray]:
    """Return random arrays for a graph's inputs."""
    generator = np.random.default_rng(seed)
    arrays = []
    for node in graph.inputs:
        assert node.primitive is input_p
        values = generator.normal(size=node.aval.shape) * 3
        arrays.append(np.asarray(values).astype(node.aval.dtype))
    return arrays


SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5, 5e-324, 1e308])
"""Numbers that unsound algebra gets wrong."""


def assert_same_bits(got: Graph, want: Graph, arguments: list[np.ndarray]) -> None:
    """Fail unless two graphs give the same bits, but for those of NaN."""
    for left, right in zip(interpret(got, arguments), interpret(want, arguments), strict=True):
        left, right = np.asarray(left), np.asarray(right)
        assert (left.shape, left.dtype) == (right.shape, right.dtype)
        np.testing.assert_array_equal(left, right)
        numbers = ~np.isnan(right)
        np.testing.assert_array_equal(
            np.signbit(left.real[numbers]), np.signbit(right.real[numbers])
        )
