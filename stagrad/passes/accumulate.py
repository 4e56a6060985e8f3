"""Cotangents of parts gathered in one array, instead of a sum of arrays that are mostly zero."""

from stagrad.ir import Graph, Node
from stagrad.ops.arithmetic import add_p
from stagrad.ops.gather import scatter_add_p
from stagrad.ops.slicing import add_slice_p, set_slice_p, slice_p
from stagrad.passes.parts import read_written
from stagrad.passes.rewrite import Rewriter, known_number, rewrite

_ADDING = {set_slice_p: add_slice_p, add_slice_p: add_slice_p, scatter_add_p: scatter_add_p}


def accumulate(graph: Graph) -> Graph:
    """Return the graph with sums of embedded cotangents turned into additions to a part.

    Only in the backward half, where the zeros around a part stand for "no contribution".
    """
    return rewrite(graph, {add_p: (add_part,), slice_p: (read_written,)})


def add_part(rewriter: Rewriter, node: Node) -> Node | None:
    """x plus zeros that a part is written or added into is x with that part added."""
    if node.primal is None:
        return None
    x, y = node.inputs
    for whole, embedded in ((x, y), (y, x)):
        if not rewriter.single_use(embedded):
            continue
        adding = _ADDING.get(embedded.primitive)
        if adding is not None and known_number(embedded.inputs[0]) == 0:
            return rewriter.make(adding, whole, *embedded.inputs[1:], **embedded.params)
    return None
