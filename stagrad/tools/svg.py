"""The graph as an SVG drawing, from top to bottom, without any other program."""

import re
from collections.abc import Iterator
from html import escape

from stagrad.ir import Graph, Node, input_p
from stagrad.ir.dot import COLORS, box_lines, tooltip
from stagrad.ir.naming import name_nodes
from stagrad.ir.text import short_names
from stagrad.tools.layout import Layout, layered

_CHARACTER = 6.7  # of the 11-pixel monospace font, on the generous side
_LINE = 14.0
_PADDING = 8.0
_RESULT_COLOR = "#ffffff"
_REFERENCE = 'text-anchor="middle" font-style="italic" fill="#666666"'
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def svg(graph: Graph) -> str:
    """Return an SVG image of a graph: one box per operation, coloured by kind, lines by operand.

    Boxes of the backward half have a dashed border; resting on a box shows what it does and where.
    Where a line would be very long, the name of the value stands above its reader instead.

    >>> import stagrad
    >>> graph = stagrad.compile(lambda x: x * x).lower(stagrad.aval("f64[3]")).graph
    >>> svg(graph).count("<rect class='box'")
    3
    """
    labels = name_nodes(graph.nodes)
    places = _places(graph)
    texts = [[*box_lines(node, labels[node]), places[node]] for node in graph.nodes]
    number = {node: position for position, node in enumerate(graph.nodes)}
    edges = [(number[operand], number[node]) for node in graph.nodes for operand in node.inputs]
    for position, node in enumerate(graph.outputs):
        edges.append((number[node], len(texts)))
        texts.append([f"result {position}"])
    lines_high = max((len([line for line in text if line]) for text in texts), default=1)
    height = lines_high * _LINE + _PADDING
    widths = [max(map(len, text)) * _CHARACTER + 2 * _PADDING for text in texts]
    floating = [*_floating(graph), *[False] * len(graph.outputs)]
    names = [*labels.values(), *[""] * len(graph.outputs)]
    short = [len(name) * _CHARACTER + _PADDING for name in names]
    layout = layered(widths, height, edges, floating, short)
    nodes: list[Node | None] = [*graph.nodes, *[None] * len(graph.outputs)]
    parts = [*_lines(layout, height), *_boxes(layout, nodes, texts, widths, height)]
    for line, (x, y) in layout.references.items():
        name = _xml(names[edges[line][0]])
        parts.append(f'<text x="{x:.1f}" y="{y + height / 2 - 4:.1f}" {_REFERENCE}>{name}</text>')
    return _document(layout, parts)


def _floating(graph: Graph) -> list[bool]:
    """Say for each node whether it depends on constants alone: drawn where it is used."""
    floating: dict[Node, bool] = {}
    for node in graph.nodes:
        floating[node] = node.primitive is not input_p and all(map(floating.get, node.inputs))
    return list(floating.values())


def _places(graph: Graph) -> dict[Node, str]:
    """Return where each node comes from, short enough for its box."""
    origins = {node: node.origin for node in graph.nodes}
    short = short_names(origin.file for origin in origins.values() if origin is not None)
    return {
        node: "" if origin is None else f"{short[origin.file]}:{origin.line}"
        for node, origin in origins.items()
    }


def _document(layout: Layout, parts: list[str]) -> str:
    size = f'width="{layout.width:.0f}" height="{layout.height:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
            f'viewBox="0 0 {layout.width:.1f} {layout.height:.1f}" '
            'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="11">',
            '<rect width="100%" height="100%" fill="white"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _lines(layout: Layout, height: float) -> Iterator[str]:
    """Yield the lines between boxes: vertical where they leave, pass a layer and arrive."""
    for points in layout.lines:
        (x, y), *rest = points
        path = f"M{x:.1f},{y + height / 2:.1f}"
        y += height / 2
        for position, (next_x, centre) in enumerate(rest):
            next_y = centre - height / 2
            middle = (y + next_y) / 2
            path += f" C{x:.1f},{middle:.1f} {next_x:.1f},{middle:.1f} {next_x:.1f},{next_y:.1f}"
            x, y = next_x, next_y
            if position < len(rest) - 1:
                y += height
                path += f" L{x:.1f},{y:.1f}"
        yield f'<path d="{path}" fill="none" stroke="#888888"/>'
        tip = f"{x - 3:.1f},{y - 6:.1f} {x + 3:.1f},{y - 6:.1f} {x:.1f},{y:.1f}"
        yield f'<polygon points="{tip}" fill="#555555"/>'


def _boxes(
    layout: Layout,
    nodes: list[Node | None],
    texts: list[list[str]],
    widths: list[float],
    height: float,
) -> Iterator[str]:
    for node, text, width, (x, y) in zip(nodes, texts, widths, layout.centres, strict=True):
        shown = [line for line in text if line]
        color, dash, title, radius = _RESULT_COLOR, "", "", 0.0
        if node is not None:
            color, title, radius = COLORS[node.primitive.kind], _xml(tooltip(node)), 5.0
            dash = ' stroke-dasharray="4 3"' if node.primal is not None else ""
            radius = height / 2 if node.primitive is input_p else radius
        yield f"<g><title>{title}</title>" if title else "<g>"
        yield (
            f'<rect class=\'box\' x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" '
            f'width="{width:.1f}" height="{height:.1f}" rx="{radius:.1f}" fill="{color}" '
            f'stroke="#666666"{dash}/>'
        )
        top = y - len(shown) * _LINE / 2 + _LINE * 0.75
        for position, line in enumerate(shown):
            faint = ' fill="#666666"' if len(text) == 3 and line is text[2] else ""
            yield (
                f'<text x="{x:.1f}" y="{top + position * _LINE:.1f}" text-anchor="middle"'
                f"{faint}>{_xml(line)}</text>"
            )
        yield "</g>"


def _xml(text: str) -> str:
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))
