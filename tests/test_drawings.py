"""The outward forms of a graph other than its text, and labels across stages."""

import itertools
import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagrad import ir, ops
from stagrad.ir import PRIMITIVES, Builder, Graph, Source, parse_aval
from stagrad.ir.dot import Cluster, dot
from stagrad.ir.json import as_json
from stagrad.ir.labels import StageLabels
from stagrad.passes.reverse import reverse
from stagrad.tools.layout import GAP, layered, spaced
from stagrad.tools.svg import svg
from tests.random_graphs import graphs

assert ops, "importing stagrad.ops fills the table of operations"
SVG = "{http://www.w3.org/2000/svg}"


def example():
    """Return the gradient of sum(sin(x) * sin(x)) with the lines and names of a program."""
    builder = Builder()
    x = builder.input(parse_aval("f64[3]"), "x")
    y = builder.add(PRIMITIVES["sin"], (x,), source=Source("/a/f.py", 2, "f"), name="wave")
    z = builder.add(PRIMITIVES["multiply"], (y, y), source=Source("/a/f.py", 3, "<lambda>"))
    loss = builder.add(
        PRIMITIVES["sum"], (z,), {"axis": (0,)}, source=Source("/a/f.py", 3, "f"), name="loss"
    )
    return reverse(Graph([x], [loss]), [0])


def edges_of(graph):
    number = {node: place for place, node in enumerate(graph.nodes)}
    return sorted((number[a], number[node]) for node in graph.nodes for a in node.inputs)


@pytest.mark.parametrize("cluster", list(Cluster))
@given(graph=graphs())
def test_dot_has_every_node_and_edge_once(cluster, graph):
    text = dot(graph, cluster)
    boxes = [int(n) for n in re.findall(r"^ +n(\d+) \[label=", text, re.MULTILINE)]
    arrows = re.findall(r"^  n(\d+) -> n(\d+)(?: \[label=\d+\])?;$", text, re.MULTILINE)
    assert sorted(boxes) == list(range(len(graph)))
    assert sorted((int(a), int(b)) for a, b in arrows) == edges_of(graph)
    assert len(re.findall(r"-> result\d+;", text)) == len(graph.outputs)
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    assert '"' not in bare
    assert bare.count("{") == bare.count("}")


def test_dot_groups_by_line_or_by_half():
    by_line, by_half = dot(example(), Cluster.LINE), dot(example(), Cluster.HALF)
    assert 'label="f.py:2 in f";' in by_line
    assert 'label="f.py:3 in <lambda>, backward";' in by_line
    assert re.findall(r' label="(\w+)";', by_half) == ["forward", "backward"]
    assert "subgraph" not in dot(example(), Cluster.NOTHING)


@given(graphs())
def test_json_holds_the_whole_structure(graph):
    data = json.loads(json.dumps(as_json(graph), allow_nan=False))
    assert (data["format"], data["version"]) == ("stagrad graph", 1)
    nodes = data["nodes"]
    assert [node["id"] for node in nodes] == list(range(len(graph)))
    assert [node["operation"] for node in nodes] == [node.primitive.name for node in graph.nodes]
    found = sorted((a, node["id"]) for node in nodes for a in node["operands"])
    assert found == edges_of(graph)
    assert [nodes[i]["id"] for i in data["outputs"]] == data["outputs"]
    assert len(data["inputs"]) == len(graph.inputs)
    assert len({node["label"] for node in nodes}) == len(nodes)


def test_json_follows_the_documented_schema():
    nodes = as_json(example())["nodes"]
    wave = nodes[2]
    assert wave == {
        "id": 2,
        "label": "wave",
        "operation": "sin",
        "kind": "elementwise",
        "operands": [0],
        "params": {},
        "results": [{"shape": [3], "dtype": "f64", "weak": False}],
        "name": "wave",
        "source": {"file": "/a/f.py", "line": 2, "function": "f"},
        "backward": False,
        "primal": None,
    }
    assert nodes[4]["params"] == {"axis": [0]}
    assert nodes[-1]["backward"]
    assert nodes[nodes[-1]["primal"]]["label"] == "wave"


def test_json_writes_what_json_has_no_number_for():
    constant = Builder().constant(np.array([np.inf, np.nan, 1 - 2j]))
    (node,) = as_json(Graph([], [constant]))["nodes"]
    assert node["params"]["value"]["array"] == [
        {"real": "inf", "imag": 0.0},
        {"real": "nan", "imag": 0.0},
        {"real": 1.0, "imag": -2.0},
    ]


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


def test_labels_stay_with_values_from_stage_to_stage():
    """A pass that drops and replaces operations leaves the labels of the others alone."""
    before = ir.parse(
        """graph(x: f64[3]) {
          v0: f64[3] = sin(x)
          v1: f64[3] = negative(v0)
          v2: f64[3] = negative(v1)
          v3: f64[3] = multiply(v2, x)  # f.py:3 in f
          loss: f64[] = sum(v3, axis=(0,))  # f.py:4 in f
          return loss
        }"""
    )
    after = ir.parse(
        """graph(y: f64[3]) {
          a: f64[3] = sin(y)  # as b
          c: f64[3] = cos(y)
          v3: f64[3] = multiply(a, y)  # f.py:3 in f
          d: f64[3] = add(v3, c)
          loss: f64[] = max(d, axis=(0,))  # f.py:4 in f
          return loss
        }"""
    )
    stages = StageLabels()
    assert list(stages.follow(before).values()) == ["x", "v0", "v1", "v2", "v3", "loss"]
    assert list(stages.follow(after).values()) == ["x", "v0", "c", "v3", "d", "loss"]


@given(graphs(), graphs())
def test_labels_are_unique_in_every_stage(one, other):
    stages = StageLabels()
    for graph in (one, other, one):
        labels = stages.follow(graph)
        assert list(labels) == list(graph.nodes)
        assert len(set(labels.values())) == len(labels)
