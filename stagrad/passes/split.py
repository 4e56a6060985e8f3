"""Splitting a reverse-mode graph at the seeds: what runs forward, and what waits for cotangents."""

from dataclasses import dataclass

from stagrad.ir import Builder, Graph, Kind, Node


@dataclass(frozen=True)
class Split:
    """A joint graph in two halves.

    `forward` takes the joint graph's inputs before the seeds and returns its outputs before the
    cotangents, then the residuals. `backward` takes the residuals, then the seeds, and returns the
    cotangents.
    """

    forward: Graph
    backward: Graph
    residuals: int


def split(graph: Graph, seeds: int, cotangents: int) -> Split:
    """Split a graph made by `reverse`: its last inputs are seeds, its last outputs cotangents.

    Constants, and movements of values that are kept anyway, are redone backward rather than kept.
    """
    primal_inputs = graph.inputs[: len(graph.inputs) - seeds]
    seed_inputs = graph.inputs[len(graph.inputs) - seeds :]
    primal_outputs = graph.outputs[: len(graph.outputs) - cotangents]
    wanted = graph.outputs[len(graph.outputs) - cotangents :]
    late = _late(graph, seed_inputs)
    redone = _redone(wanted, late)
    kept = sorted(
        {
            operand
            for node in (*late.intersection(graph.nodes), *redone)
            for operand in node.inputs
            if operand not in late and operand not in redone
        }
        | {node for node in wanted if node not in late and node not in redone},
        key=lambda node: node.serial,
    )
    builder = Builder()
    stand_in = {node: builder.input(node.aval, node.name, node.source) for node in kept}
    values = stand_in | {node: node for node in seed_inputs}
    for node in graph.nodes:
        if (node in late or node in redone) and node not in values:
            values[node] = builder.add(
                node.primitive,
                tuple(values[operand] for operand in node.inputs),
                node.params,
                source=node.source,
                name=node.name,
                primal=node.primal,
            )
    backward = builder.graph((*stand_in.values(), *seed_inputs), [values[node] for node in wanted])
    return Split(Graph(primal_inputs, (*primal_outputs, *kept)), backward, len(kept))


def _late(graph: Graph, seeds: tuple[Node, ...]) -> set[Node]:
    """Return the seeds and everything that depends on one."""
    late = set(seeds)
    for node in graph.nodes:
        if any(operand in late for operand in node.inputs):
            late.add(node)
    return late


def _redone(wanted: tuple[Node, ...], late: set[Node]) -> set[Node]:
    """Return the early nodes that the backward half computes again because that costs nothing."""
    redone: set[Node] = set()
    stack = list(wanted)
    seen: set[Node] = set()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in late:
            stack.extend(node.inputs)
        elif node.primitive.kind is Kind.MOVEMENT or node.primitive.name == "constant":
            redone.add(node)
            stack.extend(node.inputs)
    return redone
