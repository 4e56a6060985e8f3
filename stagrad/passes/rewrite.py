"""The one driver for local rules: rebuilds a graph from its inputs, trying rules at each node."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from stagrad.errors import VerifyError
from stagrad.ir import Aval, Builder, Graph, Literal, Node, Primitive, constant_p
from stagrad.passes.access import keeps_numbers
from stagrad.trace import Trace, Tracer

Rule = Callable[["Rewriter", Node], Node | None]
"""Looks at a node whose operands are rewritten already; returns what replaces it, or None."""

Rules = Mapping[Primitive, tuple[Rule, ...]]

REPLACEMENTS = 16
"""Most replacements in a row at one node: rules that undo each other are a fault, and end here."""


def rewrite(graph: Graph, rules: Rules, always: tuple[Rule, ...] = ()) -> Graph:
    """Return the graph after one sweep of rules, from operands to users; itself if none applied.

    `rules` holds those of each primitive, `always` those that are tried first at every node.

    A replacement is looked at again until no rule applies. Nodes keep their source, name and
    primal; what a rule makes gets those of the node it replaces. Linear in the graph's size.

    Raises VerifyError when a rule changes a node's aval or does not come to an end.
    """
    rewriter = Rewriter(graph, rules, always)
    for node in graph.nodes:
        rewriter.visit(node)
    if not rewriter.changed:
        return graph
    return rewriter.builder.graph(graph.inputs, [rewriter.new[node] for node in graph.outputs])


class ConstantTrace(Trace):
    """A trace of compositions inside a finished graph: the arrays they make are constants."""

    def lift(self, value: Any, *, weak: bool = False) -> Tracer:
        """Return a value as a traced one, an array as a constant."""
        return super().lift(Literal(value) if isinstance(value, np.ndarray) else value, weak=weak)


class Rewriter:
    """A graph being rebuilt, and what rules may ask and make.

    `new` maps each node to what stands for it now; `reads` counts what reads the new nodes, in the
    new graph as far as it is built and in the part of the old one that is still to come.
    """

    def __init__(self, graph: Graph, rules: Rules, always: tuple[Rule, ...]) -> None:
        self.builder = Builder()
        self._rules = rules
        self._always = always
        self.changed = False
        self.new: dict[Node, Node] = {}
        self.reads: dict[Node, int] = {}
        self._users = graph.users
        self._outputs = set(graph.outputs)
        self._current: Node | None = None
        self._inputs = set(graph.inputs)

    def visit(self, node: Node) -> None:
        """Rebuild one node and let rules replace it."""
        if node in self._inputs:
            self._enter(node, node)
            return
        inputs = tuple(self.new[operand] for operand in node.inputs)
        primal = self.new.get(node.primal, node.primal) if node.primal is not None else None
        self._current = node
        self._read(inputs, -1)
        self._enter(node, self._settled(self._made(self.builder.rebuilt(node, inputs, primal))))

    def _settled(self, node: Node) -> Node:
        """Return what a node becomes when no rule applies to it any more."""
        for _ in range(REPLACEMENTS):
            replacement = self._replacement(node)
            if replacement is None:
                return node
            self.changed = True
            if self.reads.get(node, 0) == 0:
                self._read(node.inputs, -1)
            node = replacement
        raise VerifyError(f"rewrite rules for {node.primitive.name} do not come to an end")

    def _replacement(self, node: Node) -> Node | None:
        for rule in (*self._always, *self._rules.get(node.primitive, ())):
            replacement = rule(self, node)
            if replacement is not None and replacement is not node:
                if replacement.avals != node.avals:
                    raise VerifyError(
                        f"{rule.__name__} turns {node!r} into {replacement!r}, of another aval"
                    )
                return replacement
        return None

    def _enter(self, node: Node, result: Node) -> None:
        self.new[node] = result
        count = len(self._users[node]) + (node in self._outputs)
        self.reads[result] = self.reads.get(result, 0) + count

    def _made(self, node: Node) -> Node:
        """Count what a node reads, if it is new."""
        if node not in self.reads:
            self.reads[node] = 0
            self._read(node.inputs, 1)
        return node

    def _read(self, operands: tuple[Node, ...], count: int) -> None:
        for operand in operands:
            self.reads[operand] = self.reads.get(operand, 0) + count

    def make(self, primitive: Primitive, *inputs: Node, **params: Any) -> Node:
        """Return a new node in the place of the one being looked at, as far as rules let it be."""
        current = self._current
        assert current is not None
        primal = current.primal
        node = self.builder.add(
            primitive,
            inputs,
            params,
            source=current.source,
            name=current.name,
            primal=None if primal is None else self.new.get(primal, primal),
        )
        return self._settled(self._made(node))

    def apply(self, function: Callable[..., Any], *operands: Node) -> Node:
        """Return what a composition makes of nodes, in the place of the current one."""
        current = self._current
        assert current is not None
        self.builder.place = current
        with ConstantTrace(self.builder, located=False) as trace:
            result = function(*(Tracer(trace, operand) for operand in operands))
            node: Node = trace.lift(result).node
        self.builder.place = None
        if current.name is not None and node.name is None and node not in self.reads:
            node = self.builder.renamed(node, current.name)
        return node

    def constant(self, value: Any, aval: Aval) -> Node:
        """Return a 0-d constant of an aval's dtype."""
        return self.builder.constant(value, aval.dtype, weak=aval.weak)

    def readers(self) -> tuple[Node, ...]:
        """Return the old graph's readers of the node being looked at."""
        return () if self._current is None else self._users[self._current]

    def single_use(self, node: Node) -> bool:
        """Say whether only one operand in the graph reads a node."""
        return self.reads.get(node, 1) == 1


def known_number(node: Node) -> Any:
    """Return the number that every element of a node is, as a NumPy scalar; None if not known."""
    array = _constant_below(node)
    return array.reshape(())[()] if array is not None and array.size == 1 else None


def known_array(node: Node) -> np.ndarray | None:
    """Return the value of a constant, or of one number repeated; None if not known."""
    array = _constant_below(node)
    if node.primitive is constant_p or array is None:
        return array
    return np.broadcast_to(array.reshape(()), node.aval.shape) if array.size == 1 else None


def _constant_below(node: Node) -> np.ndarray | None:
    while keeps_numbers(node):
        node = node.inputs[0]
    array: np.ndarray | None = None
    if node.primitive is constant_p:
        array = node.params["value"].array
    return array
