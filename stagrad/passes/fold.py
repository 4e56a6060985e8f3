"""Constant folding: what depends on constants alone is computed while compiling."""

import numpy as np

from stagrad.ir import Graph, Kind, Literal, Node, constant_p
from stagrad.passes.rewrite import Rewriter, known_array, rewrite

FOLDED_ELEMENTS = 1024
"""Largest result that is folded: what saves a microsecond must not cost megabytes of source."""


def fold(graph: Graph) -> Graph:
    """Return the graph with operations on constants replaced by their results."""
    return rewrite(graph, {}, (fold_constant,))


def fold_constant(rewriter: Rewriter, node: Node) -> Node | None:
    """Evaluate an operation whose operands are all constants, with NumPy, as at run time.

    An array made of one number is not evaluated: as an operation it costs less than as a constant.
    """
    primitive = node.primitive
    if not node.inputs or primitive.multiple or primitive.kind in (Kind.LEAF, Kind.CONTROL):
        return None
    values = [known_array(operand) for operand in node.inputs]
    if any(value is None for value in values):
        return None
    if node.aval.size > FOLDED_ELEMENTS:
        return None
    arrays = [operand for operand in node.inputs if operand.primitive is constant_p]
    if node.aval.shape and not any(operand.aval.shape for operand in arrays):
        return None
    with np.errstate(all="ignore"):
        result = primitive.evaluate(tuple(values), node.params)
    array = np.asarray(result, dtype=node.aval.dtype).reshape(node.aval.shape)
    return rewriter.builder.constant(Literal(array), weak=node.aval.weak)
