"""SVG drawings of graphs, and the layout behind them."""

import itertools
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from stagrad import ops
from stagrad.ir import PRIMITIVES, Builder, Graph, parse_aval
from stagrad.tools.layout import GAP, REACH, layered, spaced
from stagrad.tools.svg import svg
from tests.random_graphs import edges_of, example, graphs

assert ops, "importing stagrad.ops fills the table of operations"
SVG = "{http://www.w3.org/2000/svg}"


@given(graphs())
def test_svg_is_well_formed_with_a_box_for_every_node_and_result(graph):
    root = ET.fromstring(svg(graph))
    boxes = [rect for rect in root.iter(f"{SVG}rect") if rect.get("class") == "box"]
    assert len(boxes) == len(graph) + len(graph.outputs)
    assert len(list(root.iter(f"{SVG}path"))) == len(edges_of(graph)) + len(graph.outputs)


def test_svg_tells_halves_apart_and_names_lines():
    text = svg(example())
    assert text.count("stroke-dasharray") == sum(n.primal is not None for n in example().nodes)
    assert ">f.py:2</text>" in text
    assert "in &lt;lambda&gt;</title>" in text


edge_lists = st.integers(1, 12).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=20),
    )
)


@given(edge_lists)
def test_boxes_do_not_overlap_and_lines_run_downwards(drawn):
    count, pairs = drawn
    edges = [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]
    sources = {end for _, end in edges}
    widths = [30.0 + 10 * (box % 3) for box in range(count)]
    layout = layered(
        widths, 20.0, edges, [box % 2 == 0 and box not in sources for box in range(count)]
    )
    for line, (start, end) in zip(layout.lines, edges, strict=True):
        assert line[0] == layout.centres[start]
        assert line[-1] == layout.centres[end]
        heights = [y for _, y in line]
        assert heights == sorted(set(heights))
    for one in range(count):
        for other in range(one):
            (x, y), (u, v) = layout.centres[one], layout.centres[other]
            assert y != v or abs(x - u) >= (widths[one] + widths[other]) / 2 + GAP - 1e-6
        assert 0 <= layout.centres[one][0] <= layout.width
        assert 0 <= layout.centres[one][1] <= layout.height


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(1, 20)), max_size=6))
def test_spacing_is_the_nearest_that_keeps_its_distance(drawn):
    wanted, widths = [x for x, _ in drawn], [w for _, w in drawn]
    found = spaced(wanted, widths)
    gaps = [(a + b) / 2 + GAP for a, b in itertools.pairwise(widths)]
    assert all(y - x >= gap - 1e-6 for x, y, gap in zip(found, found[1:], gaps, strict=False))

    def cost(xs):
        return sum((x - w) ** 2 for x, w in zip(xs, wanted, strict=True))

    # Moving any tail of the row apart or together by a little costs more, where it is allowed.
    for place in range(len(found)):
        for step in (-1e-3, 1e-3):
            moved = [x + step * (at >= place) for at, x in enumerate(found)]
            apart = zip(moved, moved[1:], gaps, strict=False)
            if all(y - x >= gap - 1e-9 for x, y, gap in apart):
                assert cost(moved) >= cost(found) - 1e-9


def test_a_long_line_begins_at_a_reference_instead():
    chain = [(step, step + 1) for step in range(2 * REACH)]
    layout = layered(
        [30.0] * (2 * REACH + 1), 20.0, [*chain, (0, 2 * REACH), (0, REACH)], [False] * 99
    )
    long, short = len(chain), len(chain) + 1
    assert list(layout.references) == [long]
    assert layout.lines[long][0] == layout.references[long]
    assert len(layout.lines[long]) == 2
    assert len(layout.lines[short]) == REACH + 1


def test_the_drawing_of_a_large_graph_stays_small():
    builder = Builder()
    node = x = builder.input(parse_aval("f64[]"), "x")
    for _ in range(500):
        node = builder.add(PRIMITIVES["multiply"], (builder.add(PRIMITIVES["sin"], (node,)), x))
    text = svg(Graph([x], [node]))
    assert text.count(" C") < 3000
    assert text.count('font-style="italic"') == 500 - REACH // 2
