"""Tracing a whole function: arguments in, graph out, with everything the caller must know of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stagrad.errors import TraceError
from stagrad.ir import Aval, Graph, Node
from stagrad.trace.draws import Draw, as_drawing
from stagrad.trace.guards import Guards
from stagrad.trace.replacement import replaced_functions
from stagrad.trace.results import require_nothing_traced
from stagrad.trace.state import current_trace
from stagrad.trace.trace import Trace
from stagrad.trace.tracer import BeginAgain, SpecializeInput, Tracer
from stagrad.trace.trees import TreeSpec, flatten, unflatten


class StaticLeaf:
    """An argument leaf that tracing treats as a fixed Python value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


@dataclass(frozen=True)
class Traced:
    """A traced function.

    - graph: inputs are the array leaves in order, then the captures; outputs are the array leaves
      of the result, then the new contents of mutated arguments.
    - output_spec, output_leaves: the result's structure; a leaf is the position of a graph output,
      or a StaticLeaf that is returned as it is.
    - captures: values of the capture inputs: arrays, random draws, or traced values of an
      enclosing trace.
    - mutated: (input position, output position) of arguments the function wrote to.
    - static: argument leaf positions that turned out to be needed as Python integers.
    - guards: what outside the arguments the trace relied on.
    """

    graph: Graph
    output_spec: TreeSpec
    output_leaves: tuple[int | StaticLeaf, ...]
    captures: tuple[Any, ...]
    mutated: tuple[tuple[int, int], ...]
    static: frozenset[int]
    guards: Guards

    def result(self, outputs: Sequence[Any]) -> Any:
        """Return the function's result, given the values of the graph's outputs."""
        leaves = [
            leaf.value if isinstance(leaf, StaticLeaf) else outputs[leaf]
            for leaf in self.output_leaves
        ]
        return unflatten(self.output_spec, leaves)


def trace_function(
    function: Callable[..., Any],
    spec: TreeSpec,
    leaves: Sequence[Aval | StaticLeaf],
    names: Sequence[str | None],
    values: Sequence[Any],
    scalars: frozenset[int] = frozenset(),
) -> Traced:
    """Trace `function(*args, **kwargs)`, `(args, kwargs)` being the tree of `spec` over `leaves`.

    `values` are the actual leaves: when the function needs one as a Python integer (a shape, a loop
    bound), the trace is made again with that leaf static. `scalars` are positions of leaves that
    are NumPy's immutable scalars rather than arrays without axes.
    """
    leaves = list(leaves)
    static: set[int] = set()
    draws: list[Draw] = []
    while True:
        trace = Trace(draws=draws)
        try:
            return _trace_once(trace, function, spec, leaves, names, frozenset(static), scalars)
        except SpecializeInput as request:
            if request.trace is not trace:
                raise
            position = request.position
            leaves[position] = StaticLeaf(request.specialized(values[position]))
            static.add(position)
        except BeginAgain:
            pass
        except ValueError as error:
            # NumPy turns what float(traced) raises into a ValueError about sequences.
            if isinstance(error.__cause__, TraceError):
                raise error.__cause__ from None
            if not isinstance(error.__cause__, BeginAgain):
                raise
        draws = trace.draws


def _trace_once(
    trace: Trace,
    function: Callable[..., Any],
    spec: TreeSpec,
    leaves: Sequence[Aval | StaticLeaf],
    names: Sequence[str | None],
    static: frozenset[int],
    scalars: frozenset[int],
) -> Traced:
    fixed = [leaf.value if isinstance(leaf, StaticLeaf) else None for leaf in leaves]
    guards = Guards.of(function, *unflatten(spec, fixed))
    trace.is_live = guards.is_live
    with trace, replaced_functions(guards):
        arguments: list[Any] = []
        inputs: list[Tracer] = []
        for position, (leaf, name) in enumerate(zip(leaves, names, strict=True)):
            if isinstance(leaf, StaticLeaf):
                arguments.append(as_drawing(leaf.value))
            else:
                tracer = trace.input(leaf, name)
                tracer.scalar = tracer.scalar or position in scalars
                trace.input_positions[tracer.node] = position
                arguments.append(tracer)
                inputs.append(tracer)
        nodes = [tracer.node for tracer in inputs]
        args, kwargs = unflatten(spec, arguments)
        result = function(*args, **kwargs)
        output_leaves, output_spec = flatten(result)
        outputs: list[Node] = []
        placed = [_place_output(trace, leaf, outputs) for leaf in output_leaves]
        mutated: list[tuple[int, int]] = []
        for position, (tracer, node) in enumerate(zip(inputs, nodes, strict=True)):
            if tracer.node is not node:
                mutated.append((position, len(outputs)))
                outputs.append(tracer.node)
    _tell_enclosing(trace)
    captures = trace.captures
    graph = trace.builder.graph((*nodes, *(node for node, _ in captures)), outputs)
    return Traced(
        graph=graph,
        output_spec=output_spec,
        output_leaves=tuple(placed),
        captures=tuple(value for _, value in captures),
        mutated=tuple(mutated),
        static=static,
        guards=guards.finished(derived=trace.derived, relied_on=trace.relied_on),
    )


def _tell_enclosing(trace: Trace) -> None:
    """Let the enclosing trace rely on the numbers that a finished trace relied on."""
    enclosing = current_trace()
    if enclosing is not None:
        enclosing.derived = enclosing.derived or trace.derived
        for array in trace.relied_on:
            enclosing.rely_on(array)


def _place_output(trace: Trace, leaf: Any, outputs: list[Node]) -> int | StaticLeaf:
    if not isinstance(leaf, Tracer | np.ndarray):
        require_nothing_traced(leaf)
        return StaticLeaf(leaf)
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind not in "biufc":
        return StaticLeaf(leaf)
    outputs.append(trace.lift(leaf).node)
    return len(outputs) - 1


def captured_values(captures: Sequence[Any]) -> list[Any]:
    """Return what the capture inputs are at a call: arrays as they are now, new random draws."""
    return [value() if isinstance(value, Draw) else value for value in captures]


def replay(trace: Trace, graph: Graph, values: Sequence[Any]) -> list[Tracer]:
    """Add a finished graph's operations to a running trace; return its outputs as traced values."""
    builder = trace.builder
    nodes: dict[Node, Node] = {
        node: trace.lift(value).node for node, value in zip(graph.inputs, values, strict=True)
    }
    for node in graph.nodes[len(graph.inputs) :]:
        operands = tuple(nodes[operand] for operand in node.inputs)
        primal = nodes.get(node.primal) if node.primal is not None else None
        nodes[node] = builder.add(
            node.primitive,
            operands,
            node.params,
            source=node.source,
            name=node.name,
            primal=primal,
        )
    return [Tracer(trace, nodes[node], scalar=node.aval.shape == ()) for node in graph.outputs]
