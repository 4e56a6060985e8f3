"""Graphviz and JSON forms of a graph, and labels across stages."""

import json
import re

import numpy as np
import pytest
from hypothesis import given

from stagrad import ir, ops
from stagrad.ir import Builder, Graph
from stagrad.ir.dot import Cluster, dot
from stagrad.ir.json import as_json
from stagrad.ir.labels import StageLabels
from tests.random_graphs import edges_of, example, graphs

assert ops, "importing stagrad.ops fills the table of operations"


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
