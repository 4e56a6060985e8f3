"""Drawings of the dynamic graph."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import stagrad


def test_drawing_names_nodes_and_leaves(tmp_path):
    x = stagrad.tensor(np.ones(2), requires_grad=True)
    y = stagrad.tensor(np.ones(2), requires_grad=True)
    drawing = stagrad.viz((np.exp(x) * y).sum(), params={"x": x})
    assert 'label="x\\nfloat64 (2,)"' in drawing.dot
    assert drawing.dot.count(" -> ") == 4
    drawing.save(tmp_path / "graph.svg")
    root = ElementTree.parse(tmp_path / "graph.svg").getroot()
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[-1] == "SumBackward0"
    assert {"x float64 (2,)", "leaf float64 (2,)", "ExpBackward0", "MulBackward0"} < set(texts)


def test_deep_graphs_are_drawn_without_recursion():
    x = y = stagrad.tensor(np.ones(1), requires_grad=True)
    for _ in range(3000):
        y = y + 1
    assert stagrad.viz(y).dot.count(" -> ") == 3000
    assert x.is_leaf


def test_what_has_no_graph_is_refused():
    with pytest.raises(ValueError, match="does not require grad"):
        stagrad.viz(stagrad.tensor([1.0]))
    with pytest.raises(TypeError, match="ndarray"):
        stagrad.viz(np.ones(1))
