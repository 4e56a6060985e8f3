"""Batching: from a graph for one element to the graph for a whole batch of them.

The batch axis leads. What depends on no batched input is computed once and stays as it is; the
rest is rebuilt by each operation's `batcher`, elementwise operations in the one way there is.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from stagrad.errors import UnsupportedError, VerifyError
from stagrad.ir import Aval, Builder, Graph, Kind, Node, project_p
from stagrad.ops.joining import join
from stagrad.ops.movement import broadcast_to, broadcast_to_p, zeros
from stagrad.ops.slicing import slice as slice_
from stagrad.passes.rewrite import ConstantTrace
from stagrad.trace import Trace, Tracer

UNROLLED = 64
"""Largest batch for which an operation without a batcher is repeated element by element."""


def batch(
    graph: Graph, size: int, batched: Iterable[int], of: Sequence[int] | None = None
) -> Graph:
    """Return the graph that computes a batch of elements at once.

    `batched` are positions of inputs, which get a leading axis of extent `size`; `of` positions of
    the outputs that get one (default: all), repeated where nothing in them depends on the batch.
    The other outputs stay as they are and must not depend on it: see `batched_nodes`. An empty
    batch computes nothing.

    Raises UnsupportedError for an operation that can neither be batched nor unrolled.
    """
    chosen = set(range(len(graph.outputs)) if of is None else of)
    affected = batched_nodes(graph, batched)
    builder = Builder()
    builder.adopt(graph.nodes)
    with ConstantTrace(builder, located=False) as trace:
        whole = _Batch(trace, size)
        for node in graph.inputs:
            if node in affected:
                aval = Aval((size, *node.aval.shape), node.aval.dtype)
                whole.new[node] = builder.input(aval, node.name, node.source)
        for node in graph.nodes:
            if node in affected and node.inputs:
                whole.visit(node)
        outputs = [
            whole.repeated(node) if place in chosen else node
            for place, node in enumerate(graph.outputs)
        ]
    return builder.graph([whole.new.get(node, node) for node in graph.inputs], outputs)


def batched_nodes(graph: Graph, batched: Iterable[int]) -> set[Node]:
    """Return the nodes whose values may differ from one element of the batch to the next."""
    affected = {graph.inputs[position] for position in batched}
    for node in graph.nodes:
        if any(operand in affected for operand in node.inputs):
            affected.add(node)
    return affected


class _Batch:
    """A graph being batched: `new` maps nodes of one element to those of all elements."""

    def __init__(self, trace: Trace, size: int) -> None:
        self.new: dict[Node, Node] = {}
        self._parts: dict[Node, tuple[Any, ...]] = {}
        self._trace = trace
        self._size = size

    def visit(self, node: Node) -> None:
        """Batch one node that depends on the batch."""
        primal = node.primal and self.new.get(node.primal, node.primal)
        place = node if primal is node.primal else dataclasses.replace(node, primal=primal)
        self._trace.builder.place = place
        if node.primitive is project_p:
            result = self._parts[node.inputs[0]][node.params["index"]]
            self.new[node] = self._checked(node, node.aval, result)
        elif node.primitive.multiple:
            self._parts[node] = (
                tuple(self._empty(aval) for aval in node.avals)
                if self._size == 0
                else self._applied(node)
            )
        elif self._size == 0:
            self.new[node] = self._empty(node.aval).node
        elif node.primitive.kind is Kind.ELEMENTWISE and node.primitive.batcher is None:
            self.new[node] = self._elementwise(node, place)
        else:
            self.new[node] = self._checked(node, node.aval, self._applied(node))

    def repeated(self, node: Node) -> Node:
        """Return a node with the batch axis, whether it depends on the batch or not."""
        known = self.new.get(node)
        return self._spread(node, node.aval.shape) if known is None else known

    def _elementwise(self, node: Node, place: Node) -> Node:
        shape = node.inputs[0].aval.shape
        operands = [
            self.new.get(operand) or self._spread(operand, shape) for operand in node.inputs
        ]
        return self._trace.builder.add(
            node.primitive,
            tuple(operands),
            node.params,
            source=place.source,
            name=place.name,
            primal=place.primal,
        )

    def _spread(self, node: Node, shape: tuple[int, ...]) -> Node:
        """Return a node that has one value for all elements, repeated along the batch axis."""
        while node.primitive is broadcast_to_p:
            node = node.inputs[0]
        spread: Tracer = broadcast_to(Tracer(self._trace, node), (self._size, *shape))
        return spread.node

    def _applied(self, node: Node) -> Any:
        operands = tuple(
            Tracer(self._trace, self.new.get(operand, operand)) for operand in node.inputs
        )
        batched = tuple(operand in self.new for operand in node.inputs)
        if node.primitive.batcher is not None:
            return node.primitive.batcher(self._size, batched, operands, **node.params)
        if self._size > UNROLLED:
            where = f" (at {node.origin})" if node.origin else ""
            raise UnsupportedError(
                f"vmap: {node.primitive.name} cannot be batched{where}, and {self._size} elements "
                f"are too many to compute one by one in one program (at most {UNROLLED}); loop "
                "over the batch in Python, or map over parts of it"
            )
        return self._unrolled(node, batched, operands)

    def _unrolled(self, node: Node, batched: Sequence[bool], operands: Sequence[Tracer]) -> Any:
        """Apply an operation to one element of the batch after another."""
        results = []
        for place in range(self._size):
            element = tuple(
                _entry(operand, place) if is_batched else operand
                for operand, is_batched in zip(operands, batched, strict=True)
            )
            results.append(self._trace.process(node.primitive, element, node.params))
        if not node.primitive.multiple:
            return join(results, 0, new_axis=True)
        return tuple(join(parts, 0, new_axis=True) for parts in zip(*results, strict=True))

    def _checked(self, node: Node, aval: Aval, result: Any) -> Node:
        made: Node = self._trace.lift(result).node
        if made.aval.shape != (self._size, *aval.shape) or made.aval.dtype != aval.dtype:
            raise VerifyError(
                f"the batcher of {node.primitive.name} returns {made.aval} for {self._size} "
                f"elements of {aval}"
            )
        return made

    def _empty(self, aval: Aval) -> Any:
        like = self._trace.lift(0)
        return zeros((0, *aval.shape), aval.dtype, like=like)


def _entry(operand: Tracer, place: int) -> Any:
    return slice_(operand, (place, *(None for _ in operand.aval.shape[1:])))
