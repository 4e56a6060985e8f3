"""Applying operations to whatever the operands are, and running whole graphs one node at a time."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from stagrad.ir.graph import Graph, Node
from stagrad.ir.leaves import constant_p, input_p
from stagrad.ir.primitive import Primitive


def bind(primitive: Primitive, *operands: Any, **params: Any) -> Any:
    """Apply an operation to traced values, eager tensors or plain arrays.

    An operand that defines `process_primitive` decides what applying means (a traced value adds a
    node); with none, the operation's Python text runs on the arrays at once. The record's `prepare`
    runs first for traced values, which makes casts and broadcasts explicit; NumPy does its own.
    """
    for operand in operands:
        process = getattr(type(operand), "process_primitive", None)
        if process is not None:
            return process(operand, primitive, operands, params)
    return primitive.evaluate(operands, params)


def interpret(graph: Graph, arguments: Sequence[Any]) -> list[Any]:
    """Run a graph op by op on plain arrays: the reference that every target is held against.

    Results keep the dtype and shape their avals promise.

    >>> import stagrad
    >>> from stagrad.ir import interpret
    >>> graph = stagrad.compile(lambda x: x * x).lower(np.array([1.0, 2.0])).graph
    >>> [out.tolist() for out in interpret(graph, [np.array([1.0, 2.0])])]
    [[1.0, 4.0]]
    """
    values: dict[Node, Any] = dict(zip(graph.inputs, arguments, strict=True))
    with np.errstate(all="ignore"):
        for node in graph.nodes:
            if node.primitive is not input_p:
                operands = tuple(values[operand] for operand in node.inputs)
                values[node] = _run(node, operands)
    return [values[node] for node in graph.outputs]


def _run(node: Node, operands: tuple[Any, ...]) -> Any:
    if node.primitive is constant_p:
        return node.params["value"].array
    result = node.primitive.evaluate(operands, node.params)
    if node.primitive.multiple:
        return result
    return np.asarray(result, dtype=node.aval.dtype).reshape(node.aval.shape)


def replay(
    graph_nodes: Iterable[Node],
    values: dict[Node, Any],
    apply: Callable[[Node, tuple[Any, ...]], Any],
) -> dict[Node, Any]:
    """Fill `values` for nodes in order, each from its operands' values through `apply`."""
    for node in graph_nodes:
        if node not in values:
            values[node] = apply(node, tuple(values[operand] for operand in node.inputs))
    return values
