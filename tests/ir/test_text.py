"""The text form of graphs: complete, and read back exactly."""

import numpy as np
import pytest
from hypothesis import given, settings

from stagrad import ir, ops
from stagrad.errors import ParseError
from stagrad.ir import PRIMITIVES, Builder, Graph, Literal, Node, Source, constant_p, parse_aval
from stagrad.passes.reverse import reverse
from tests.op_cases import families
from tests.op_cases.case import Case
from tests.op_cases.programs import trace
from tests.random_graphs import graphs, literals, many_p, one_p

assert ops, "importing stagrad.ops fills the table of operations"


@pytest.fixture(autouse=True, scope="module")
def random_primitives():
    """Make the operations of random graphs known to the parser."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setitem(PRIMITIVES, one_p.name, one_p)
        monkeypatch.setitem(PRIMITIVES, many_p.name, many_p)
        yield


def assert_reads_back(graph):
    text = ir.text(graph)
    again = ir.parse(text)
    assert again == graph
    assert ir.text(again) == text


@settings(max_examples=300)
@given(graphs())
def test_random_graphs_read_back(graph):
    assert_reads_back(graph)


@settings(max_examples=300)
@given(literals())
def test_constants_read_back_to_the_bit(literal):
    node = Builder().constant(literal)
    (again,) = ir.parse(ir.text(Graph([], [node]))).outputs
    assert again.params["value"] == literal


ROWS = [case for rows in families().values() for case in rows]


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case.name)
def test_programs_of_the_operation_table_read_back(case: Case) -> None:
    graph = trace(case.function, case.operands).graph
    assert_reads_back(graph)
    inexact = [place for place, node in enumerate(graph.inputs) if ir.is_inexact(node.aval)]
    if case.order and case.wrt is None:
        assert_reads_back(reverse(graph, inexact))


def told(graph):
    """Return what the nodes of a graph tell besides what they compute."""
    number = {node: place for place, node in enumerate(graph.nodes)}
    return [(node.source, node.name, number.get(node.primal)) for node in graph.nodes]


def test_sources_names_and_links_survive():
    builder = Builder()
    here, there = Source("/a/model.py", 3, "loss"), Source("/b/model.py", 4, "<lambda>")
    elsewhere = Source("a b.py", 5, "two words")
    x = builder.input(parse_aval("f64[3]"), "x", there)
    y = builder.add(PRIMITIVES["multiply"], (x, x), source=here, name="v0")
    z = builder.add(PRIMITIVES["multiply"], (y, x), name="lambda", primal=y)
    w = builder.add(PRIMITIVES["add"], (z, y), source=elsewhere, name="x", primal=z)
    graph = Graph([x], [w])
    again = ir.parse(ir.text(graph))
    assert told(again) == told(graph)
    assert [node.origin for node in again.nodes] == [there, here, here, elsewhere]


def test_a_forward_node_outside_the_graph_is_told_by_its_operation_and_line():
    builder = Builder()
    x = builder.input(parse_aval("f64[]"), "x")
    gone = builder.add(PRIMITIVES["negative"], (x,), source=Source("f.py", 7, "f"))
    y = builder.add(PRIMITIVES["add"], (x, x), primal=gone)
    (again,) = ir.parse(ir.text(Graph([x], [y]))).outputs
    assert again.primal.primitive is PRIMITIVES["negative"]
    assert again.origin == gone.source


def test_a_large_constant_is_complete_and_can_be_shortened_for_reading():
    graph = Graph([], [Builder().constant(np.linspace(0.0, 1.0, 1001))])
    assert_reads_back(graph)
    short = ir.text(graph, elide=True)
    assert "[0.0, 0.001, 0.002, …, 1.0]" in short
    with pytest.raises(ParseError, match=r"line 2: this array is shortened for reading"):
        ir.parse(short)


def test_nodes_that_compute_the_same_stay_apart():
    twins = [Node(constant_p, (), {"value": Literal(1.0)}, (parse_aval("f64[]"),)) for _ in "ab"]
    assert_reads_back(Graph([], twins))


def test_given_labels_are_printed():
    x = Builder().input(parse_aval("f64[]"), "x")
    assert "graph(left: f64[]) {  # as x" not in ir.text(Graph([x], [x]), labels={x: "left"})
    assert "left: f64[]" in ir.text(Graph([x], [x]), labels={x: "left"})


def test_a_long_chain_is_written_and_read_without_recursion():
    builder = Builder()
    node = x = builder.input(parse_aval("f64[]"))
    for _ in range(20_000):
        node = builder.add(PRIMITIVES["negative"], (node,))
    assert_reads_back(Graph([x], [node]))


LINES = """\
graph(x: f64[3]) {
  y: f64[3] = negative(x)
  return y
}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("graph", "program", r"line 1: expected 'graph', found 'program'"),
        ("negative", "negatives", r"line 2: there is no operation 'negatives'"),
        ("negative(x)", "negative(z)", r"line 2: 'z' is not defined above"),
        ("y: f64[3]", "x: f64[3]", r"line 2: 'x' is defined twice"),
        ("y: f64[3]", "y: f64[4]", r"line 2: negative gives f64\[3\] here, the text says f64\[4\]"),
        ("y: f64[3]", "y: (f64[3])", r"line 2: negative gives f64\[3\] here"),
        ("x: f64[3]", "x: g64[3]", r"line 1: unknown dtype 'g64'"),
        ("x: f64[3]", "x: i64*[3", r"line 1: cannot read"),
        ("negative(x)", "negative(x) &", r"line 2: cannot read '&"),
        ("negative(x)", "input()", r"line 2: inputs are made"),
        ("negative(x)", "add(x, y)", r"line 2: 'y' is not defined above"),
        (
            "negative(x)",
            "constant([1.0, 2.0])",
            r"line 2: f64\[3\] has 3 elements, the text lists 2",
        ),
        ("negative(x)", "constant([1, 2, True])", r"line 2: 'True' is not a number of dtype f64"),
        (
            "negative(x)",
            "constant(base64'AAAA')",
            r"line 2: the bytes of a constant do not make up",
        ),
        (
            "negative(x)",
            "sum(x, axis=<function f>)",
            r"line 2: <function f> exists only in the program",
        ),
        ("negative(x)", "astype(x, dtype=q8)", r"line 2: unknown dtype 'q8'"),
        ("negative(x)", "negative(x)  # f.py:1 in f, for z", r"line 2: the comment names 'z'"),
        ("return y\n", "return z\n", r"line 3: 'z' is not defined above"),
        ("}\n", "", r"line 4: expected ','"),
        ("}\n", "} more", r"line 4: expected the end of the text, found 'more'"),
    ],
)
def test_a_fault_in_the_text_is_named_with_its_line(old, new, message):
    assert old in LINES
    with pytest.raises(ParseError, match=message):
        ir.parse(LINES.replace(old, new, 1))


def test_comments_of_ones_own_are_allowed():
    text = "# a note\n\n" + LINES.replace("negative(x)", "negative(x)  # a note").replace(
        "  return", "  # more\n  return"
    )
    assert ir.parse(text) == ir.parse(LINES)
