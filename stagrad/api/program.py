"""Programs: what a call runs, be it the function itself or its derivative."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stagrad.ir import Graph
from stagrad.passes.recognize import recognize
from stagrad.passes.reverse import reverse
from stagrad.trace import StaticLeaf, Trace, Traced, TreeSpec, replay, unflatten


@dataclass(frozen=True)
class Result:
    """A result's structure: each leaf is the position of a graph output, or a fixed value."""

    spec: TreeSpec
    leaves: tuple[int | StaticLeaf, ...]

    def build(self, outputs: Sequence[Any]) -> Any:
        """Return the result, given the values of the graph's outputs."""
        return unflatten(
            self.spec,
            [leaf.value if isinstance(leaf, StaticLeaf) else outputs[leaf] for leaf in self.leaves],
        )


@dataclass(frozen=True)
class Program:
    """A graph with what surrounds it.

    The graph's inputs are the array leaves of the call, then `captures`. `written` pairs input
    positions with the outputs to be copied back into the caller's arrays. `traced` is the function
    as it was traced, `made_by` the pass that made the graph of it.
    """

    graph: Graph
    captures: tuple[Any, ...]
    result: Result
    written: tuple[tuple[int, int], ...] = ()
    traced: Graph | None = None
    made_by: str = "reverse"

    def pruned(self) -> "Program":
        """Return the program without graph outputs that nothing asks for."""
        wanted = [leaf for leaf in self.result.leaves if isinstance(leaf, int)]
        wanted += [output for _, output in self.written]
        places = {output: place for place, output in enumerate(dict.fromkeys(wanted))}
        return Program(
            Graph(self.graph.inputs, [self.graph.outputs[output] for output in places]),
            self.captures,
            Result(
                self.result.spec,
                tuple(
                    leaf if isinstance(leaf, StaticLeaf) else places[leaf]
                    for leaf in self.result.leaves
                ),
            ),
            tuple((position, places[output]) for position, output in self.written),
            self.traced,
            self.made_by,
        )


def primal_program(traced: Traced) -> Program:
    """Return the program that computes the function itself."""
    return Program(
        recognize(traced.graph),
        traced.captures,
        Result(traced.output_spec, traced.output_leaves),
        traced.mutated,
        traced.graph,
        "recognize",
    )


def differentiated(
    traced: Traced, wrt: Sequence[int], of: Sequence[int], seeds: Sequence[Any] | None = None
) -> Graph:
    """Return the graph of the traced function's outputs and of cotangents with respect to inputs.

    With `seeds` (numbers), the cotangents of the outputs `of` are those; otherwise they are inputs.
    """
    graph = reverse(recognize(traced.graph), wrt, of)
    if seeds is None:
        return graph
    return specialize(graph, dict(enumerate(seeds, len(traced.graph.inputs))))


def specialize(graph: Graph, constants: dict[int, Any]) -> Graph:
    """Return the graph with some inputs replaced by constants of their dtype."""
    with Trace(located=False) as trace:
        values: list[Any] = []
        inputs = []
        for position, node in enumerate(graph.inputs):
            if position in constants:
                values.append(trace.lift(node.aval.dtype.type(constants[position])))
            else:
                values.append(trace.input(node.aval, node.name))
                inputs.append(values[-1].node)
        outputs = replay(trace, graph, values)
    return trace.builder.graph(inputs, [output.node for output in outputs])
