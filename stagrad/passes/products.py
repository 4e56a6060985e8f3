"""Products with the identity matrix, which derivatives along a whole basis are full of."""

import numpy as np

from stagrad.ir import Node, constant_p
from stagrad.passes.rewrite import Rewriter

LARGEST_IDENTITY = 1 << 22
"""Elements of a matrix that is looked at: a comparison of this many takes a few milliseconds."""

FEW_STEPS = 12
"""Operations that make an identity matrix, at most."""


def product_with_identity(rewriter: Rewriter, node: Node) -> Node | None:
    """A product with the identity matrix is the other operand."""
    first, second = node.inputs
    if _is_identity(second) and first.aval == node.aval:
        return first
    if _is_identity(first) and second.aval == node.aval:
        return second
    return None


def _is_identity(node: Node) -> bool:
    shape = node.aval.shape
    if len(shape) != 2 or shape[0] != shape[1] or node.aval.size > LARGEST_IDENTITY:
        return False
    value = _known(node)
    return value is not None and np.array_equal(value, np.eye(shape[0]))


def _known(node: Node) -> np.ndarray | None:
    """Return the value of a node that is made of constants in a few steps, None for all others."""
    found = [node]
    for item in found:
        if item.primitive.multiple or len(found) > FEW_STEPS:
            return None
        if not item.inputs and item.primitive is not constant_p:
            return None
        found += item.inputs
    values: dict[Node, np.ndarray] = {}
    for item in reversed(found):
        if item.primitive is constant_p:
            values[item] = item.params["value"].array
        elif item not in values:
            operands = tuple(values[operand] for operand in item.inputs)
            values[item] = item.primitive.evaluate(operands, item.params)
    return values[node]
