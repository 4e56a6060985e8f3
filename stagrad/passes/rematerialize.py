"""What the backward half keeps of the forward half, and what it computes again.

A minimum cut decides. Keeping a value costs its bytes, computing it again a share of the bytes it
reads, and what is read backward must follow from what is kept. Values computed again hang on
`recompute` nodes, which tie them to a cotangent: the forward half's own copy is done with by then,
and nothing takes the two for one value.
"""

from collections.abc import Iterable

from stagrad.ir import Builder, Graph, Kind, Node, constant_p
from stagrad.ops.recompute import recompute_p

_WORK = {Kind.ELEMENTWISE: 0.05, Kind.MOVEMENT: 0.02, Kind.REDUCTION: 0.2}
"""Cost of computing again, as a share of the bytes read; other operations are too expensive."""

_SOURCE, _SINK = "source", "sink"


def rematerialize(graph: Graph) -> Graph:
    """Return the graph with cheap forward values computed again in the backward half.

    The forward half is what has no `primal`. Values that are inputs or results are kept anyway.
    """
    again = _computed_again(graph)
    return _rebuilt(graph, again) if again else graph


def _computed_again(graph: Graph) -> set[Node]:
    """Return the forward nodes that the minimum cut leaves on the backward side."""
    forward = [node for node in graph.nodes if node.primal is None]
    read = {
        operand
        for node in graph.nodes
        if node.primal is not None
        for operand in node.inputs
        if operand.primal is None
    }
    candidates = _needed(forward, read)
    free = {*graph.inputs, *graph.outputs}
    import networkx  # late: importing it would make a third of stagrad's own import

    network = networkx.DiGraph()
    for node in candidates:
        size = sum(aval.nbytes for aval in node.avals)
        work = _WORK.get(node.primitive.kind)
        keep = 0 if node in free or node.primitive is constant_p else size
        network.add_edge((node, 0), (node, 1), capacity=keep)
        if node in free or work is None or node.primitive.multiple:
            network.add_edge(_SOURCE, (node, 0))
        else:
            network.add_edge(_SOURCE, (node, 0), capacity=int(work * _bytes_read(node)) + 1)
        for operand in node.inputs:
            if operand in candidates:
                network.add_edge((operand, 1), (node, 0))
        if node in read:
            network.add_edge((node, 1), _SINK)
    if _SINK not in network:
        return set()
    _, (_, behind) = networkx.minimum_cut(network, _SOURCE, _SINK)
    return {node for node in candidates if (node, 0) in behind}


def _bytes_read(node: Node) -> int:
    return sum(operand.aval.nbytes for operand in node.inputs)


def _needed(forward: Iterable[Node], read: set[Node]) -> dict[Node, None]:
    """Return the forward nodes that values read backward depend on, in order."""
    needed = set(read)
    order = list(forward)
    for node in reversed(order):
        if node in needed:
            needed.update(node.inputs)
    return {node: None for node in order if node in needed}


def _rebuilt(graph: Graph, again: set[Node]) -> Graph:
    """Return the graph with copies of some forward nodes for the backward half to read."""
    builder = Builder()
    builder.adopt(graph.nodes)
    copies: dict[Node, Node] = {}
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        if node.primal is None:
            new[node] = node
            continue
        token = next((new[i] for i in node.inputs if i.primal is not None), None)
        if token is not None:
            _copy(builder, [i for i in node.inputs if i in again], again, copies, token)
        inputs = tuple(
            copies.get(operand, operand) if operand in again else new[operand]
            for operand in node.inputs
        )
        primal = new.get(node.primal, node.primal)
        new[node] = node if inputs == node.inputs else builder.rebuilt(node, inputs, primal)
    return builder.graph(graph.inputs, [new[node] for node in graph.outputs])


def _copy(
    builder: Builder, wanted: list[Node], again: set[Node], copies: dict[Node, Node], token: Node
) -> None:
    """Make copies of nodes and of what they need, reading kept values once `token` is there."""
    stack = list(wanted)
    while stack:
        node = stack[-1]
        missing = [i for i in node.inputs if i in again and i not in copies]
        if node in copies or not missing:
            stack.pop()
            if node not in copies:
                inputs = tuple(
                    copies[operand] if operand in again else _kept(builder, operand, token)
                    for operand in node.inputs
                )
                copies[node] = builder.rebuilt(node, inputs, node)
        else:
            stack += missing


def _kept(builder: Builder, operand: Node, token: Node) -> Node:
    """Return a value that is kept, as the backward half reads it."""
    if operand.primitive is constant_p:
        return operand
    return builder.add(recompute_p, (operand, token), primal=operand)
