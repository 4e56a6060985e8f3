"""The graph as Graphviz text: operations as boxes, grouped by source line or by half."""

import enum
from collections.abc import Iterator

from stagrad.ir.graph import Graph, Node
from stagrad.ir.leaves import constant_p, input_p
from stagrad.ir.naming import name_nodes
from stagrad.ir.primitive import Kind
from stagrad.ir.text import short_names
from stagrad.ir.values import elements_text, value_text


class Cluster(enum.Enum):
    """What the boxes of a drawing are grouped by."""

    NOTHING = "nothing"
    LINE = "line"
    HALF = "half"


COLORS = {
    Kind.LEAF: "#e8e8e8",
    Kind.ELEMENTWISE: "#d5e8d4",
    Kind.REDUCTION: "#ffe6cc",
    Kind.MOVEMENT: "#dae8fc",
    Kind.CONTRACTION: "#f8cecc",
    Kind.INDEXING: "#cce5e3",
    Kind.CONTROL: "#fff2cc",
    Kind.LIBRARY: "#e1d5e7",
}
"""Fill colours by kind, light enough for black text on them."""


def dot(graph: Graph, cluster: Cluster = Cluster.LINE) -> str:
    """Return Graphviz text of a graph, boxes grouped by user line or by forward and backward half.

    >>> import stagrad
    >>> graph = stagrad.compile(lambda x: x * x).lower(stagrad.aval("f64[3]")).graph
    >>> dot(graph, Cluster.NOTHING).splitlines()[-2]
    '  n1 -> result0;'
    """
    return "\n".join(_lines(graph, cluster)) + "\n"


def _lines(graph: Graph, cluster: Cluster) -> Iterator[str]:
    labels = name_nodes(graph.nodes)
    number = {node: place for place, node in enumerate(graph.nodes)}
    yield "digraph stagrad {"
    yield '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11];'
    yield '  graph [fontname="Helvetica", fontsize=10, style=rounded, color="#999999"];'
    yield '  edge [color="#555555", fontname="Helvetica", fontsize=9];'
    for place, (title, members) in enumerate(groups(graph, cluster).items()):
        indent = "    " if title else "  "
        if title:
            yield f"  subgraph cluster{place} {{"
            yield f"    label={_quoted(title)};"
        for node in members:
            lines = box_lines(node, labels[node])
            yield (
                f"{indent}n{number[node]} [label={_quoted(*lines)}, "
                f'fillcolor="{COLORS[node.primitive.kind]}", tooltip={_quoted(tooltip(node))}];'
            )
        if title:
            yield "  }"
    for node in graph.nodes:
        for position, operand in enumerate(node.inputs):
            several = f" [label={position}]" if len(node.inputs) > 1 else ""
            yield f"  n{number[operand]} -> n{number[node]}{several};"
    for position, node in enumerate(graph.outputs):
        yield f"  result{position} [label={_quoted(f'result {position}')}, shape=plaintext];"
        yield f"  n{number[node]} -> result{position};"
    yield "}"


def groups(graph: Graph, cluster: Cluster) -> dict[str, list[Node]]:
    """Return the nodes in groups by title; those of title "" stand outside any."""
    origins = [node.origin for node in graph.nodes]
    short = short_names(origin.file for origin in origins if origin is not None)
    result: dict[str, list[Node]] = {}
    for node, origin in zip(graph.nodes, origins, strict=True):
        half = "backward" if node.primal is not None else "forward"
        title = ""
        if node.primitive is input_p or node.primitive is constant_p:
            pass
        elif cluster is Cluster.HALF:
            title = half
        elif cluster is Cluster.LINE and origin is not None:
            back = ", backward" if node.primal is not None else ""
            title = f"{short[origin.file]}:{origin.line} in {origin.function}{back}"
        result.setdefault(title, []).append(node)
    return result


def box_lines(node: Node, label: str) -> list[str]:
    """Return what is written in a node's box: what it computes, and the name and aval of that."""
    avals = ", ".join(map(str, node.avals))
    name = node.primitive.name
    params = {key: value for key, value in sorted(node.params.items()) if key != "weak"}
    if node.primitive is input_p:
        return [label, avals]
    if node.primitive is constant_p:
        head = elements_text(node.params["value"].array, elide=True)
    else:
        shown = [
            f"{key}={value_text(value, elide=True, graph_text=repr)}"
            for key, value in params.items()
        ]
        head = f"{name} {', '.join(shown)}".rstrip()
    return [_shortened(head), f"{label}: {avals}"]


def tooltip(node: Node) -> str:
    """Return what a drawing tells of a node on request: its operation in words, and its line."""
    origin = node.origin
    back = f" (backward of {node.primal.primitive.name})" if node.primal is not None else ""
    return f"{node.primitive.doc}{back}" + (f" {origin} in {origin.function}" if origin else "")


def _shortened(text: str, width: int = 48) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _quoted(*lines: str) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
