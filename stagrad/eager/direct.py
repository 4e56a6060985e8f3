"""The operators that programs are full of, without the generality of `tape.apply`.

What they do is what `apply` does for an operation of two operands that NumPy has as a ufunc.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.eager import tape
from stagrad.eager.modes import is_grad_enabled
from stagrad.eager.node import take_order
from stagrad.eager.recording import anomaly, saved_hooks
from stagrad.eager.saving import Plan, plan_of
from stagrad.eager.tape import PrimitiveNode, edge_of, explain_shapes, finish
from stagrad.ir import Primitive
from stagrad.ops.quiet import restore, silence

_ndarray = np.ndarray
_new = object.__new__

PLAIN = frozenset({int, float, complex, np.ndarray, np.float64, np.float32})
"""Operands beside tensors that need no conversion."""

_MANY_PLANS = 1024


def direct(primitive: Primitive, otherwise: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return the operator of a tensor for an operation; `otherwise` is for unusual operands."""
    ufunc = getattr(np, primitive.name)
    plans: dict[Any, Plan] = {}

    def operator(self: Any, other: Any) -> Any:
        tensor_type = tape.tensor_type
        edge = other_edge = None
        if isinstance(other, tensor_type):
            other_array = other._array
            other_edge = other._edge
            if other_edge is None or other._base is not None:
                other_edge = edge_of(other)
            operand: Any = (other_array.shape, other_array.dtype)
        elif type(other) in PLAIN:
            other_array = other
            operand = (other.shape, other.dtype) if type(other) is _ndarray else type(other)
        else:
            return otherwise(self, other)
        array = self._array
        edge = self._edge
        if edge is None or self._base is not None:
            edge = edge_of(self)
        before = silence()
        try:
            out = ufunc(array, other_array)
        except ValueError:
            explain_shapes((array, other_array))
            raise
        finally:
            restore(before)
        result = _new(tensor_type)
        result._array = out if type(out) is _ndarray else np.asarray(out)
        result._counter = [0]
        if (edge is None and other_edge is None) or not is_grad_enabled():
            result._edge = None
            return result
        key = (edge is None, other_edge is None, array.shape, array.dtype, operand)
        plan = plans.get(key)
        if plan is None:
            if len(plans) >= _MANY_PLANS:
                plans.clear()
            edges = (edge, other_edge)
            plan = plans[key] = _plan(primitive, array, other_array, result._array, edges)
        node: Any = _new(PrimitiveNode)
        node.plan = plan
        if plan.kept_any:
            node.saved, node.checks = _kept(plan, self, other)
        else:
            node.saved, node.checks = plan.stand_ins, ()
        node.edges = (edge, other_edge) if edge and other_edge else (edge or other_edge,)
        node.order = take_order()
        if anomaly.get() or saved_hooks.get():
            finish(node)
        result._edge = (node, 0)
        return result

    return operator


def _plan(primitive: Primitive, array: Any, other: Any, out: Any, edges: tuple[Any, Any]) -> Plan:
    positions = tuple(place for place, edge in enumerate(edges) if edge is not None)
    return plan_of(primitive, {}, (array, other), out, positions)


def _kept(plan: Plan, self: Any, other: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """Return what a node saves, and the versions of it that it checks."""
    _, keeps, keeps_other = plan.kept
    out, place, other_place = plan.stand_ins
    checks = []
    if keeps:
        place = self._array
        counter = self._counter
        checks.append((counter, counter[0]))
    if keeps_other:
        if isinstance(other, tape.tensor_type):
            other_place = other._array
            counter = other._counter
            checks.append((counter, counter[0]))
        else:
            other_place = other
    return (out, place, other_place), checks
