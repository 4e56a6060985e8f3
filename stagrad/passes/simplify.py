"""Local algebra that never changes a result: not NaN, not infinity, not the sign of zero.

Three liberties are taken. Sums of equal numbers become products, which round once instead of often.
In the backward half the zero that a masked product gives may change its sign. And a product with
the identity matrix is the other operand, where infinities times its zeros would be NaN.
"""

import math
from typing import Any

import numpy as np

from stagrad.ir import Graph, Kind, Node
from stagrad.ops.arithmetic import (
    add_p,
    divide_p,
    multiply_p,
    negative_p,
    positive_p,
    subtract_p,
)
from stagrad.ops.contraction import matmul_p
from stagrad.ops.floating import stop_gradient_p
from stagrad.ops.movement import astype_p, broadcast_to_p, reshape_p, transpose_p
from stagrad.ops.reduction import sum_p
from stagrad.ops.selection import maximum_p, minimum_p, where_p
from stagrad.ops.slicing import pad_p, set_slice_p, slice_p
from stagrad.passes.fold import fold_constant
from stagrad.passes.parts import read_written
from stagrad.passes.products import product_with_identity
from stagrad.passes.rewrite import Rewriter, Rule, known_number, rewrite

_REAL = "iuf"


def simplify(graph: Graph) -> Graph:
    """Return the graph with redundant arithmetic, casts and movement removed, constants folded."""
    return rewrite(graph, RULES, (fold_constant, shrink_broadcast))


def _is(node: Node, number: float) -> bool:
    """Say whether every element is that number, signs of zero included."""
    value = known_number(node)
    return bool(value is not None and value == number and np.signbit(value) == np.signbit(number))


def multiply_by_one(rewriter: Rewriter, node: Node) -> Node | None:
    """x * 1 is x, and x * -1 is -x, but for complex numbers with infinite parts."""
    x, y = node.inputs
    if node.aval.dtype.kind in _REAL:
        for value, factor in ((x, y), (y, x)):
            if _is(factor, 1):
                return value
            if node.aval.dtype.kind != "u" and _is(factor, -1):
                return rewriter.make(negative_p, value)
    return None


def multiply_negatives(rewriter: Rewriter, node: Node) -> Node | None:
    """(-x) * (-y) is x * y."""
    x, y = node.inputs
    if x.primitive is negative_p and y.primitive is negative_p:
        return rewriter.make(multiply_p, x.inputs[0], y.inputs[0])
    return None


def merge_factors(rewriter: Rewriter, node: Node) -> Node | None:
    """3 * (2 * x) is 6 * x, where the inner factor is a power of two and neither makes x smaller.

    The inner product then only moves the exponent, and overflows only if the whole does.
    """
    for product, outer in (node.inputs, node.inputs[::-1]):
        large = known_number(outer)
        if large is None or product.primitive is not multiply_p or node.aval.dtype.kind != "f":
            continue
        for value, inner in (product.inputs, product.inputs[::-1]):
            small = known_number(inner)
            if small is not None and abs(large) >= 1 and small >= 1 and math.log2(small) % 1 == 0:
                return rewriter.make(multiply_p, rewriter.make(multiply_p, outer, inner), value)
    return None


def divide_by_one(rewriter: Rewriter, node: Node) -> Node | None:
    """x / 1 is x, but for complex numbers with infinite parts."""
    return node.inputs[0] if node.aval.dtype.kind == "f" and _is(node.inputs[1], 1) else None


def negate_negative(rewriter: Rewriter, node: Node) -> Node | None:
    """-(-x) is x."""
    operand = node.inputs[0]
    return operand.inputs[0] if operand.primitive is negative_p else None


def add_negative(rewriter: Rewriter, node: Node) -> Node | None:
    """x + (-y) is x - y, and x + 0 is x where that is no loss: 0.0 + -0.0 is 0.0."""
    x, y = node.inputs
    zero = -0.0 if node.aval.dtype.kind == "f" else 0
    for value, other in ((x, y), (y, x)):
        if node.aval.dtype.kind in _REAL and _is(other, zero):
            return value
    if y.primitive is negative_p and y.aval.dtype.kind != "b":
        return rewriter.make(subtract_p, x, y.inputs[0])
    if x.primitive is negative_p and x.aval.dtype.kind != "b":
        return rewriter.make(subtract_p, y, x.inputs[0])
    return None


def subtract_negative(rewriter: Rewriter, node: Node) -> Node | None:
    """x - (-y) is x + y, and x - 0 is x."""
    x, y = node.inputs
    if node.aval.dtype.kind in _REAL and _is(y, 0):
        return x
    if y.primitive is negative_p:
        return rewriter.make(add_p, x, y.inputs[0])
    return None


def drop_copy(rewriter: Rewriter, node: Node) -> Node | None:
    """+x is x, and a value without gradient is the value: differentiation is over by now."""
    return node.inputs[0]


def pull_negative(rewriter: Rewriter, node: Node) -> Node | None:
    """(-x) * y is -(x * y), and the same for quotients: the sign may meet another one outside."""
    if node.aval.dtype.kind in _REAL and sum(i.primitive is negative_p for i in node.inputs) == 1:
        bare = [i.inputs[0] if i.primitive is negative_p else i for i in node.inputs]
        return rewriter.make(negative_p, rewriter.make(node.primitive, *bare))
    return None


def negate_constant(rewriter: Rewriter, node: Node) -> Node | None:
    """-(x * 2) is x * -2."""
    product = node.inputs[0]
    if (
        product.primitive is multiply_p
        and product.aval.dtype.kind == "f"
        and rewriter.single_use(product)
    ):
        for value, factor in (product.inputs, product.inputs[::-1]):
            if known_number(factor) is not None:
                return rewriter.make(multiply_p, rewriter.make(negative_p, factor), value)
    return None


def sum_negative(rewriter: Rewriter, node: Node) -> Node | None:
    """The sum of -x is minus the sum of x, but for an empty one."""
    operand = node.inputs[0]
    if operand.primitive is negative_p and operand.aval.size and operand.aval.dtype.kind in "if":
        return rewriter.make(negative_p, rewriter.make(sum_p, operand.inputs[0], **node.params))
    return None


def maximum_of_infinity(rewriter: Rewriter, node: Node) -> Node | None:
    """The larger of x and -inf is x, and so is the smaller of x and inf."""
    limit = -math.inf if node.primitive is maximum_p else math.inf
    for value, other in (node.inputs, node.inputs[::-1]):
        if known_number(other) == limit and node.aval.dtype.kind == "f":
            return value
    return None


def where_known(rewriter: Rewriter, node: Node) -> Node | None:
    """A selection by a known condition, or between equal values, is one of them."""
    condition, x, y = node.inputs
    known = known_number(condition)
    if known is not None:
        return x if known else y
    return x if x is y else None


def merge_casts(rewriter: Rewriter, node: Node) -> Node | None:
    """A cast of a cast is one cast where the first one loses nothing; a cast to itself is none."""
    operand = node.inputs[0]
    if operand.aval == node.aval:
        return operand
    if operand.primitive is astype_p and _is_exact(
        operand.inputs[0].aval.dtype, operand.aval.dtype
    ):
        return _cast(rewriter, operand.inputs[0], node)
    return None


def _cast(rewriter: Rewriter, operand: Node, node: Node) -> Node:
    return operand if operand.aval == node.aval else rewriter.make(astype_p, operand, **node.params)


def _is_exact(given: np.dtype, wanted: np.dtype) -> bool:
    """Say whether every number of one dtype is one of another, too."""
    if given.kind in "iu" and given.itemsize == 8 and wanted.kind in "fc":
        return False
    return np.can_cast(given, wanted, "safe")


def merge_broadcasts(rewriter: Rewriter, node: Node) -> Node | None:
    """A broadcast of a broadcast, or of a number under another shape, is one broadcast."""
    operand = node.inputs[0]
    if operand.aval == node.aval:
        return operand
    if operand.primitive is broadcast_to_p or (
        operand.primitive is reshape_p and not operand.inputs[0].aval.shape
    ):
        return rewriter.make(broadcast_to_p, operand.inputs[0], **node.params)
    return None


def merge_reshapes(rewriter: Rewriter, node: Node) -> Node | None:
    """A reshape of a reshape is one reshape, of a repeated number a broadcast."""
    operand = node.inputs[0]
    if operand.aval == node.aval:
        return operand
    if operand.primitive is reshape_p:
        inner = operand.inputs[0]
        return inner if inner.aval == node.aval else rewriter.make(reshape_p, inner, **node.params)
    if operand.primitive is broadcast_to_p and not operand.inputs[0].aval.shape:
        return rewriter.make(broadcast_to_p, operand.inputs[0], shape=node.aval.shape)
    return None


def merge_transposes(rewriter: Rewriter, node: Node) -> Node | None:
    """A transpose of a transpose is one transpose, or none."""
    axes = node.params["axes"]
    operand = node.inputs[0]
    if axes == tuple(range(len(axes))):
        return operand
    if operand.primitive is transpose_p:
        inner = operand.params["axes"]
        merged = tuple(inner[axis] for axis in axes)
        return rewriter.make(transpose_p, operand.inputs[0], axes=merged)
    if operand.primitive is broadcast_to_p and not operand.inputs[0].aval.shape:
        return rewriter.make(broadcast_to_p, operand.inputs[0], shape=node.aval.shape)
    return None


def write_part(rewriter: Rewriter, node: Node) -> Node | None:
    """Zeros around a value are zeros with the value written into them, which is done in place."""
    zero = rewriter.constant(0, node.inputs[0].aval)
    zeros = rewriter.make(broadcast_to_p, zero, shape=node.aval.shape)
    return rewriter.make(set_slice_p, zeros, node.inputs[0], region=node.params["region"])


def slice_number(rewriter: Rewriter, node: Node) -> Node | None:
    """A part of a repeated number is that number, repeated less often."""
    operand = node.inputs[0]
    if operand.primitive is broadcast_to_p and not operand.inputs[0].aval.shape:
        number = operand.inputs[0]
        shape = node.aval.shape
        return rewriter.make(broadcast_to_p, number, shape=shape) if shape else number
    return None


def sum_repeated(rewriter: Rewriter, node: Node) -> Node | None:
    """The sum of n equal numbers is n times the number, which is also the more accurate."""
    operand = node.inputs[0]
    if operand.primitive is not broadcast_to_p or operand.aval.size == 0:
        return None
    source = operand.inputs[0]
    shape, axis = operand.aval.shape, node.params["axis"]
    added = len(shape) - source.aval.ndim
    repeated = [
        place
        for place in axis
        if place < added or (source.aval.shape[place - added] == 1 and shape[place] != 1)
    ]
    count = math.prod(shape[place] for place in repeated)
    if not repeated or not _represents(node.aval.dtype, count):
        return None
    rest = tuple(place - added for place in axis if place >= added)
    value = rewriter.make(sum_p, source, axis=rest) if rest else source
    if value.aval.shape != node.aval.shape:
        value = rewriter.make(broadcast_to_p, value, shape=node.aval.shape)
    factor = rewriter.constant(count, node.aval)
    if node.aval.shape:
        factor = rewriter.make(broadcast_to_p, factor, shape=node.aval.shape)
    return rewriter.make(multiply_p, value, factor)


def _represents(dtype: np.dtype, count: int) -> bool:
    if dtype.kind in "iu":
        return count <= np.iinfo(dtype).max
    return dtype.kind == "f" and count <= 2 ** (np.finfo(dtype).nmant + 1)


def sum_rearranged(rewriter: Rewriter, node: Node) -> Node | None:
    """A total does not ask how its elements are arranged."""
    operand = node.inputs[0]
    if not node.aval.shape and operand.primitive in (reshape_p, transpose_p):
        inner = operand.inputs[0]
        axes = tuple(range(inner.aval.ndim))
        return rewriter.make(sum_p, inner, axis=axes) if axes else None
    return None


def shrink_broadcast(rewriter: Rewriter, node: Node) -> Node | None:
    """An elementwise operation on repeated values alone is computed once, then repeated."""
    if node.primitive.kind is not Kind.ELEMENTWISE or node.primitive.multiple or not node.inputs:
        return None
    if any(operand.primitive is not broadcast_to_p for operand in node.inputs):
        return None
    sources = [operand.inputs[0] for operand in node.inputs]
    shape = max((source.aval.shape for source in sources), key=len)
    if any(source.aval.shape not in ((), shape) for source in sources):
        return None
    small = [
        source if source.aval.shape == shape else rewriter.make(broadcast_to_p, source, shape=shape)
        for source in sources
    ]
    result = rewriter.make(node.primitive, *small, **node.params)
    return rewriter.make(broadcast_to_p, result, shape=node.aval.shape)


RULES: dict[Any, tuple[Rule, ...]] = {
    add_p: (add_negative,),
    subtract_p: (subtract_negative,),
    multiply_p: (multiply_by_one, multiply_negatives, pull_negative, merge_factors),
    divide_p: (divide_by_one, pull_negative),
    negative_p: (negate_negative, negate_constant),
    positive_p: (drop_copy,),
    stop_gradient_p: (drop_copy,),
    maximum_p: (maximum_of_infinity,),
    minimum_p: (maximum_of_infinity,),
    where_p: (where_known,),
    astype_p: (merge_casts,),
    broadcast_to_p: (merge_broadcasts,),
    reshape_p: (merge_reshapes,),
    transpose_p: (merge_transposes,),
    slice_p: (slice_number, read_written),
    pad_p: (write_part,),
    matmul_p: (product_with_identity,),
    sum_p: (sum_repeated, sum_rearranged, sum_negative),
}
