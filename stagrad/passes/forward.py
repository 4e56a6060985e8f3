"""Forward mode: from a graph to the graph of its values and tangents.

Linear operations map tangents through themselves, elementwise ones multiply with the partial their
vjp rule gives, a record's own `jvp` rule goes first, and for the rest the vjp rule, which is linear
in its cotangent, is transposed by reversing it.
"""

from collections.abc import Sequence
from typing import Any

from stagrad.ir import (
    NOT_DIFFERENTIABLE,
    ZERO,
    Aval,
    Builder,
    Graph,
    Kind,
    Node,
    is_inexact,
    project_p,
)
from stagrad.ops.movement import astype, broadcast_to
from stagrad.passes.reverse import active_nodes, reverse, rule_of, underivable
from stagrad.trace import Trace, Tracer, replay

Tangents = dict[Node, Any]


def forward(graph: Graph, wrt: Sequence[int], of: Sequence[int] | None = None) -> Graph:
    """Return the graph with tangents: inputs plus tangents to outputs plus tangents.

    `wrt` are positions of inputs, each of which gets a tangent input of its aval; `of` positions of
    the outputs whose tangents are returned (default: every float or complex output), zeros where
    nothing depends on the inputs. Raises DerivativeError as `reverse` does.
    """
    if of is None:
        of = [place for place, node in enumerate(graph.outputs) if is_inexact(node.aval)]
    sources = [graph.inputs[position] for position in wrt]
    builder = Builder()
    builder.adopt(graph.nodes)
    with Trace(builder, located=False) as trace:
        seeds = [
            trace.input(Aval(node.aval.shape, node.aval.dtype), f"t_{node.name or place}")
            for place, node in enumerate(sources)
        ]
        tangents: Tangents = dict(zip(sources, seeds, strict=True))
        active = active_nodes(graph, sources)
        for node in graph.nodes:
            if node in active and node.inputs:
                trace.primal = node
                _push(trace, node, tangents)
        results = [_tangent(trace, tangents, graph.outputs[place]).node for place in of]
    inputs = (*graph.inputs, *(seed.node for seed in seeds))
    return builder.graph(inputs, (*graph.outputs, *results))


def _tangent(trace: Trace, tangents: Tangents, node: Node) -> Tracer:
    tangent = tangents.get(node)
    if tangent is None:
        tangent = broadcast_to(trace.lift(node.aval.dtype.type(0)), node.aval.shape)
    return trace.lift(tangent)


def _push(trace: Trace, node: Node, tangents: Tangents) -> None:
    """Set the tangent of one node from its operands' tangents."""
    if node.primitive is project_p:
        parts = tangents.get(node.inputs[0])
        part = None if parts is None else parts[node.params["index"]]
        if part is not None:
            tangents[node] = part
        return
    given = [tangents.get(operand) for operand in node.inputs]
    if all(tangent is None for tangent in given):
        return
    result = _node_tangent(trace, node, given)
    if result is not None:
        tangents[node] = result


def _node_tangent(trace: Trace, node: Node, given: list[Any]) -> Any:
    primitive = node.primitive
    primals = [Tracer(trace, operand) for operand in node.inputs]
    if primitive.jvp is not None:
        return primitive.jvp(primals, given, _outputs(trace, node), **node.params)
    rules = [rule_of(node, position) for position in range(len(node.inputs))]
    for position, (rule, tangent) in enumerate(zip(rules, given, strict=True)):
        if rule is NOT_DIFFERENTIABLE and tangent is not None:
            raise underivable(node, position)
    if primitive.linear:
        return trace.process(primitive, _linear_operands(trace, primals, given, rules), node.params)
    if primitive.kind is Kind.ELEMENTWISE and not _mixes_complex(node):
        return _elementwise(trace, node, primals, given, rules)
    return _transposed(trace, node, given, rules)


def _linear_operands(
    trace: Trace, primals: list[Tracer], given: list[Any], rules: list[Any]
) -> tuple[Any, ...]:
    """Return tangents, zero where absent; operands without a derivative stay as they are."""
    return tuple(
        primal
        if rule in (ZERO, NOT_DIFFERENTIABLE)
        else (_zeros(trace, primal.aval) if tangent is None else tangent)
        for primal, tangent, rule in zip(primals, given, rules, strict=True)
    )


def _outputs(trace: Trace, node: Node) -> Any:
    if not node.primitive.multiple:
        return Tracer(trace, node)
    return tuple(
        Tracer(trace, trace.builder.add(project_p, (node,), {"index": index}))
        for index in range(len(node.avals))
    )


def _mixes_complex(node: Node) -> bool:
    """Say whether the node joins real and complex values, where partials are no plain factors."""
    kinds = {operand.aval.dtype.kind for operand in node.inputs} | {node.aval.dtype.kind}
    return "c" in kinds


def _elementwise(
    trace: Trace, node: Node, primals: list[Tracer], given: list[Any], rules: list[Any]
) -> Any:
    out = Tracer(trace, node)
    total: Any = None
    for rule, tangent in zip(rules, given, strict=True):
        if tangent is None or rule is ZERO:
            continue
        term = rule(astype(tangent, node.aval.dtype), out, *primals, **node.params)
        if term is not None:
            term = astype(term, node.aval.dtype)
            total = term if total is None else total + term
    return total


def _transposed(trace: Trace, node: Node, given: list[Any], rules: list[Any]) -> Any:
    """Transpose the vjp rules: reverse them with respect to their cotangent, seeded by tangents."""
    active = [
        position
        for position, (rule, tangent) in enumerate(zip(rules, given, strict=True))
        if tangent is not None and rule is not ZERO
    ]
    if not active:
        return None
    pullback = _pullback(node, active, rules)
    operands = len(node.inputs)
    results = range(operands, operands + len(node.avals))
    places = [operands + k for k, aval in enumerate(node.avals) if is_inexact(aval)]
    transposed = reverse(pullback, places, bilinear=True)
    outputs = replay(
        trace,
        transposed,
        [
            *(Tracer(trace, operand) for operand in node.inputs),
            *(_zeros(trace, aval) for aval in node.avals),
            *(given[position] for position in active),
        ],
    )
    tangents = dict(zip(places, outputs[len(pullback.outputs) :], strict=True))
    parts = tuple(tangents.get(place) for place in results)
    return parts if node.primitive.multiple else parts[0]


def _pullback(node: Node, active: list[int], rules: list[Any]) -> Graph:
    """Return the graph (operands, cotangents) -> cotangents of the active operands."""
    builder = Builder()
    with Trace(builder, located=False) as trace:
        primals = [trace.input(operand.aval) for operand in node.inputs]
        cotangents = [trace.input(Aval(aval.shape, aval.dtype)) for aval in node.avals]
        inputs = [tracer.node for tracer in (*primals, *cotangents)]
        out = trace.process(node.primitive, tuple(primals), node.params)
        cotangent: Any = tuple(cotangents) if node.primitive.multiple else cotangents[0]
        outputs = []
        for position in active:
            result = rules[position](cotangent, out, *primals, **node.params)
            if result is None:
                result = _zeros(trace, node.inputs[position].aval)
            outputs.append(trace.lift(result).node)
    return builder.graph(inputs, outputs)


def _zeros(trace: Trace, aval: Aval) -> Tracer:
    zero = trace.lift(aval.dtype.type(0))
    return broadcast_to(zero, aval.shape)  # type: ignore[no-any-return]
