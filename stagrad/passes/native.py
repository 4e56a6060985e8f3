"""Lower a graph to a Schedule for compiled targets, C and CUDA.

Every buffer is contiguous, kernels carry the loops that are printed, and movement that nothing
reads through is a kernel that copies. Operations without a scalar form in the target's language are
library calls.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from stagrad.ir import Along, Graph, Index, Node, constant_p
from stagrad.ir.index import identity
from stagrad.ir.kernel import (
    Buffer,
    Immediate,
    Kernel,
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
from stagrad.ir.naming import C_NAMES
from stagrad.ops.movement import astype_p
from stagrad.passes.fuse import Cluster, base_of
from stagrad.passes.nest import Partial, nest
from stagrad.passes.schedule import KernelWriter, Scheduler, fused

ITEM_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16)}
"""Bytes of the numbers that compiled targets know, by dtype kind."""


def native_schedule(graph: Graph) -> Schedule:
    """Return the schedule of a graph for a compiled target; see `unknown_dtype` first."""
    return _NativeScheduler(graph, fused(graph, has_scalar_form), C_NAMES).run()


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

    def materialized(self, node: Node) -> Buffer:
        """Return the contiguous buffer of a node, copying it into order where it has none."""
        if node in self.buffers or node.primitive is constant_p:
            return self.stored(node)
        read = self.access[node]
        if read.base is node:
            operand = self.materialized(node.inputs[0])
            return self._renamed(node, operand)
        base = self.materialized(read.base)
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
        value: Value
        if source.literal_scalar:
            value = Immediate(source.name, source.literal)
        else:
            value = Load(source.name, source, index)
        shape = result.aval.shape
        statements: tuple[Statement, ...] = (value, Store(result, identity(len(shape)), value))
        self.nested(Kernel(self.names.generated("k"), shape, (), statements))

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
    moving = [entry for entry in index if not isinstance(entry, int)]
    axes = [entry.axis for entry in moving if shape[entry.axis] != 1]
    whole = all(entry.start == 0 and entry.step == 1 for entry in moving if shape[entry.axis] != 1)
    return whole and axes == sorted(set(axes)) and math.prod(shape) == base.aval.size
