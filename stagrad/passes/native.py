"""Lower a graph to a Schedule for compiled targets, C and CUDA.

Every buffer is contiguous, kernels carry the loops that are printed, and movement that nothing
reads through is a kernel that copies. Operations without a scalar form in the target's language are
library calls.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from stagrad.ir import Along, Graph, Index, Literal, Node, Placement, constant_p
from stagrad.ir.index import element_steps, identity
from stagrad.ir.kernel import (
    Buffer,
    Immediate,
    Kernel,
    LibraryCall,
    Load,
    Reduce,
    Role,
    Scalar,
    Schedule,
    Statement,
    Store,
    Value,
    View,
)
from stagrad.ir.naming import C_NAMES, Names
from stagrad.ops.arithmetic import add_p
from stagrad.ops.movement import astype_p
from stagrad.passes.fuse import Cluster, base_of
from stagrad.passes.nest import Partial, nest
from stagrad.passes.schedule import KernelWriter, Scheduler, fused

ITEM_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16)}
"""Bytes of the numbers that compiled targets know, by dtype kind."""


def native_schedule(graph: Graph) -> Schedule:
    """Return the schedule of a graph for a compiled target; see `unknown_dtype` first."""
    names = Names(C_NAMES, macros=True)
    return _NativeScheduler(graph, fused(graph, has_scalar_form), names).run()


def unknown_dtype(graph: Graph) -> np.dtype | None:
    """Return a dtype of the graph that compiled targets do not know, None where they know all."""
    for node in graph.nodes:
        for aval in node.avals:
            if aval.dtype.itemsize not in ITEM_SIZES.get(aval.dtype.kind, ()):
                return aval.dtype
    return None


def has_scalar_form(node: Node) -> bool:
    """Say whether a kernel of a compiled target can hold an operation."""
    kind = node.inputs[0].aval.dtype.kind
    return node.primitive.c_template(kind, node.params) is not None


class _NativeScheduler(Scheduler):
    def kernel(self, cluster: Cluster, space: tuple[int, ...]) -> None:
        """Add the kernel of a cluster, and those that complete its reductions."""
        self.nested(KernelWriter(self, cluster, space).write(self.names.generated("k")))

    def nested(self, kernel: Kernel) -> None:
        """Add a kernel with its loops, and those that complete what it leaves in parts.

        Each point loads before it stores: a result may take the memory of what was loaded.
        """
        kernel = replace(kernel, statements=(*_values(kernel), *kernel.stores))
        loops, partials = nest(kernel, self.names)
        moved: dict[Statement, Statement] = {
            part.store: Store(part.array, (0, *part.store.index), part.reduce) for part in partials
        }
        statements = tuple(moved.get(item, item) for item in kernel.statements)
        self.steps.append(replace(kernel, statements=statements, chunks=None, nest=loops))
        for partial in partials:
            self.nested(self._completed(partial))

    def _completed(self, partial: Partial) -> Kernel:
        """Return the kernel that makes one result of a reduction's parts."""
        array, fold, store = partial.array, partial.reduce, partial.store
        shape, dtype = array.aval.shape, store.buffer.aval.dtype
        load = Load(array.name, array, identity(len(shape)))
        statements: list[Statement] = [load]
        value: Value = load
        kept = frozenset(range(1, len(shape)))
        if partial.several:
            name = self.names.generated("v")
            value = Reduce(name, fold.primitive, load, (0,), load.dtype, fold.node, kept)
            statements.append(value)
        if load.dtype != dtype:
            name = self.names.generated("v")
            params = {"dtype": dtype, "weak": False}
            value = Scalar(name, astype_p, (value,), params, dtype, fold.node, kept)
            statements.append(value)
        statements.append(Store(store.buffer, tuple(map(Along, sorted(kept))), value))
        name = self.names.generated("k")
        cols, open_axes = ((0,), frozenset({0})) if partial.several else ((), frozenset())
        return Kernel(name, shape, cols, tuple(statements), open_axes=open_axes)

    def library_call(self, node: Node, number: int) -> None:
        """Add the kernels or the call that runs the operation of a cluster of one."""
        primitive = node.primitive
        if primitive.places is not None:
            self._placed(node, number)
        elif primitive.strided is not None:
            operands, indices = zip(
                *(self._strided(node, item) for item in node.inputs), strict=True
            )
            result = self.buffer(node, Role.TEMPORARY)
            self.steps.append(
                LibraryCall(primitive, operands, (result,), node.params, node, False, indices)
            )
        else:
            super().library_call(node, number)

    def _strided(self, reader: Node, node: Node) -> tuple[Buffer, Index]:
        """Return where an operand can be read: where it lies, or in a contiguous copy."""
        read = self.access[node]
        accepts = reader.primitive.strided
        assert accepts is not None
        base = self.stored_base(node)
        _, steps = element_steps(read.index, base.aval.shape, node.aval.ndim)
        if accepts(node.aval, steps):
            return base, read.index
        return self.materialized(node), identity(node.aval.ndim)

    def _placed(self, node: Node, number: int) -> None:
        """Write operands into their places in the result."""
        assert node.primitive.places is not None
        avals = tuple(operand.aval for operand in node.inputs)
        places = node.primitive.places(avals, node.params)
        if node.primitive.update is not None:
            written = [self.stored_base(node.inputs[place.operand]) for place in places]
            _, result = self.updated(node, number, written)
        else:
            result = self.buffer(node, Role.TEMPORARY)
            if sum(avals[place.operand].size for place in places) < node.aval.size:
                self._fill(result)
        for place in places:
            operand = node.inputs[place.operand]
            self._place(operand, place, result)

    def _place(self, operand: Node, place: Placement, result: Buffer) -> None:
        value = self._read(self.stored_base(operand), self.access[operand].index)
        statements: list[Statement] = [value]
        if place.adds:
            there = Load(result.name, result, place.index)
            name, axes = self.names.generated("v"), there.axes
            dtype = result.aval.dtype
            value = Scalar(name, add_p, (there, value), {}, dtype, result.node, axes)
            statements += (there, value)
        statements.append(Store(result, place.index, value))
        self._pointwise(operand.aval.shape, *statements)

    def _fill(self, result: Buffer) -> None:
        zero = Immediate("zero", Literal(0, result.aval.dtype))
        shape = result.aval.shape
        self._pointwise(shape, zero, Store(result, identity(len(shape)), zero))

    def _pointwise(self, shape: tuple[int, ...], *statements: Statement) -> None:
        """Add a kernel that runs statements at every point of a shape."""
        self.nested(Kernel(self.names.generated("k"), shape, (), statements))

    def materialized(self, node: Node) -> Buffer:
        """Return the contiguous buffer of a node, copying it into order where it has none."""
        if node in self.buffers or node.primitive is constant_p:
            return self.stored(node)
        read = self.access[node]
        if read.base is node:
            operand = self.materialized(node.inputs[0])
            return self._renamed(node, operand)
        base = self.stored_base(node)
        if node.aval.size == base.aval.size and _in_order(read.index, base, node.aval.shape):
            return self._renamed(node, base)
        result = self.buffer(node, Role.TEMPORARY)
        self._copy(base, read.index, result)
        return result

    def _renamed(self, node: Node, buffer: Buffer) -> Buffer:
        """Return a buffer of the node's shape on another one's memory."""
        result = self.buffer(node, Role.VIEW)
        self.roots[result] = self.root(buffer)
        self.steps.append(View(node.primitive, buffer, result, node.params, node))
        return result

    def _copy(self, source: Buffer, index: Index, result: Buffer) -> None:
        value = self._read(source, index)
        shape = result.aval.shape
        self._pointwise(shape, value, Store(result, identity(len(shape)), value))

    def _read(self, source: Buffer, index: Index) -> Value:
        if source.literal_scalar:
            return Immediate(source.name, source.literal)
        return Load(source.name, source, index)

    def copied(self, node: Node, name: str, role: Role = Role.TEMPORARY) -> Buffer:
        """Return a fresh buffer holding what a node holds."""
        read = self.access[node] if not node.primitive.multiple else None
        result = Buffer(name, node.aval, role, node)
        if read is None:
            self._copy(self.materialized(node), identity(node.aval.ndim), result)
        else:
            self._copy(self.stored_base(node), read.index, result)
        return result

    def stored_base(self, node: Node) -> Buffer:
        """Return the buffer of the node that holds another one's elements."""
        return self.materialized(base_of(node, self.access))


def _values(kernel: Kernel) -> Iterator[Value]:
    return (item for item in kernel.statements if not isinstance(item, Store))


def _in_order(index: Index, base: Buffer, shape: tuple[int, ...]) -> bool:
    """Say whether the elements of a value lie one after another as its base's do."""
    offset, steps = element_steps(index, base.aval.shape, len(shape))
    natural = element_steps(identity(len(shape)), shape, len(shape))[1]
    moving = (axis for axis, extent in enumerate(shape) if extent != 1)
    return offset == 0 and all(steps[axis] == natural[axis] for axis in moving)
