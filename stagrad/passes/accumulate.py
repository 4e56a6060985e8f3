"""Cotangents of parts gathered in one array, instead of a sum of arrays that are mostly zero."""

from stagrad.ir import Graph, Node
from stagrad.ops.arithmetic import add_p
from stagrad.ops.gather import scatter_add_p
from stagrad.ops.slicing import add_slice_p, pad_p
from stagrad.passes.rewrite import Rewriter, known_number, rewrite


def accumulate(graph: Graph) -> Graph:
    """Return the graph with sums of embedded cotangents turned into additions to a part.

    Only in the backward half, where the zeros around a part stand for "no contribution".
    """
    return rewrite(graph, {add_p: (add_part,)})


def add_part(rewriter: Rewriter, node: Node) -> Node | None:
    """x + pad(part) adds the part to a region of x; x + scatter_add(0, part) to places of x."""
    if node.primal is None:
        return None
    x, y = node.inputs
    for whole, embedded in ((x, y), (y, x)):
        if not rewriter.single_use(embedded):
            continue
        if embedded.primitive is pad_p:
            region = embedded.params["region"]
            return rewriter.make(add_slice_p, whole, embedded.inputs[0], region=region)
        if embedded.primitive is scatter_add_p and known_number(embedded.inputs[0]) == 0:
            return rewriter.make(scatter_add_p, whole, *embedded.inputs[1:], **embedded.params)
    return None
