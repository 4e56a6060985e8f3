"""What each step of a schedule costs, for people to read."""

import math
from dataclasses import dataclass

from stagrad.ir.graph import Node, Source
from stagrad.ir.kernel import (
    Kernel,
    LibraryCall,
    Reduce,
    Scalar,
    Schedule,
    reads,
    writes,
)
from stagrad.ir.primitive import Kind


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """One step of a program that does work.

    - name: the kernel's name, or the library operation's.
    - operations: the operations in it, in order.
    - space: extents of the iteration space; the result's shape for a library call.
    - bytes_read, bytes_written: sizes of the arrays it reads and fills.
    - flops: number of scalar operations; an estimate, None where the operation does not say.
    - lines: the user's lines that it computes or differentiates, in order.
    """

    name: str
    operations: tuple[str, ...]
    space: tuple[int, ...]
    bytes_read: int
    bytes_written: int
    flops: int | None
    lines: tuple[Source, ...]

    def __str__(self) -> str:
        lines = ", ".join(map(str, self.lines))
        work = "?" if self.flops is None else f"{self.flops:,}"
        return (
            f"{self.name} over {self.space}: {self.bytes_read:,} bytes read, "
            f"{self.bytes_written:,} written, {work} flops ({', '.join(self.operations)}) {lines}"
        )


def kernel_infos(schedule: Schedule) -> tuple[KernelInfo, ...]:
    """Return what the steps of a schedule cost, but for those that only rename or copy arrays.

    >>> import numpy as np, stagrad
    >>> lowered = stagrad.compile(lambda x: np.sum(np.sin(x) * x)).lower(stagrad.aval("f64[5]"))
    >>> [(info.operations, info.space, info.bytes_read, info.flops) for info in lowered.kernels]
    [(('sin', 'multiply', 'sum'), (5,), 40, 15)]
    """
    return tuple(
        kernel_info(step) for step in schedule.steps if isinstance(step, Kernel | LibraryCall)
    )


def kernel_info(step: Kernel | LibraryCall) -> KernelInfo:
    """Return what one step costs."""
    read = sum(buffer.aval.nbytes for buffer in dict.fromkeys(reads(step)))
    written = sum(buffer.aval.nbytes for buffer in writes(step))
    if isinstance(step, LibraryCall):
        name = step.primitive.name
        shape = step.results[0].aval.shape
        return KernelInfo(name, (name,), shape, read, written, _flops(step), _lines([step.node]))
    work = [item for item in step.statements if isinstance(item, Scalar | Reduce)]
    flops = sum(_points(step, item) for item in work)
    names = tuple(item.primitive.name for item in work)
    lines = _lines([item.node for item in work])
    return KernelInfo(step.name, names, step.space, read, written, flops, lines)


def _points(kernel: Kernel, item: Scalar | Reduce) -> int:
    axes = item.axes if isinstance(item, Scalar) else item.axes | set(item.over)
    return math.prod(kernel.space[axis] for axis in axes)


def _flops(step: LibraryCall) -> int | None:
    """Return the multiplications and additions of a product of arrays."""
    if step.primitive.kind is not Kind.CONTRACTION or not step.operands[0].aval.shape:
        return None
    return 2 * step.results[0].aval.size * step.operands[0].aval.shape[-1]


def _lines(nodes: list[Node]) -> tuple[Source, ...]:
    return tuple(dict.fromkeys(node.origin for node in nodes if node.origin is not None))
