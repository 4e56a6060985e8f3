"""Seeing through movement: which node holds a node's elements, and how it reads them."""

from dataclasses import dataclass

from stagrad.ir import Along, Graph, Index, Kind, Node, Primitive
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


def keeps_numbers(node: Node) -> bool:
    """Say whether a node only moves or repeats its operand's elements."""
    access = node.primitive.access
    if access is None or node.primitive.kind is Kind.MOVEMENT:
        return access is not None
    return access(node.inputs[0].aval, node.params) is not None


def spread_reduction(
    node: Node, reduction: Primitive, through: Primitive | None = None
) -> Node | None:
    """Return the reduction that a node repeats over the very axes it folded, None if it is none.

    An elementwise operation `through` may come between the two.
    """
    shape = node.aval.shape
    index = identity(len(shape))
    while node.primitive is through or node.primitive.access is not None:
        if node.primitive.access is not None:
            access = node.primitive.access(node.inputs[0].aval, node.params)
            if access is None:
                return None
            index = compose(access, index)
        node = node.inputs[0]
    if node.primitive is not reduction or node.inputs[0].aval.shape != shape:
        return None
    kept = [axis for axis in range(len(shape)) if axis not in node.params["axis"]]
    for entry, axis in zip(index, kept, strict=True):
        if entry != Along(axis) and shape[axis] != 1:
            return None
    return node
