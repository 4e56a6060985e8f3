"""Graphs for tests of the IR's outward forms: random ones, not meant to be run, and an example."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stagrad.ir import (
    PRIMITIVES,
    Aval,
    Builder,
    Graph,
    Kind,
    Literal,
    Node,
    Primitive,
    Source,
    constant_p,
    input_p,
    parse_aval,
    project_p,
)
from stagrad.passes.reverse import reverse

DTYPES = tuple(map(np.dtype, "?bhiqBHIQefdFD"))

# Two operations with results of any aval and any params, so that no type rule narrows the draw.
one_p = Primitive(
    name="one_result",
    kind=Kind.LIBRARY,
    doc="An operation with one result.",
    vjps=(),
    abstract_eval=lambda avals, params: params["result"][0],
    py="one({args})",
)
many_p = Primitive(
    name="many_results",
    kind=Kind.LIBRARY,
    doc="An operation with several results.",
    vjps=(),
    abstract_eval=lambda avals, params: params["result"],
    py="many({args})",
    multiple=True,
)

shapes = st.lists(st.integers(0, 3), max_size=3).map(tuple)
avals = st.builds(Aval, shapes, st.sampled_from(DTYPES), st.booleans())


@st.composite
def literals(draw: st.DrawFn) -> Literal:
    """Draw an array of any bits: NaN with payloads, -0.0, infinities, subnormal numbers."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(shapes)
    size = int(np.prod(shape)) * dtype.itemsize
    if dtype.kind == "b":
        return Literal(draw(hnp.arrays(dtype, shape)))
    data = draw(st.binary(min_size=size, max_size=size))
    plain = draw(hnp.arrays(dtype, shape))
    return Literal(draw(st.sampled_from([np.frombuffer(data, dtype).reshape(shape), plain])))


files = st.sampled_from(["model.py", "/a/model.py", "/b/model.py", "a b.py", "C:\\x\\y.py"])
odd_files = files | st.text(min_size=1, max_size=8)
functions = st.sampled_from(["loss", "<lambda>", "<module>"]) | st.text(min_size=1, max_size=8)
sources = st.builds(Source, odd_files, st.integers(1, 10**5), functions)
names = st.sampled_from(["x", "loss", "v0", "x0", "c1", "lambda", "inf", "nan", "graph", "größe"])


def params(inner: st.SearchStrategy[Graph]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw params of every kind that a record may have."""
    finite = st.floats(allow_nan=False)
    value = (
        st.none() | avals | st.booleans() | st.integers() | st.text(max_size=5) | finite
        | st.builds(complex, finite, finite) | st.sampled_from(DTYPES) | literals() | inner
    )  # fmt: skip
    values = value | st.lists(value, max_size=3).map(tuple)
    return st.dictionaries(st.sampled_from(["axis", "body", "fill", "inf"]), values, max_size=3)


@st.composite
def graphs(draw: st.DrawFn, depth: int = 1) -> Graph:
    """Draw a graph; with depth, the params of its nodes hold graphs as well."""
    inner = graphs(depth - 1) if depth else st.nothing()
    inputs = [
        Node(input_p, (), {}, (aval,), draw(st.none() | sources), draw(st.none() | names))
        for aval in draw(st.lists(avals, max_size=3))
    ]
    nodes = list(inputs)
    for _ in range(draw(st.integers(0, 5))):
        nodes += draw(_results(nodes, inner))
    return Graph(inputs, draw(_some(nodes)))


def _some(nodes: list[Node]) -> st.SearchStrategy[list[Node]]:
    return st.lists(st.sampled_from(nodes), max_size=3) if nodes else st.just([])


@st.composite
def _results(draw: st.DrawFn, nodes: list[Node], inner: st.SearchStrategy[Graph]) -> list[Node]:
    """Draw an operation; return the nodes of its results."""
    primal = draw(st.none() | st.sampled_from(nodes)) if nodes else None
    told = (draw(st.none() | sources), draw(st.none() | names), primal)
    if draw(st.booleans()):
        literal, weak = draw(literals()), draw(st.booleans())
        aval = Aval(literal.array.shape, literal.array.dtype, weak)
        # Builder.constant leaves the param out where it is false.
        value = {"value": literal, "weak": True} if weak else {"value": literal}
        return [Node(constant_p, (), value, (aval,), *told)]
    several = draw(st.booleans())
    results = tuple(draw(st.lists(avals, max_size=3))) if several else (draw(avals),)
    given = draw(params(inner)) | {"result": results}
    node = Node(many_p if several else one_p, tuple(draw(_some(nodes))), given, results, *told)
    if not several:
        return [node]
    return [
        Node(project_p, (node,), {"index": index}, (aval,), *told)
        for index, aval in enumerate(results)
    ]


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
    """Return the edges as pairs of node numbers."""
    number = {node: place for place, node in enumerate(graph.nodes)}
    return sorted((number[a], number[node]) for node in graph.nodes for a in node.inputs)
