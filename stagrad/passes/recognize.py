"""Recognising what people spell out, before differentiation: value and derivatives in stable form.

- log(1 + exp(x)) and log1p(exp(x)): softplus; 1 / (1 + exp(-x)) and exp(x) / (1 + exp(x)): the
  logistic function; the logarithms of that and of what it leaves to one: softplus again.
- exp(x) / sum(exp(x)), with x shifted by its maximum or not: softmax; its logarithm.
- log(sum(exp(x))), log(exp(x) + exp(y)): logsumexp. Where the maximum m is taken off by hand, as in
  m + log(sum(exp(x - m))) and x - m - log(sum(exp(x - m))), it is no longer differentiated: its
  derivative cancels.
- sqrt(sum(x**2)), over any sum of squares: the same number, with the slope of a norm at zero; and
  the square of that is the sum again.
- v g(w) vᴴ of eigenvalues w and eigenvectors v: a function of the matrix, smooth where w repeats.

Spelled out, the first three overflow where the result does not, and the fourth has the slope
inf * 0; the vectors of the last have no derivative where eigenvalues are equal.
"""

from typing import Any

from stagrad.ir import Graph, Node
from stagrad.ops.arithmetic import (
    add_p,
    divide_p,
    equal_p,
    multiply_p,
    negative_p,
    reciprocal_p,
    subtract_p,
)
from stagrad.ops.contraction import matmul_p
from stagrad.ops.exponential import (
    exp,
    exp_p,
    expit_p,
    log,
    log1p_p,
    log_p,
    logaddexp_p,
    softplus_p,
)
from stagrad.ops.floating import stop_gradient, stop_gradient_p
from stagrad.ops.movement import broadcast_to_p, reshape, reshape_p
from stagrad.ops.normalizing import logsumexp, softmax
from stagrad.ops.power import integer_power_p, power_p, sqrt_p, square_p
from stagrad.ops.reduction import max_p, sum, sum_p
from stagrad.ops.selection import where_p
from stagrad.ops.statistics import root
from stagrad.passes.access import spread_reduction
from stagrad.passes.rewrite import Rewriter, Rule, known_number, rewrite
from stagrad.passes.spectral import hermitian_function_of_product

SQUARES_DEPTH = 8
"""How many operations below a root are searched for squares."""


def recognize(graph: Graph) -> Graph:
    """Return the graph with spelled-out compositions in their stable form.

    To be run on a traced graph before `reverse`, so that the derivatives are stable too.
    """
    return rewrite(graph, RULES)


def _is_one(node: Node) -> bool:
    return bool(known_number(node) == 1)


def _power_beside_one(node: Node) -> Node | None:
    """Return x of 1 + exp(x) or exp(x) + 1."""
    if node.primitive is add_p and node.aval.dtype.kind == "f":
        for one, other in (node.inputs, node.inputs[::-1]):
            if other.primitive is exp_p and _is_one(one):
                return other.inputs[0]
    return None


def softplus_of_log(rewriter: Rewriter, node: Node) -> Node | None:
    """log(1 + exp(x)) is softplus(x)."""
    x = _power_beside_one(node.inputs[0])
    return None if x is None else rewriter.make(softplus_p, x)


def softplus_of_log1p(rewriter: Rewriter, node: Node) -> Node | None:
    """log1p(exp(x)) is softplus(x), and log1p(-expit(x)) is -softplus(x)."""
    operand = node.inputs[0]
    if operand.primitive is exp_p and operand.aval.dtype.kind == "f":
        return rewriter.make(softplus_p, operand.inputs[0])
    if operand.primitive is negative_p and operand.inputs[0].primitive is expit_p:
        return _minus_softplus(rewriter, operand.inputs[0].inputs[0])
    return None


def _minus_softplus(rewriter: Rewriter, x: Node) -> Node:
    return rewriter.make(negative_p, rewriter.make(softplus_p, x))


def log_of_expit(rewriter: Rewriter, node: Node) -> Node | None:
    """log(expit(x)) is -softplus(-x), and log(1 - expit(x)) is -softplus(x)."""
    operand = node.inputs[0]
    if operand.primitive is expit_p:
        return _minus_softplus(rewriter, _negated(rewriter, operand.inputs[0]))
    if operand.primitive is subtract_p:
        one, power = operand.inputs
        if power.primitive is expit_p and _is_one(one):
            return _minus_softplus(rewriter, power.inputs[0])
    return None


def _negated(rewriter: Rewriter, x: Node) -> Node:
    return x.inputs[0] if x.primitive is negative_p else rewriter.make(negative_p, x)


def expit_of_quotient(rewriter: Rewriter, node: Node) -> Node | None:
    """1 / (1 + exp(x)) is expit(-x), and exp(x) / (1 + exp(x)) is expit(x)."""
    numerator, denominator = node.inputs
    x = _power_beside_one(denominator)
    if x is None:
        return None
    if _is_one(numerator):
        return rewriter.make(expit_p, _negated(rewriter, x))
    if numerator.primitive is exp_p and numerator.inputs[0] is x:
        return rewriter.make(expit_p, x)
    return None


def expit_of_reciprocal(rewriter: Rewriter, node: Node) -> Node | None:
    """The reciprocal of 1 + exp(x) is expit(-x)."""
    x = _power_beside_one(node.inputs[0])
    return None if x is None else rewriter.make(expit_p, _negated(rewriter, x))


def _is_shifted(x: Node) -> bool:
    """Say whether a value regarded as a constant was taken off, as the stable forms do."""
    if x.primitive is not subtract_p:
        return False
    shift = x.inputs[1]
    while shift.primitive in (broadcast_to_p, reshape_p):
        shift = shift.inputs[0]
    return shift.primitive is stop_gradient_p


def _unshifted(x: Node, axes: tuple[int, ...]) -> Node:
    """Return x of x - max(x), x being taken over the same axes; anything else as it is."""
    if x.primitive is subtract_p:
        bare, shift = x.inputs
        largest = spread_reduction(shift, max_p, stop_gradient_p)
        if largest is not None and largest.inputs[0] is bare and largest.params["axis"] == axes:
            return bare
    return x


def _softmax_total(node: Node) -> Node | None:
    """Return the sum of exp(x) / sum(exp(x))."""
    power = node.inputs[0]
    if node.primitive is divide_p and node.aval.dtype.kind == "f" and power.primitive is exp_p:
        total = spread_reduction(node.inputs[1], sum_p)
        if total is not None and total.inputs[0] is power:
            return total
    return None


def softmax_of_quotient(rewriter: Rewriter, node: Node) -> Node | None:
    """exp(x) / sum(exp(x)) is softmax(x), which takes off the maximum."""
    total = _softmax_total(node)
    x = node.inputs[0].inputs[0] if total is not None else None
    if total is None or x is None or _is_shifted(x):
        return None
    axes = total.params["axis"]
    return rewriter.apply(lambda x: softmax(x, axis=axes), _unshifted(x, axes))


def log_of_softmax(rewriter: Rewriter, node: Node) -> Node | None:
    """log(exp(x) / sum(exp(x))) is x - log(sum(exp(x))), finite where the quotient is zero."""
    quotient = node.inputs[0]
    if not quotient.inputs or _softmax_total(quotient) is None:
        return None
    power, total = quotient.inputs
    return rewriter.make(subtract_p, power.inputs[0], rewriter.make(log_p, total))


def logsumexp_of_log(rewriter: Rewriter, node: Node) -> Node | None:
    """log(sum(exp(x))) is logsumexp(x), unless x has its maximum taken off already."""
    total = node.inputs[0]
    if total.primitive is reshape_p:
        total = total.inputs[0]
    if total.primitive is not sum_p or total.inputs[0].primitive is not exp_p:
        return None
    x, axes = total.inputs[0].inputs[0], total.params["axis"]
    if x.aval.dtype.kind != "f" or _is_shifted(x) or _unshifted(x, axes) is not x:
        return None
    return _logsumexp(rewriter, x, axes, node.aval.shape)


def log_softmax_of_difference(rewriter: Rewriter, node: Node) -> Node | None:
    """z - log(sum(exp(z))) with z = x - max(x) does not depend on the maximum."""
    shifted, logarithm = node.inputs
    total = spread_reduction(logarithm, sum_p, log_p)
    if total is None or not _is_exp_of(total.inputs[0], shifted):
        return None
    axes = total.params["axis"]
    x = _unshifted(shifted, axes)
    if x is shifted or _is_shifted(shifted):
        return None

    def log_softmax(x: Any, shift: Any) -> Any:
        level = x - stop_gradient(shift)
        return level - log(sum(exp(level), axis=axes, keepdims=True))

    return rewriter.apply(log_softmax, x, shifted.inputs[1])


def logsumexp_of_shifted(rewriter: Rewriter, node: Node) -> Node | None:
    """m + log(sum(exp(x - m))) with m = max(x) is logsumexp(x)."""
    for shift, logarithm in (node.inputs, node.inputs[::-1]):
        largest, inner = _reshaped(shift), _reshaped(logarithm)
        if largest.primitive is not max_p or inner.primitive is not log_p:
            continue
        total = _reshaped(inner.inputs[0])
        x, axes = largest.inputs[0], largest.params["axis"]
        if total.primitive is not sum_p or total.params["axis"] != axes:
            continue
        power = total.inputs[0]
        if power.primitive is exp_p and _unshifted(power.inputs[0], axes) is x:
            return _logsumexp(rewriter, x, axes, node.aval.shape)
    return None


def _logsumexp(rewriter: Rewriter, x: Node, axes: tuple[int, ...], shape: tuple[int, ...]) -> Node:
    return rewriter.apply(lambda x: reshape(logsumexp(x, axis=axes), shape), x)


def _is_exp_of(node: Node, x: Node) -> bool:
    return node.primitive is exp_p and node.inputs[0] is x


def _reshaped(node: Node) -> Node:
    while node.primitive is reshape_p:
        node = node.inputs[0]
    return node


def logaddexp_of_log(rewriter: Rewriter, node: Node) -> Node | None:
    """log(exp(x) + exp(y)) is logaddexp(x, y)."""
    total = node.inputs[0]
    if total.primitive is not add_p or total.aval.dtype.kind != "f":
        return None
    if any(operand.primitive is not exp_p for operand in total.inputs):
        return None
    return rewriter.make(logaddexp_p, *(operand.inputs[0] for operand in total.inputs))


def norm_of_root(rewriter: Rewriter, node: Node) -> Node | None:
    """The square root of a sum of squares is the same number with slope zero at zero."""
    operand = node.inputs[0]
    if node.primitive is power_p and known_number(node.inputs[1]) != 0.5:
        return None
    if operand.aval.dtype.kind != "f" or not _is_sum_of_squares(operand):
        return None
    readers = rewriter.readers()
    if readers and all(reader.primitive is where_p for reader in readers):
        return None  # somebody has chosen a value at zero already
    return rewriter.apply(root, operand)


def _is_sum_of_squares(node: Node) -> bool:
    """Say whether a value is a sum of squares, perhaps times a positive number."""
    waiting = [node]
    for _ in range(SQUARES_DEPTH):
        if not waiting:
            return True
        node = waiting.pop()
        primitive = node.primitive
        if primitive in (sum_p, reshape_p, broadcast_to_p):
            waiting.append(node.inputs[0])
        elif primitive is add_p:
            waiting += node.inputs
        elif primitive in (multiply_p, divide_p) and (known_number(node.inputs[1]) or 0) > 0:
            waiting.append(node.inputs[0])
        elif primitive is multiply_p and (known_number(node.inputs[0]) or 0) > 0:
            waiting.append(node.inputs[1])
        elif primitive is matmul_p:
            left, right = map(_vector, node.inputs)
            if left is not right or left.aval.size != node.inputs[0].aval.shape[-1]:
                return False
        elif primitive is multiply_p:
            if node.inputs[0] is not node.inputs[1]:
                return False
        elif primitive is not square_p:
            return False
    return not waiting


def sum_of_squared_root(rewriter: Rewriter, node: Node) -> Node | None:
    """The square of the root of a sum of squares is the sum, which is smooth at zero."""
    base = node.inputs[0]
    if node.primitive is multiply_p and node.inputs[1] is not base:
        return None
    if node.primitive is integer_power_p and node.params["exponent"] != 2:
        return None
    if base.primitive is not where_p or base.inputs[2].primitive is not sqrt_p:
        return None
    operand = base.inputs[2].inputs[0]
    condition, zero = base.inputs[:2]
    at_zero = condition.primitive is equal_p and condition.inputs[0] is operand
    if not at_zero or known_number(condition.inputs[1]) != 0 or known_number(zero) != 0:
        return None
    return operand if _is_sum_of_squares(operand) else None


def _vector(node: Node) -> Node:
    """Return the vector that a matrix of one row or column is made of, else the node itself."""
    return node.inputs[0] if node.primitive is reshape_p else node


RULES: dict[Any, tuple[Rule, ...]] = {
    log_p: (softplus_of_log, log_of_expit, log_of_softmax, logsumexp_of_log, logaddexp_of_log),
    log1p_p: (softplus_of_log1p,),
    divide_p: (expit_of_quotient, softmax_of_quotient),
    reciprocal_p: (expit_of_reciprocal,),
    subtract_p: (log_softmax_of_difference,),
    add_p: (logsumexp_of_shifted,),
    sqrt_p: (norm_of_root,),
    power_p: (norm_of_root,),
    square_p: (sum_of_squared_root,),
    multiply_p: (sum_of_squared_root,),
    integer_power_p: (sum_of_squared_root,),
    matmul_p: (hermitian_function_of_product,),
}
