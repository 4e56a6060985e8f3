"""Deriving what holds for every element of a node from what holds for its operands."""

import numpy as np

from stagrad.ir import Aval, Kind, Node, constant_p, input_p, is_inexact
from stagrad.ir.facts import Facts, one_of, regular, regular_nonnegative
from stagrad.ops.arithmetic import multiply_p, subtract_p
from stagrad.ops.exponential import level_difference_p
from stagrad.ops.floating import stop_gradient_p
from stagrad.ops.reduction import max_p
from stagrad.passes.access import spread_reduction

_DIFFERENCES = (subtract_p, level_difference_p)
_REGULAR = (Kind.MOVEMENT, Kind.REDUCTION, Kind.CONTRACTION, Kind.INDEXING)


class KnownFacts:
    """The facts of nodes, each derived once; inputs of the graph are taken to be finite."""

    def __init__(self) -> None:
        self._known: dict[Node, Facts] = {}

    def of(self, node: Node) -> Facts:
        """Return the facts of a node. Does not recurse."""
        stack = [node]
        while stack:
            top = stack[-1]
            missing = [operand for operand in top.inputs if operand not in self._known]
            if missing:
                stack += missing
                continue
            stack.pop()
            if top not in self._known:
                self._known[top] = self._derive(top)
        return self._known[node]

    def _derive(self, node: Node) -> Facts:
        if node.primitive.multiple:
            return Facts()
        if node.primitive is constant_p:
            return _of_array(node.params["value"].array)
        if node.primitive is input_p or not is_inexact(node.aval):
            return Facts(finite=True)
        facts = _by_rule(node, tuple(self._known[operand] for operand in node.inputs))
        return _without_signs(facts) if _is_complex(node.aval) else facts


def _by_rule(node: Node, operands: tuple[Facts, ...]) -> Facts:
    primitive = node.primitive
    if primitive in _DIFFERENCES and _is_maximum_of(node.inputs[1], node.inputs[0]):
        return Facts(operands[0].finite, nonpositive=True)
    if primitive is multiply_p and node.inputs[0] is node.inputs[1]:
        return regular_nonnegative(*operands)
    if primitive.facts is not None:
        return primitive.facts(*operands, **node.params)
    if primitive.access is not None:
        return one_of(*operands)
    return regular(*operands) if primitive.kind in _REGULAR else Facts()


def _is_maximum_of(node: Node, values: Node) -> bool:
    """Say whether a node holds beside each value the largest of a group it is in."""
    largest = spread_reduction(node, max_p, stop_gradient_p)
    return largest is not None and largest.inputs[0] is values


def _of_array(array: np.ndarray) -> Facts:
    finite = bool(np.isfinite(array).all())
    if array.dtype.kind == "c":
        return Facts(finite, nonzero=bool((array != 0).all()))
    return Facts(
        finite,
        nonnegative=bool((array >= 0).all()),
        nonpositive=bool((array <= 0).all()),
        nonzero=bool((array != 0).all()),
    )


def _is_complex(aval: Aval) -> bool:
    return aval.dtype.kind == "c"


def _without_signs(facts: Facts) -> Facts:
    return Facts(finite=facts.finite, nonzero=facts.nonzero)
