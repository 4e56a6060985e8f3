"""The memory plan: when each buffer is needed for the last time, and where temporaries lie."""

import bisect
from collections import defaultdict

from stagrad.ir.index import Along
from stagrad.ir.kernel import Buffer, Kernel, Role, Schedule, Step, reads, writes

ALIGNMENT = 64
"""Bytes of a cache line, and of the widest vector register."""


def plan(
    inputs: tuple[Buffer, ...],
    constants: tuple[Buffer, ...],
    steps: tuple[Step, ...],
    outputs: tuple[Buffer, ...],
    roots: dict[Buffer, Buffer],
) -> Schedule:
    """Return the schedule with lifetimes and offsets.

    `roots` names, for each buffer that shares memory with another, the one that owns it.
    """

    def root(buffer: Buffer) -> Buffer:
        return roots.get(buffer, buffer)

    last: dict[Buffer, int] = {}
    first: dict[Buffer, int] = {}
    for number, step in enumerate(steps):
        for buffer in (*reads(step), *writes(step)):
            last[root(buffer)] = number
        for buffer in writes(step):
            first.setdefault(root(buffer), number)
    returned = {root(buffer) for buffer in outputs}
    releases: list[list[Buffer]] = [[] for _ in steps]
    for buffer, number in last.items():
        if buffer not in returned and buffer.role is Role.TEMPORARY:
            releases[number].append(buffer)
    offsets, workspace = _place(steps, first, releases)
    return Schedule(
        inputs, constants, steps, outputs, tuple(map(tuple, releases)), roots, offsets, workspace
    )


def _place(
    steps: tuple[Step, ...], first: dict[Buffer, int], releases: list[list[Buffer]]
) -> tuple[dict[Buffer, int], int]:
    """Give each released temporary an offset: the tightest gap that is free for its lifetime."""
    released = {buffer for buffers in releases for buffer in buffers}
    born: dict[int, list[Buffer]] = defaultdict(list)
    for buffer, number in first.items():
        if buffer in released:
            born[number].append(buffer)
    gaps = _Gaps()
    offsets: dict[Buffer, int] = {}
    for number, step in enumerate(steps):
        dying = [buffer for buffer in releases[number] if buffer in offsets]
        for buffer in born[number]:
            heir = _replaced(step, buffer, dying)
            if heir is None:
                offsets[buffer] = gaps.take(_aligned(buffer.aval.nbytes))
            else:
                offsets[buffer] = offsets[heir]
                dying.remove(heir)
        dying += [buffer for buffer in releases[number] if buffer in born[number]]
        for buffer in dying:
            gaps.give(offsets[buffer], _aligned(buffer.aval.nbytes))
    return offsets, gaps.end


def _replaced(step: Step, buffer: Buffer, dying: list[Buffer]) -> Buffer | None:
    """Return a dying buffer whose elements a kernel reads just where it writes this one's.

    Each element belongs to one point: what other points read must not be written over before.
    """
    if not isinstance(step, Kernel) or (step.nest is not None and step.cols):
        return None
    index = next((store.index for store in step.stores if store.buffer is buffer), None)
    if index is None or {entry.axis for entry in index if isinstance(entry, Along)} != set(
        range(len(step.space))
    ):
        return None
    for candidate in dying:
        loads = [load for load in step.loads if load.buffer is candidate]
        if (
            candidate.aval.nbytes == buffer.aval.nbytes
            and candidate.aval.dtype.itemsize == buffer.aval.dtype.itemsize
            and [load.index for load in loads] == [index]
        ):
            return candidate
    return None


def _aligned(count: int) -> int:
    return -(-count // ALIGNMENT) * ALIGNMENT


class _Gaps:
    """The free parts of a growing workspace, kept sorted and merged."""

    def __init__(self) -> None:
        self.end = 0
        self._starts: list[int] = []
        self._sizes: list[int] = []

    def take(self, size: int) -> int:
        """Return the offset of a free part of that size."""
        fitting = [(gap, place) for place, gap in enumerate(self._sizes) if gap >= size]
        if not fitting:
            offset = self.end
            self.end += size
            return offset
        gap, place = min(fitting)
        offset = self._starts[place]
        if gap == size:
            del self._starts[place], self._sizes[place]
        else:
            self._starts[place] += size
            self._sizes[place] -= size
        return offset

    def give(self, offset: int, size: int) -> None:
        """Free a part, merging it with its neighbours."""
        place = bisect.bisect(self._starts, offset)
        self._starts.insert(place, offset)
        self._sizes.insert(place, size)
        for lower in (place, place - 1):
            if 0 <= lower < len(self._starts) - 1:
                end = self._starts[lower] + self._sizes[lower]
                if end == self._starts[lower + 1]:
                    self._sizes[lower] += self._sizes[lower + 1]
                    del self._starts[lower + 1], self._sizes[lower + 1]
