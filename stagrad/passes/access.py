"""Seeing through movement: which node holds a node's elements, and how it reads them."""

from dataclasses import dataclass

from stagrad.ir import Graph, Index, Node
from stagrad.ir.index import compose, identity


@dataclass(frozen=True, slots=True)
class Access:
    """Element `i` of a node is element `index(i)` of `base`, whose own access is the identity."""

    base: Node
    index: Index


def accesses(graph: Graph) -> dict[Node, Access]:
    """Return the access of every single-result node.

    Affine movements (broadcasts, transposes, slices, and reshapes that add or drop axes of extent
    one) read their operand's base; every other node is a base of its own.
    """
    found: dict[Node, Access] = {}
    for node in graph.nodes:
        if node.primitive.multiple:
            continue
        index = None
        if node.primitive.access is not None:
            index = node.primitive.access(node.inputs[0].aval, node.params)
        if index is None:
            found[node] = Access(node, identity(node.aval.ndim))
        else:
            below = found[node.inputs[0]]
            found[node] = Access(below.base, compose(below.index, index))
    return found
