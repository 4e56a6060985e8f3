"""Layered drawing of a directed acyclic graph: where boxes stand and how lines run between them.

Layers by longest path, one bend point per layer that a line passes, orders by barycentres, and
x positions by least squares with a minimal distance (Sugiyama, Tagawa and Toda 1981, in outline). A
line that would pass many layers begins at a reference to its box instead, just above where it ends.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

SWEEPS = 12
GAP = 18.0
LAYER_GAP = 34.0
BEND_WIDTH = 6.0

REACH = 12
"""Longest line, in layers."""


@dataclass
class Point:
    """A box, or a bend of a line where it passes a layer: its size, centre and neighbours."""

    layer: int
    width: float
    x: float = 0.0
    above: list["Point"] = field(default_factory=list)
    below: list["Point"] = field(default_factory=list)


@dataclass(frozen=True)
class Layout:
    """Centres of the boxes, the points each line runs through, and the size of the drawing.

    `references` has the centres of the references by the numbers of the lines that begin there.
    """

    centres: list[tuple[float, float]]
    lines: list[list[tuple[float, float]]]
    references: dict[int, tuple[float, float]]
    width: float
    height: float


def layered(
    widths: Sequence[float],
    height: float,
    edges: Sequence[tuple[int, int]],
    floating: Sequence[bool],
    reference_widths: Sequence[float] | None = None,
) -> Layout:
    """Return the layout of boxes `height` high; an edge `(a, b)` has a < b and runs downwards.

    A reference to a box is as wide as `reference_widths` says, by default as the box.

    A `floating` box, whose predecessors all float, stands just above its first successor; others
    stand as high as they can.
    """
    layers = _layers(len(widths), edges, floating)
    boxes = [Point(layer, width) for layer, width in zip(layers, widths, strict=True)]
    rows: list[list[Point]] = [[] for _ in range(max(layers, default=-1) + 1)]
    for box in boxes:
        rows[box.layer].append(box)
    references: dict[int, Point] = {}
    routes = []
    for number, (start, end) in enumerate(edges):
        first = boxes[start]
        if boxes[end].layer - first.layer > REACH:
            first = Point(boxes[end].layer - 1, (reference_widths or widths)[start])
            rows[first.layer].append(first)
            references[number] = first
        routes.append(_route(first, boxes[end], rows))
    _order(rows)
    _place(rows)
    left = min((point.x - point.width / 2 for row in rows for point in row), default=0.0)
    right = max((point.x + point.width / 2 for row in rows for point in row), default=0.0)
    step = height + LAYER_GAP

    def place(point: Point) -> tuple[float, float]:
        return point.x - left + GAP, point.layer * step + height / 2 + GAP

    return Layout(
        centres=[place(box) for box in boxes],
        lines=[[place(point) for point in route] for route in routes],
        references={number: place(point) for number, point in references.items()},
        width=right - left + 2 * GAP,
        height=len(rows) * step - LAYER_GAP + 2 * GAP,
    )


def _layers(count: int, edges: Sequence[tuple[int, int]], floating: Sequence[bool]) -> list[int]:
    layers = [0] * count
    for start, end in sorted(edges, key=lambda edge: edge[1]):
        layers[end] = max(layers[end], layers[start] + 1)
    lowest = [count] * count
    for start, end in sorted(edges, reverse=True):
        lowest[start] = min(lowest[start], layers[end] - 1)
        if floating[start]:
            layers[start] = lowest[start]
    return layers


def _route(start: Point, end: Point, rows: list[list[Point]]) -> list[Point]:
    """Link two boxes through a bend in each layer between them."""
    route = [start]
    for layer in range(start.layer + 1, end.layer):
        bend = Point(layer, BEND_WIDTH)
        rows[layer].append(bend)
        route.append(bend)
    route.append(end)
    for upper, lower in itertools.pairwise(route):
        upper.below.append(lower)
        lower.above.append(upper)
    return route


def _order(rows: list[list[Point]]) -> None:
    """Order each layer by the mean position of what its points are linked to, above and below."""
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        for row in rows if downwards else reversed(rows):
            for position, point in enumerate(row):
                linked = point.above if downwards else point.below
                mean = sum(other.x for other in linked) / len(linked) if linked else position
                point.x = mean
            row.sort(key=lambda point: point.x)
            for position, point in enumerate(row):
                point.x = position


def _place(rows: list[list[Point]]) -> None:
    """Give every point an x near what it is linked to, at a distance from its neighbours."""
    for row in rows:
        offset = 0.0
        for point in row:
            point.x = offset + point.width / 2
            offset += point.width + GAP
        for point in row:
            point.x -= offset / 2
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = []
            for point in row:
                linked = [*point.above, *point.below]
                own = [point.x] if not linked else []
                wanted.append(sum(own or [other.x for other in linked]) / len(own or linked))
            for point, x in zip(row, spaced(wanted, [point.width for point in row]), strict=True):
                point.x = x


def spaced(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Return the positions nearest to `wanted` (least squares) that keep order and distance.

    >>> spaced([0.0, 0.0, 100.0], [10.0, 10.0, 10.0])
    [-14.0, 14.0, 100.0]
    """
    offsets = [0.0]
    for left, right in itertools.pairwise(widths):
        offsets.append(offsets[-1] + (left + right) / 2 + GAP)
    # Pool adjacent violators: blocks of points that touch move as one.
    blocks: list[tuple[float, int]] = []
    for target, offset in zip(wanted, offsets, strict=False):
        total, count = target - offset, 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / count:
            before = blocks.pop()
            total, count = total + before[0], count + before[1]
        blocks.append((total, count))
    bases = [total / count for total, count in blocks for _ in range(count)]
    return [base + offset for base, offset in zip(bases, offsets, strict=False)]
