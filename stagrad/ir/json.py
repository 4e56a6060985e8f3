"""The JSON form of a graph, for other programs to read; docs/ir.md has the schema."""

import math
from typing import Any

import numpy as np

from stagrad.ir.aval import Aval, dtype_name
from stagrad.ir.graph import Graph, Node
from stagrad.ir.literal import Literal
from stagrad.ir.naming import name_nodes

VERSION = 1
"""Raised when the schema changes in a way that a reader can notice; fields may be added without."""


def as_json(graph: Graph) -> dict[str, Any]:
    """Return a graph as values that `json.dumps` takes, by the schema in docs/ir.md.

    Numbers that JSON has not (inf, nan) are strings; for exact bits use the text form.

    >>> import json, stagrad
    >>> graph = stagrad.compile(lambda x: x * x).lower(stagrad.aval("f64[3]")).graph
    >>> json.dumps(as_json(graph)["nodes"][1]["operands"])
    '[0, 0]'
    """
    return {"format": "stagrad graph", "version": VERSION, **_graph(graph)}


def _graph(graph: Graph) -> dict[str, Any]:
    number = {node: place for place, node in enumerate(graph.nodes)}
    labels = name_nodes(graph.nodes)
    return {
        "inputs": [number[node] for node in graph.inputs],
        "nodes": [_node(node, labels[node], number) for node in graph.nodes],
        "outputs": [number[node] for node in graph.outputs],
    }


def _node(node: Node, label: str, number: dict[Node, int]) -> dict[str, Any]:
    origin = node.origin
    return {
        "id": number[node],
        "label": label,
        "operation": node.primitive.name,
        "kind": node.primitive.kind.value,
        "operands": [number[operand] for operand in node.inputs],
        "params": {name: _param(value) for name, value in sorted(node.params.items())},
        "results": [_aval(aval) for aval in node.avals],
        "name": node.name,
        "source": None
        if origin is None
        else {"file": origin.file, "line": origin.line, "function": origin.function},
        "backward": node.primal is not None,
        "primal": None if node.primal is None else number.get(node.primal),
    }


def _aval(aval: Aval) -> dict[str, Any]:
    return {"shape": list(aval.shape), "dtype": dtype_name(aval.dtype), "weak": aval.weak}


def _param(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_param(part) for part in value]
    if isinstance(value, np.dtype):
        return {"dtype": dtype_name(value)}
    if isinstance(value, Aval):
        return {"aval": _aval(value)}
    if isinstance(value, Literal):
        aval = Aval(value.array.shape, value.array.dtype)
        return {"array": _elements(value.array.tolist()), "aval": _aval(aval)}
    if isinstance(value, Graph):
        return {"graph": _graph(value)}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str | float | complex):
        return _elements(value)
    return {"object": getattr(value, "__name__", type(value).__name__)}


def _elements(value: Any) -> Any:
    if isinstance(value, list):
        return [_elements(part) for part in value]
    if isinstance(value, complex):
        return {"real": _elements(value.real), "imag": _elements(value.imag)}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
