"""The invariants of a schedule."""

import itertools
from typing import NoReturn

from stagrad.errors import VerifyError
from stagrad.ir.index import Along, Index
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
    Step,
    Store,
    Value,
    reads,
    writes,
)


def verify_schedule(schedule: Schedule) -> None:
    """Raise VerifyError when an invariant does not hold.

    - Names belong to one memory: only what shares it in place shares a name.
    - A step reads what earlier steps filled and nothing has released; it fills nothing twice.
    - Results own their memory, each its own: no input's, no constant's, no other result's.
    - In a kernel, statements read earlier ones of it; indices stay within their buffers; every
      element of a stored buffer is written by the points that differ along its axes, and no others;
      a reduction whose result is read folds exactly the axes that are swept.
    - Temporaries that live at the same time do not overlap in the workspace.
    """
    _Verifier(schedule).run()


class _Verifier:
    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.filled: set[Buffer] = set()
        self.owners: dict[str, Buffer] = {}
        self.live: set[Buffer] = {*schedule.inputs, *schedule.constants}

    def run(self) -> None:
        schedule = self.schedule
        for buffer in (*schedule.inputs, *schedule.constants):
            self._fill(buffer)
        for step, released in zip(schedule.steps, schedule.releases, strict=True):
            for buffer in reads(step):
                if buffer not in self.filled or self.root(buffer) not in self.live:
                    _fail(f"{buffer!r} is read when it is not there")
            if isinstance(step, Kernel):
                _verify_kernel(step)
            for buffer in writes(step):
                self._fill(buffer, step)
            self._verify_workspace(step, released)
            for buffer in released:
                if buffer not in self.live:
                    _fail(f"{buffer!r} is released when it is not there")
                self.live.remove(buffer)
        self._verify_outputs()

    def root(self, buffer: Buffer) -> Buffer:
        """Return the buffer that owns another one's memory."""
        return self.schedule.roots.get(buffer, buffer)

    def _fill(self, buffer: Buffer, step: Step | None = None) -> None:
        if buffer in self.filled:
            _fail(f"{buffer!r} is filled twice")
        in_place = isinstance(step, LibraryCall) and step.in_place
        if self.owners.setdefault(buffer.name, self.root(buffer)) is not self.root(buffer):
            _fail(f"the name {buffer.name} is given to two arrays")
        if in_place and self.root(buffer).role is not Role.TEMPORARY:
            _fail(f"{buffer!r} is written over memory that is not ours")
        self.filled.add(buffer)
        self.live.add(self.root(buffer))

    def _verify_outputs(self) -> None:
        roots = [self.root(buffer) for buffer in self.schedule.outputs]
        for buffer, root in zip(self.schedule.outputs, roots, strict=True):
            if buffer not in self.filled or root not in self.live:
                _fail(f"the result {buffer!r} is not there at the end")
            if root.role in (Role.INPUT, Role.CONSTANT):
                _fail(f"the result {buffer!r} is the memory of {root!r}")
        if len(set(roots)) != len(roots):
            _fail("two results share their memory")

    def _verify_workspace(self, step: Step, released: tuple[Buffer, ...]) -> None:
        offsets = self.schedule.offsets
        replaced = self._replaced(step, released) if isinstance(step, Kernel) else set()
        spans = sorted(
            (offsets[buffer], offsets[buffer] + buffer.aval.nbytes, buffer.name)
            for buffer in self.live - replaced
            if buffer in offsets and buffer.aval.nbytes
        )
        for (_, end, name), (start, _, other) in itertools.pairwise(spans):
            if start < end:
                _fail(f"{name} and {other} overlap in the workspace")
        if spans and max(end for _, end, _ in spans) > self.schedule.workspace:
            _fail("the workspace is too small")

    def _replaced(self, kernel: Kernel, released: tuple[Buffer, ...]) -> set[Buffer]:
        """Return the buffers whose elements a kernel reads last just where it writes another's."""
        offsets = self.schedule.offsets
        stores = {offsets.get(store.buffer): store for store in kernel.stores}
        replaced = set()
        for buffer in released:
            store = stores.get(offsets.get(buffer))
            indices = {load.index for load in kernel.loads if load.buffer is buffer}
            if store is not None and store.buffer is not buffer and indices == {store.index}:
                replaced.add(buffer)
        return replaced


def _verify_kernel(kernel: Kernel) -> None:
    known: set[int] = set()
    reread = {id(operand) for item in kernel.statements for operand in _operands(item)}
    for item in kernel.statements:
        for operand in _operands(item):
            if id(operand) not in known:
                _fail(f"{kernel.name}: {operand.name} is read before it is computed")
        known.add(id(item))
        if isinstance(item, Load):
            _verify_index(kernel, item.buffer, item.index)
        elif isinstance(item, Store):
            _verify_index(kernel, item.buffer, item.index)
            _verify_store(kernel, item)
        elif isinstance(item, Reduce):
            if id(item) in reread and tuple(sorted(item.over)) != kernel.cols:
                _fail(f"{kernel.name}: {item.name} is read but does not fold the swept axes")
            if kernel.chunks is not None and kernel.chunks.axis in item.over and id(item) in reread:
                _fail(f"{kernel.name}: {item.name} is read before all chunks are done")


def _operands(item: Statement) -> tuple[Value, ...]:
    """Return the statements that a statement's own computation reads."""
    if isinstance(item, Scalar):
        return item.operands
    return (item.operand,) if isinstance(item, Reduce) else ()


def _verify_index(kernel: Kernel, buffer: Buffer, index: Index) -> None:
    if len(index) != buffer.aval.ndim:
        _fail(f"{kernel.name}: {index} does not index {buffer!r}")
    if not kernel.size:
        return
    for entry, extent in zip(index, buffer.aval.shape, strict=True):
        places = [entry] if isinstance(entry, int) else _ends(entry, kernel.space)
        if not all(0 <= place < extent for place in places):
            _fail(f"{kernel.name}: {index} leaves {buffer!r}")


def _ends(entry: Along, space: tuple[int, ...]) -> list[int]:
    return [entry.start, entry.start + entry.step * (space[entry.axis] - 1)]


def _verify_store(kernel: Kernel, item: Store) -> None:
    """Check that a store reaches every element of its buffer once."""
    moving = [entry.axis for entry in item.index if isinstance(entry, Along)]
    if moving != sorted(set(moving)):
        _fail(f"{kernel.name}: {item.index} is no index to store at")
    shape = tuple(
        kernel.space[entry.axis] if isinstance(entry, Along) else 1 for entry in item.index
    )
    if shape != item.buffer.aval.shape:
        _fail(f"{kernel.name}: {item.index} does not cover {item.buffer!r}")
    if isinstance(item.value, Immediate | Load):
        return
    folded = set(item.value.over) if isinstance(item.value, Reduce) else set()
    loose = {axis for axis in item.value.axes - set(moving) - folded if kernel.space[axis] != 1}
    if loose:
        _fail(f"{kernel.name}: {item.buffer!r} is written more than once along {sorted(loose)}")


def _fail(fault: str) -> NoReturn:
    raise VerifyError(f"schedule: {fault}")
