"""Lower a graph to a Schedule: buffers, and the steps that fill them, in order."""

import dataclasses
from collections.abc import Callable, Iterable

from stagrad.ir import Along, Graph, Index, Node, constant_p, project_p
from stagrad.ir.index import compose
from stagrad.ir.kernel import (
    Buffer,
    Copy,
    Fill,
    Immediate,
    Kernel,
    LibraryCall,
    Load,
    Reduce,
    Role,
    Scalar,
    Schedule,
    Statement,
    Step,
    Store,
    Value,
    View,
    reads,
)
from stagrad.ir.naming import Names, NodeNames
from stagrad.passes.chunk import chunks
from stagrad.passes.fuse import AxisMap, Cluster, Fusion, Place, base_of, fuse, is_reduction
from stagrad.passes.lifetimes import Lifetimes
from stagrad.passes.memory import plan
from stagrad.passes.order import ordered


def schedule(graph: Graph, *, kernels: bool = True) -> Schedule:
    """Return the schedule of a graph; with `kernels=False`, one library call per operation."""
    names = Names(_texts_own_names(graph))
    return Scheduler(graph, fused(graph, lambda node: kernels), names).run()


def fused(graph: Graph, fusible: Callable[[Node], bool]) -> Fusion:
    """Return the clusters of a graph in the order in which they run."""
    fusion = fuse(graph, fusible)
    return dataclasses.replace(fusion, clusters=tuple(ordered(fusion)))


class Scheduler:
    """Turns clusters into steps one by one, naming and creating buffers as they are filled."""

    def __init__(self, graph: Graph, fusion: Fusion, names: Names) -> None:
        self.graph = graph
        self.fusion = fusion
        self.access = fusion.accesses
        self.names = names
        self.node_names = NodeNames(graph.nodes, self.names)
        self.buffers: dict[Node, Buffer] = {}
        self.roots: dict[Buffer, Buffer] = {}
        self.steps: list[Step] = []
        self.lifetimes = Lifetimes(graph, fusion)

    def run(self) -> Schedule:
        """Lower all clusters, then the outputs."""
        for node in self.graph.inputs:
            self.buffer(node, Role.INPUT)
        for number, cluster in enumerate(self.fusion.clusters):
            if cluster.space is not None:
                self.kernel(cluster, cluster.space)
            elif cluster.nodes[0].primitive.view is not None:
                self.materialized(cluster.nodes[0])
            else:
                self.library_call(cluster.nodes[0], number)
        outputs = tuple(self._outputs())
        used = {buffer for step in self.steps for buffer in reads(step)}
        return plan(
            inputs=tuple(self.buffers[node] for node in self.graph.inputs),
            constants=tuple(
                item
                for item in self.buffers.values()
                if item.role is Role.CONSTANT and item in used
            ),
            steps=tuple(self.steps),
            outputs=outputs,
            roots=self.roots,
        )

    def buffer(self, node: Node, role: Role, name: str | None = None) -> Buffer:
        """Make the buffer of a node."""
        buffer = Buffer(name or self.node_names[node], node.aval, role, node)
        self.buffers[node] = buffer
        return buffer

    def stored(self, node: Node) -> Buffer:
        """Return the buffer of a node that has one, or of a constant."""
        buffer = self.buffers.get(node)
        return self.buffer(node, Role.CONSTANT) if buffer is None else buffer

    def root(self, buffer: Buffer) -> Buffer:
        """Return the buffer that owns another one's memory."""
        return self.roots.get(buffer, buffer)

    def materialized(self, node: Node) -> Buffer:
        """Return the buffer of a node, naming it by views of a buffer that exists where needed."""
        missing = []
        while node not in self.buffers and node.primitive is not constant_p:
            missing.append(node)
            node = node.inputs[0]
        buffer = self.stored(node)
        for node in reversed(missing):
            result = self.buffer(node, Role.VIEW)
            self.roots[result] = self.root(buffer)
            self.steps.append(View(node.primitive, buffer, result, node.params, node))
            buffer = result
        return buffer

    def library_call(self, node: Node, number: int) -> None:
        """Add the step that runs the operation of a cluster of one."""
        if node.primitive.update is not None:
            self._update(node, number)
            return
        operands = tuple(self.materialized(operand) for operand in node.inputs)
        if node.primitive.multiple:
            results = self._parts(node)
        else:
            results = (self.buffer(node, Role.TEMPORARY),)
        self.steps.append(LibraryCall(node.primitive, operands, results, node.params, node))

    def _update(self, node: Node, number: int) -> None:
        """Run an operation in operand 0's memory, or in a copy of it."""
        others = tuple(self.materialized(operand) for operand in node.inputs[1:])
        owner, result = self.updated(node, number, others)
        operands = (owner, *others)
        self.steps.append(LibraryCall(node.primitive, operands, (result,), node.params, node, True))

    def updated(self, node: Node, number: int, others: Iterable[Buffer]) -> tuple[Buffer, Buffer]:
        """Return operand 0 and the result in its memory; a copy where others need that or own it.

        `number` is the node's cluster, `others` what is read while the memory changes.
        """
        first = node.inputs[0]
        owner = self.buffers.get(first)
        if (
            owner is None
            or owner.role is not Role.TEMPORARY
            or self.lifetimes.last.get(first) != number
            or any(self.root(other) is self.root(owner) for other in others)
        ):
            owner = self.copied(first, self.node_names[node])
        result = self.buffer(node, Role.TEMPORARY, owner.name)
        self.roots[result] = self.root(owner)
        return owner, result

    def copied(self, node: Node, name: str, role: Role = Role.TEMPORARY) -> Buffer:
        """Return a fresh buffer holding what a node holds."""
        result = Buffer(name, node.aval, role, node)
        base = base_of(node, self.access)
        if base.primitive is constant_p and not base.aval.shape:
            self.steps.append(Fill(base.params["value"], result))
        else:
            self.steps.append(Copy(self.materialized(node), result))
        return result

    def _parts(self, node: Node) -> tuple[Buffer, ...]:
        """Return one buffer per result; parts that nobody takes get one of their own."""
        parts = {
            user.params["index"]: user
            for user in self.graph.users[node]
            if user.primitive is project_p
        }
        buffers = []
        for index, aval in enumerate(node.avals):
            part = parts.get(index)
            if part is None:
                buffers.append(Buffer(self.names.generated("v"), aval, Role.TEMPORARY, node))
            else:
                buffers.append(self.buffer(part, Role.TEMPORARY))
        return tuple(buffers)

    def kernel(self, cluster: Cluster, space: tuple[int, ...]) -> None:
        """Add the step that computes a cluster."""
        writer = KernelWriter(self, cluster, space)
        self.steps.append(writer.write(self.names.generated("k")))

    def _outputs(self) -> list[Buffer]:
        """Return the outputs' buffers, copying what would share memory with something else."""
        given: set[Buffer] = set()
        outputs = []
        for node in self.graph.outputs:
            base = base_of(node, self.access)
            owner = self.buffers.get(base)
            owned = (
                owner is not None
                and self.root(owner).role is Role.TEMPORARY
                and self.root(owner) not in given
                and node.aval.size == self.root(owner).aval.size
            )
            buffer = self.materialized(node) if owned else None
            if buffer is None or self.root(buffer) in given:
                buffer = self.copied(node, self.names.take(self.node_names[node]), Role.OUTPUT)
            given.add(self.root(buffer))
            outputs.append(buffer)
        return outputs


def _texts_own_names(graph: Graph) -> set[str]:
    """Return the names that emitted texts use for functions of their own."""
    primitives = {node.primitive for node in graph.nodes}
    return {helper.__name__ for record in primitives for helper in record.helpers} | {"in_blocks"}


class KernelWriter:
    """Writes the statements of one kernel."""

    def __init__(self, scheduler: Scheduler, cluster: Cluster, space: tuple[int, ...]) -> None:
        self.scheduler = scheduler
        self.cluster = cluster
        self.space = space
        self.statements: list[Statement] = []
        self.values: dict[Node, Value] = {}
        self.loads: dict[tuple[Node, Index], Value] = {}

    def write(self, name: str) -> Kernel:
        """Return the kernel of the cluster."""
        for node in self.cluster.nodes:
            place = self.scheduler.fusion.places[node]
            value = self._reduce(node, place) if is_reduction(node) else self._scalar(node, place)
            self.values[node] = value
            self.statements.append(value)
            if node in self.scheduler.lifetimes.stored:
                buffer = self.scheduler.buffer(node, Role.TEMPORARY)
                self.statements.append(Store(buffer, _index(place.axes), value))
        cols, statements = self.cluster.cols, tuple(self.statements)
        return Kernel(name, self.space, cols, statements, chunks(self.space, cols, statements))

    def _scalar(self, node: Node, place: Place) -> Scalar:
        operands = tuple(self._operand(operand, _index(place.axes)) for operand in node.inputs)
        axes = frozenset().union(*(operand.axes for operand in operands))
        name = self.scheduler.node_names[node]
        return Scalar(name, node.primitive, operands, node.params, node.aval.dtype, node, axes)

    def _reduce(self, node: Node, place: Place) -> Reduce:
        whole = _index(place.operand_axes)
        operand = self._operand(node.inputs[0], whole)
        folded = (place.operand_axes[axis] for axis in node.params["axis"])
        over = tuple(axis for axis in folded if axis is not None)
        axes = frozenset(axis for axis in place.axes if axis is not None)
        name = self.scheduler.node_names[node]
        return Reduce(name, node.primitive, operand, over, node.aval.dtype, node, axes)

    def _operand(self, node: Node, point: Index) -> Value:
        read = self.scheduler.access[node]
        known = self.values.get(read.base)
        if known is not None:
            return known
        index = compose(read.index, point)
        value = self.loads.get((read.base, index))
        if value is None:
            buffer = self.scheduler.stored(read.base)
            if read.base.primitive is constant_p and not index:
                value = Immediate(buffer.name, buffer.literal)
            else:
                value = Load(buffer.name, buffer, index)
            self.loads[read.base, index] = value
            self.statements.append(value)
        return value


def _index(axes: AxisMap) -> Index:
    return tuple(0 if axis is None else Along(axis) for axis in axes)
