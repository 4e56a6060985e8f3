"""Drawing the dynamic graph behind a tensor, as dot text and as SVG."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from stagrad.eager import tape
from stagrad.eager.leaf import AccumulateGrad
from stagrad.eager.node import Node
from stagrad.eager.tape import edge_of

_WIDTH, _HEIGHT, _GAP, _LETTER = 44, 26, 30, 7.2
_COLORS = {"leaf": "#cfe3f7", "node": "#eeeeee", "result": "#cdeac8"}


class Drawing:
    """A graph of nodes; `dot` and `svg` are its texts, and notebooks show it."""

    def __init__(
        self, labels: dict[int, tuple[str, str]], edges: list[tuple[int, int]], depths: list[int]
    ) -> None:
        self._labels = labels
        self._edges = edges
        self._depths = depths

    @property
    def dot(self) -> str:
        """The graph in the language of Graphviz; gradients flow against the arrows."""
        lines = ["digraph {", '  node [shape=box, style=filled, fontname="monospace"];']
        for number, (label, kind) in self._labels.items():
            text = label.replace("\n", "\\n")
            lines.append(f'  n{number} [label="{text}", fillcolor="{_COLORS[kind]}"];')
        lines += [f"  n{source} -> n{target};" for source, target in self._edges]
        return "\n".join([*lines, "}", ""])

    @property
    def svg(self) -> str:
        """The graph as a picture, leaves on top."""
        places = self._places()
        width = max(x + self._width(number) for number, (x, _) in places.items()) + _GAP
        height = (max(self._depths) + 1) * (_HEIGHT + _GAP) + _GAP
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            'font-family="monospace" font-size="12">'
        ]
        for source, target in self._edges:
            (x1, y1), (x2, y2) = places[source], places[target]
            x1, x2 = x1 + self._width(source) / 2, x2 + self._width(target) / 2
            parts.append(
                f'<line x1="{x1:.0f}" y1="{y1 + _HEIGHT:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" '
                'stroke="#888888"/>'
            )
        for number, (label, kind) in self._labels.items():
            x, y = places[number]
            wide = self._width(number)
            parts.append(
                f'<rect x="{x:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{_HEIGHT}" rx="4" '
                f'fill="{_COLORS[kind]}" stroke="#666666"/>'
                f'<text x="{x + wide / 2:.0f}" y="{y + 17:.0f}" text-anchor="middle">'
                f"{escape(' '.join(label.split()))}</text>"
            )
        return "\n".join([*parts, "</svg>", ""])

    def _width(self, number: int) -> float:
        return max(_WIDTH, _LETTER * len(self._labels[number][0]) + 16)

    def _places(self) -> dict[int, tuple[float, float]]:
        """Put each node into the row of its depth, next to those already there."""
        used: dict[int, float] = {}
        places: dict[int, tuple[float, float]] = {}
        for number, depth in enumerate(self._depths):
            x = used.get(depth, float(_GAP))
            places[number] = (x, _GAP + depth * (_HEIGHT + _GAP))
            used[depth] = x + self._width(number) + _GAP
        return places

    def save(self, path: Any) -> None:
        """Write the drawing to a file: SVG, or dot where the name ends so."""
        path = Path(path)
        if path.suffix not in (".svg", ".dot"):
            raise ValueError(f"viz: {path.name!r} must end in .svg or .dot")
        path.write_text(self.dot if path.suffix == ".dot" else self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.dot


def viz(tensor: Any, params: Mapping[str, Any] | None = None) -> Drawing:
    """Return a drawing of the graph that leads to a tensor; `params` names leaves.

    Raises ValueError for a tensor that does not require grad.

    >>> import stagrad
    >>> x = stagrad.tensor([1.0, 2.0], requires_grad=True)
    >>> print(stagrad.viz((x * x).sum(), params={"x": x}))
    digraph {
      node [shape=box, style=filled, fontname="monospace"];
      n0 [label="x\\nfloat32 (2,)", fillcolor="#cfe3f7"];
      n1 [label="MulBackward0", fillcolor="#eeeeee"];
      n2 [label="SumBackward0", fillcolor="#cdeac8"];
      n0 -> n1;
      n0 -> n1;
      n1 -> n2;
    }
    <BLANKLINE>
    """
    if not isinstance(tensor, tape.tensor_type):
        raise TypeError(f"viz: expected a Tensor, got {type(tensor).__name__}")
    edge = edge_of(tensor)
    if edge is None:
        raise ValueError("viz: the tensor does not require grad, so there is no graph to draw")
    nodes = _sorted_nodes(edge[0])
    numbers = {node: number for number, node in enumerate(nodes)}
    names = {id(leaf): name for name, leaf in (params or {}).items()}
    edges = [(numbers[source], numbers[node]) for node in nodes for source, _ in node.edges]
    depths = [0] * len(nodes)
    for source, target in edges:
        depths[target] = max(depths[target], depths[source] + 1)
    labels = {numbers[node]: _label(node, names, node is edge[0]) for node in nodes}
    return Drawing(labels, edges, depths)


def _sorted_nodes(root: Node) -> list[Node]:
    found: set[Node] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(source for source, _ in node.edges)
    return sorted(found, key=lambda node: -node.order)


def _label(node: Node, names: dict[int, str], is_result: bool) -> tuple[str, str]:
    if isinstance(node, AccumulateGrad):
        leaf = node.variable
        name = names.get(id(leaf), "leaf")
        return f"{name}\n{leaf._array.dtype} {leaf._array.shape}", "leaf"
    return node.name(), "result" if is_result else "node"
