"""Node and Graph: an immutable program. Graphs are rebuilt, never edited."""

import functools
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stagrad.ir.aval import Aval
from stagrad.ir.primitive import Params, Primitive, params_key

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, slots=True)
class Source:
    """Where the user's program asked for a value."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


next_serial = itertools.count().__next__


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One operation applied to other nodes' results.

    `primitive`, `inputs`, `params` and `avals` say what it computes. The other fields describe and
    never affect results: `source` and `name` (the user's line and variable), `primal` (for a node
    of the backward half, the forward node it belongs to) and `serial` (construction order, which is
    also a topological order).
    """

    primitive: Primitive
    inputs: tuple["Node", ...]
    params: Params
    avals: tuple[Aval, ...]
    source: Source | None = None
    name: str | None = None
    primal: "Node | None" = None
    serial: int = field(default_factory=next_serial)

    @property
    def aval(self) -> Aval:
        """The aval of a single-result node."""
        if self.primitive.multiple:
            raise ValueError(f"{self.primitive.name} has several results; use its project nodes")
        return self.avals[0]

    @property
    def origin(self) -> Source | None:
        """The user's line this node serves: its own, or that of the forward node it belongs to."""
        node: Node | None = self
        while node is not None and node.source is None:
            node = node.primal
        return None if node is None else node.source

    def __repr__(self) -> str:
        avals = ", ".join(map(str, self.avals))
        return f"<{self.primitive.name} {self.name or ''}#{self.serial}: {avals}>"


def reachable(outputs: Iterable[Node]) -> tuple[Node, ...]:
    """Return all nodes the outputs depend on, in construction order. Does not recurse."""
    seen: set[Node] = set()
    stack = list(outputs)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(node.inputs)
    return tuple(sorted(seen, key=lambda node: node.serial))


class Graph:
    """A program: input nodes, output nodes and everything the outputs reach.

    `nodes` holds the inputs first (used or not), then the other reachable nodes in construction
    order. `network` is the same as a frozen `networkx.MultiDiGraph` whose edge keys are operand
    numbers, so `x * x` keeps both of its edges; it serves users, ancestors, cuts and drawing.
    Two graphs are equal when they print the same program, whatever their sources and names.
    """

    __slots__ = ("__dict__", "inputs", "nodes", "outputs")

    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]
    nodes: tuple[Node, ...]

    def __init__(self, inputs: Iterable[Node], outputs: Iterable[Node]) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        given = set(self.inputs)
        rest = (node for node in reachable(self.outputs) if node not in given)
        self.nodes = (*self.inputs, *rest)

    @functools.cached_property
    def network(self) -> "networkx.MultiDiGraph[Node]":
        """The graph as a frozen networkx.MultiDiGraph, built at first use."""
        # A third of the time that importing stagrad would take, and calls do not need it.
        import networkx

        network: networkx.MultiDiGraph[Node] = networkx.MultiDiGraph()
        network.add_nodes_from(self.nodes)
        network.add_edges_from(
            (operand, node, position)
            for node in self.nodes
            for position, operand in enumerate(node.inputs)
        )
        return networkx.freeze(network)

    @functools.cached_property
    def users(self) -> dict[Node, tuple[Node, ...]]:
        """For every node, the nodes that read it, one entry per operand position."""
        users: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for node in self.nodes:
            for operand in node.inputs:
                users[operand].append(node)
        return {node: tuple(readers) for node, readers in users.items()}

    @functools.cached_property
    def key(self) -> tuple[Any, ...]:
        """What the program is, without sources and names: equal keys mean equal programs."""
        number = {node: position for position, node in enumerate(self.nodes)}
        lines = tuple(
            (
                node.primitive.name,
                tuple(number[operand] for operand in node.inputs),
                params_key(node.params),
                node.avals,
            )
            for node in self.nodes
        )
        return (len(self.inputs), lines, tuple(number[node] for node in self.outputs))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Graph) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        from stagrad.ir.text import text

        return text(self)

    def __repr__(self) -> str:
        counts = f"{len(self.inputs)} inputs, {len(self.nodes)} nodes, {len(self.outputs)} outputs"
        return f"<graph: {counts}>"

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)
