"""Reverse mode: from a graph to the graph of its values and cotangents.

Rules run on traced values, so the result is a graph again and the pass applies to its own output.
Inside, cotangents pair bilinearly (no conjugates): a holomorphic rule reads like a real one. At the
border complex cotangents are conjugated, going in and coming out, which makes the gradient of a
real loss df/dRe + i df/dIm (docs/conventions.md).
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from stagrad.errors import DerivativeError
from stagrad.ir import (
    NOT_DIFFERENTIABLE,
    ZERO,
    Aval,
    Builder,
    Graph,
    Node,
    is_inexact,
    project_p,
)
from stagrad.ir.graph import next_serial
from stagrad.trace import Trace, Tracer


def reverse(
    graph: Graph,
    wrt: Sequence[int],
    of: Sequence[int] | None = None,
    *,
    bilinear: bool = False,
) -> Graph:
    """Return the graph with cotangents: inputs plus seeds to outputs plus cotangents.

    `wrt` are positions of inputs, `of` positions of the outputs that get a seed (default: every
    float or complex output). The result takes the graph's inputs, then one seed per position in
    `of`, with that output's aval; it returns the graph's outputs, then one cotangent per position
    in `wrt`, with that input's shape and dtype (zeros where nothing depends on it). With `bilinear`
    nothing is conjugated at the border.

    Raises DerivativeError when an operation between them has no derivative.
    """
    if of is None:
        of = [place for place, node in enumerate(graph.outputs) if is_inexact(node.aval)]
    targets = [graph.inputs[position] for position in wrt]
    builder = Builder()
    builder.adopt(graph.nodes)
    with Trace(builder, located=False) as trace:
        seeds = [trace.input(_strong(graph.outputs[place].aval), f"ct{place}") for place in of]
        cotangents = Cotangents(trace)
        for place, seed in zip(of, seeds, strict=True):
            cotangents.add(graph.outputs[place], seed if bilinear else _conjugate(seed))
        _sweep(graph, cotangents, active_nodes(graph, targets))
        gradients = [cotangents.take_or_zeros(node) for node in targets]
        if not bilinear:
            gradients = [_conjugate(gradient) for gradient in gradients]
    inputs = (*graph.inputs, *(seed.node for seed in seeds))
    cotangent_nodes = (gradient.node for gradient in gradients)
    joint = builder.graph(inputs, (*graph.outputs, *cotangent_nodes))
    return _named(joint, [node.name for node in targets])


def _named(graph: Graph, names: Sequence[str | None]) -> Graph:
    """Name the last results, where they are nothing else, after the inputs they differentiate."""
    first = len(graph.outputs) - len(names)
    outputs = list(graph.outputs)
    counts = Counter(outputs)
    for place, name in enumerate(names, first):
        node = outputs[place]
        alone = counts[node] == 1 and not graph.users[node] and node not in graph.inputs
        if alone and name is not None and node.name is None:
            outputs[place] = dataclasses.replace(node, name=f"{name}_grad", serial=next_serial())
    return Graph(graph.inputs, outputs)


def active_nodes(graph: Graph, targets: Iterable[Node]) -> set[Node]:
    """Return the nodes whose value varies smoothly with a target."""
    active = set(targets)
    for node in graph.nodes:
        if any(operand in active for operand in node.inputs) and any(
            np.issubdtype(aval.dtype, np.inexact) for aval in node.avals
        ):
            active.add(node)
    return active


class Cotangents:
    """The cotangents gathered so far, summed per node; a node that is absent has cotangent zero."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._sums: dict[Node, Any] = {}

    def add(self, node: Node, cotangent: Any) -> None:
        """Add one contribution to the cotangent of a node."""
        known = self._sums.get(node)
        self._sums[node] = cotangent if known is None else known + cotangent

    def take(self, node: Node) -> Any:
        """Remove and return the cotangent of a node, None when it is zero."""
        return self._sums.pop(node, None)

    def take_or_zeros(self, node: Node) -> Tracer:
        """Return the cotangent of an input as an array of its shape and dtype."""
        cotangent = self._sums.get(node)
        if cotangent is None:
            from stagrad.ops.movement import broadcast_to

            zero = self.trace.lift(node.aval.dtype.type(0))
            return broadcast_to(zero, node.aval.shape)  # type: ignore[no-any-return]
        return self.trace.lift(cotangent)


def _sweep(graph: Graph, cotangents: Cotangents, active: set[Node]) -> None:
    """Walk the graph backwards, handing each active node's cotangent to its operands."""
    trace = cotangents.trace
    parts: dict[Node, list[Any]] = {}
    for node in reversed(graph.nodes):
        if node not in active or not node.inputs:
            continue
        if node.primitive.multiple:
            cotangent: Any = parts.pop(node, None)
        else:
            cotangent = cotangents.take(node)
        if cotangent is None:
            continue
        trace.primal = node
        if node.primitive is project_p:
            whole = node.inputs[0]
            slots = parts.setdefault(whole, [None] * len(whole.avals))
            slots[node.params["index"]] = cotangent
            continue
        _pull(node, cotangent, cotangents, active)


def _pull(node: Node, cotangent: Any, cotangents: Cotangents, active: set[Node]) -> None:
    """Apply a node's derivative rules to its cotangent."""
    trace = cotangents.trace
    primals = [Tracer(trace, operand) for operand in node.inputs]
    out: Any
    if node.primitive.multiple:
        out = tuple(
            Tracer(trace, trace.builder.add(project_p, (node,), {"index": index}))
            for index in range(len(node.avals))
        )
    else:
        out = Tracer(trace, node)
    for position, operand in enumerate(node.inputs):
        if operand not in active:
            continue
        rule = rule_of(node, position)
        if rule is ZERO:
            continue
        if rule is NOT_DIFFERENTIABLE:
            raise underivable(node, position)
        result = rule(cotangent, out, *primals, **node.params)
        if result is not None:
            cotangents.add(operand, result)


def underivable(node: Node, position: int) -> DerivativeError:
    """Return the error for an operand that an operation cannot be differentiated in."""
    where = f" (at {node.source})" if node.source else ""
    return DerivativeError(
        f"{node.primitive.name} has no derivative with respect to operand {position}{where}; "
        "use stagrad.stop_gradient on it if none is meant"
    )


def rule_of(node: Node, position: int) -> Any:
    """Return the vjp rule of one operand of a node: a callable, ZERO or NOT_DIFFERENTIABLE."""
    vjps = node.primitive.vjps
    if isinstance(vjps, tuple):
        return vjps[position]
    return lambda *arguments, **params: vjps(position, *arguments, **params)


def _strong(aval: Aval) -> Aval:
    return Aval(aval.shape, aval.dtype)


def _conjugate(value: Tracer) -> Tracer:
    if value.aval.dtype.kind != "c":
        return value
    from stagrad.ops.complex import conjugate

    return conjugate(value)  # type: ignore[no-any-return]
