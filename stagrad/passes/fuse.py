"""Fusion: which operations share a kernel.

Every step gets a level, and a value is read across steps only from a lower level, so the steps are
acyclic by construction and one pass over the edges decides everything. A kernel is what has one
iteration space and one level and hangs together by values or by large arrays that it reads.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from stagrad.ir import Along, Graph, Index, Kind, Node, constant_p, input_p, project_p
from stagrad.ir.index import identity
from stagrad.passes.access import Access, accesses

Shape = tuple[int, ...]
AxisMap = tuple[int | None, ...]

KERNEL_STATEMENTS = 256
"""Most operations of one kernel: beyond it compilers slow down and registers spill."""

WHOLE_SWEEP = 1 << 14
"""Most elements of an array that one kernel both reduces as a whole and reads again."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node runs: a level, and for kernels an iteration space.

    `axes` says for each axis of the node's value which iteration axis it is, None for an axis of
    extent one that is none; `operand_axes` says the same of a reduction's operand. `readable` means
    that other statements of the kernel may read the value.
    """

    level: int
    space: Shape | None = None
    axes: AxisMap = ()
    readable: bool = False
    operand_axes: AxisMap = ()


@dataclass(frozen=True, slots=True)
class Cluster:
    """What runs as one step: the nodes of a kernel, or a single library call (space None)."""

    nodes: tuple[Node, ...]
    space: Shape | None
    cols: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fusion:
    """The clusters, in no order yet, and what scheduling needs to know about nodes."""

    clusters: tuple[Cluster, ...]
    places: dict[Node, Place]
    accesses: dict[Node, Access]


def fuse(graph: Graph, fusible: Callable[[Node], bool]) -> Fusion:
    """Group the nodes of a graph into kernels, of elementwise operations and reductions, and calls.

    `fusible` says which of those operations may stand in kernels.
    """
    access = accesses(graph)
    placing = _Placing(access, _swept_axes(graph), fusible)
    for node in graph.nodes:
        placing.place(node)
    _sink(graph, access, placing)
    clusters = _clusters(graph, access, placing)
    return Fusion(tuple(clusters), placing.places, access)


def is_reduction(node: Node) -> bool:
    """Say whether a node is a reduction whose partial results combine by its own operation."""
    return node.primitive.kind is Kind.REDUCTION and node.primitive.c is not None


def _is_elementwise(node: Node) -> bool:
    return node.primitive.kind is Kind.ELEMENTWISE and not node.primitive.multiple


def _swept_axes(graph: Graph) -> dict[Shape, tuple[int, ...]]:
    """Choose for each shape the inner axes whose reductions a kernel may read again.

    They are the last axes, those that most reductions fold.
    """
    counts: dict[Shape, Counter[tuple[int, ...]]] = defaultdict(Counter)
    for node in graph.nodes:
        if is_reduction(node):
            shape = node.inputs[0].aval.shape
            over = node.params["axis"]
            last = tuple(range(len(shape) - len(over), len(shape)))
            if over == last and (len(over) < len(shape) or math.prod(shape) <= WHOLE_SWEEP):
                counts[shape][over] += 1
    return {
        shape: max(counter, key=lambda over: (counter[over], -len(over)))
        for shape, counter in counts.items()
    }


class _Placing:
    """Gives each node its place, in construction order."""

    def __init__(
        self,
        access: dict[Node, Access],
        cols: dict[Shape, tuple[int, ...]],
        fusible: Callable[[Node], bool],
    ) -> None:
        self.access = access
        self.cols = cols
        self.fusible = fusible
        self.places: dict[Node, Place] = {}
        self.counts: Counter[tuple[Shape, int]] = Counter()

    def place(self, node: Node) -> None:
        """Place one node; movements that are read through have no place."""
        if node.primitive in (input_p, constant_p):
            self.places[node] = Place(-1)
        elif node.primitive is project_p:
            self.places[node] = self.places[node.inputs[0]]
        elif node.primitive.multiple or self.access[node].base is node:
            if _is_elementwise(node) and self.fusible(node):
                self.places[node] = self._elementwise(node)
            elif is_reduction(node) and self.fusible(node):
                self.places[node] = self._reduction(node)
            else:
                self.places[node] = Place(max(map(self._ready, self._bases(node)), default=0))

    def _bases(self, node: Node) -> list[Node]:
        return [base_of(operand, self.access) for operand in node.inputs]

    def _ready(self, base: Node) -> int:
        """Return the first level at which another step can read a base."""
        return self.places[base].level + 1

    def _elementwise(self, node: Node) -> Place:
        shape = node.aval.shape
        joined = self._join(node.inputs, shape)
        return self._counted(joined, shape, readable=True)

    def _reduction(self, node: Node) -> Place:
        operand = node.inputs[0]
        shape = operand.aval.shape
        joined = self._join((operand,), shape)
        place = self._counted(joined, shape, readable=True)
        assert place.space is not None
        folded = node.params["axis"]
        if any(place.axes[axis] is None for axis in folded):
            place = self._counted(Place(place.level + 1, shape, identity_map(shape)), shape, True)
        kept = tuple(axis for number, axis in enumerate(place.axes) if number not in folded)
        over = tuple(place.axes[axis] for axis in folded)
        space = place.space or ()
        whole = place.axes == identity_map(space)
        readable = whole and over == self.cols.get(space)
        return Place(place.level, place.space, kept, readable, operand_axes=place.axes)

    def _join(self, operands: Sequence[Node], shape: Shape) -> Place:
        """Return the place of a value of that shape that reads the operands point by point."""
        reads = [self.access[operand] for operand in operands]
        level = 0
        for read in reads:
            place = self.places[read.base]
            level = max(level, place.level if place.readable else place.level + 1)
        joiners = [
            read
            for read in reads
            if self.places[read.base].readable and self.places[read.base].level == level
        ]
        if not joiners:
            return Place(level, shape, identity_map(shape))
        space = self.places[joiners[0].base].space
        assert space is not None
        apart = Place(level + 1, shape, identity_map(shape))
        if any(self.places[read.base].space != space for read in joiners):
            return apart
        axes = identity_map(shape) if shape == space else self._inferred(joiners, shape)
        if all(
            _reads_own_point(read, self.places[read.base].axes, axes, shape, space)
            for read in joiners
        ):
            return Place(level, space, axes)
        return apart

    def _inferred(self, joiners: Iterable[Access], shape: Shape) -> AxisMap:
        axes: list[int | None] = [None] * len(shape)
        for read in joiners:
            for entry, axis in zip(read.index, self.places[read.base].axes, strict=True):
                if isinstance(entry, Along) and axis is not None:
                    axes[entry.axis] = axis
        return tuple(axes)

    def _counted(self, place: Place, shape: Shape, readable: bool) -> Place:
        level, space, axes = place.level, place.space, place.axes
        assert space is not None
        while self.counts[space, level] >= KERNEL_STATEMENTS:
            level, space, axes = level + 1, shape, identity_map(shape)
        self.counts[space, level] += 1
        return Place(level, space, axes, readable)


def identity_map(shape: Shape) -> AxisMap:
    """Return the axis map of a value that varies along all of the iteration space."""
    return tuple(range(len(shape)))


def base_of(node: Node, access: dict[Node, Access]) -> Node:
    """Return the node that holds another's elements; one with several results holds its own."""
    return node if node.primitive.multiple else access[node].base


def _reads_own_point(
    read: Access, base_axes: AxisMap, axes: AxisMap, shape: Shape, space: Shape
) -> bool:
    """Say whether a value reads, at each point of a kernel, what the base holds at that point."""
    if any(
        extent != (1 if axis is None else space[axis])
        for axis, extent in zip(axes, shape, strict=True)
    ):
        return False
    moving = [axis for axis in axes if axis is not None]
    if moving != sorted(set(moving)):
        return False
    for entry, axis, extent in zip(read.index, base_axes, read.base.aval.shape, strict=True):
        if extent == 1:
            continue
        if not isinstance(entry, Along) or (entry.start, entry.step) != (0, 1):
            return False
        if axes[entry.axis] != axis or axis is None:
            return False
    return True


def _sink(graph: Graph, access: dict[Node, Access], placing: _Placing) -> None:
    """Move operations down to the kernel that reads them where that holds fewer bytes in memory.

    `1 - h * h`, which only the backward half reads, is then computed there from `h` instead of
    being stored by the forward kernel.
    """
    places = placing.places
    readers: dict[Node, list[Node]] = defaultdict(list)
    last_read: dict[Node, int] = {}
    for node in places:
        for operand in node.inputs:
            base = base_of(operand, access)
            readers[base].append(node)
            last_read[base] = max(last_read.get(base, 0), places[node].level)
    kept = {base_of(node, access) for node in graph.outputs}
    for node in reversed(graph.nodes):
        place = places.get(node)
        if place is None or place.space is None or node in kept or not _is_elementwise(node):
            continue
        target = _common_reader(node, places, readers[node], access)
        if target is None or target.level <= place.level or place.space != node.aval.shape:
            continue
        if placing.counts[place.space, target.level] >= KERNEL_STATEMENTS:
            continue
        cost = sum(
            base.aval.nbytes
            for base in {base_of(operand, access) for operand in node.inputs}
            if places[base].level >= 0 and last_read[base] < target.level
        )
        if cost <= node.aval.nbytes:
            places[node] = Place(target.level, place.space, place.axes, readable=True)
            placing.counts[place.space, target.level] += 1
            for operand in node.inputs:
                base = base_of(operand, access)
                last_read[base] = max(last_read[base], target.level)


def _common_reader(
    node: Node, places: dict[Node, Place], readers: list[Node], access: dict[Node, Access]
) -> Place | None:
    """Return the earliest reader's place when that one can compute the node at its own points."""
    earliest = min(readers, key=lambda reader: places[reader].level, default=None)
    if earliest is None:
        return None
    place = places[earliest]
    shape = node.aval.shape
    level = place.level
    for reader in readers:
        if places[reader].level == level:
            if places[reader].space != shape:
                return None
            for operand in reader.inputs:
                read = access[operand]
                if read.base is node and read.index != identity(len(shape)):
                    return None
    return place


def _clusters(graph: Graph, access: dict[Node, Access], placing: _Placing) -> list[Cluster]:
    """Split each level and space into the parts that hang together."""
    places = placing.places
    union = _Union()
    carriers: dict[tuple[Node, Shape, int], Node] = {}
    fused = [node for node in graph.nodes if node in places and places[node].space is not None]
    for node in fused:
        place = places[node]
        space, level = place.space, place.level
        assert space is not None
        for operand in node.inputs:
            read = access[operand]
            below = places[read.base]
            if below.space == space and below.level == level:
                union.join(node, read.base)
            elif len(space) == _moving_axes(read.index):
                union.join(node, carriers.setdefault((read.base, space, level), node))
    parts: dict[Node, list[Node]] = defaultdict(list)
    for node in fused:
        parts[union.find(node)].append(node)
    clusters = []
    for nodes in parts.values():
        space = places[nodes[0]].space
        assert space is not None
        folded = {node for node in nodes if is_reduction(node)}
        reread = any(access[operand].base in folded for node in nodes for operand in node.inputs)
        clusters.append(Cluster(tuple(nodes), space, placing.cols[space] if reread else ()))
    clusters += [
        Cluster((node,), None, ())
        for node in graph.nodes
        if node in places
        and places[node].space is None
        and places[node].level >= 0
        and node.primitive is not project_p
    ]
    return clusters


def _moving_axes(index: Index) -> int:
    return len({entry.axis for entry in index if isinstance(entry, Along)})


class _Union:
    """Disjoint sets of nodes."""

    def __init__(self) -> None:
        self._parent: dict[Node, Node] = {}

    def find(self, node: Node) -> Node:
        """Return the representative of a node's set."""
        parent = self._parent
        while (above := parent.get(node, node)) is not node:
            parent[node] = parent.get(above, above)
            node = above
        return node

    def join(self, first: Node, second: Node) -> None:
        """Make two sets one."""
        self._parent[self.find(first)] = self.find(second)
