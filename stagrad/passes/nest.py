"""Kernels as loops: merge axes, choose the innermost, cut into chunks, place every statement."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from stagrad.ir import Along, Aval
from stagrad.ir.index import element_steps
from stagrad.ir.kernel import Buffer, Kernel, Load, Reduce, Role, Scalar, Statement, Store, Value
from stagrad.ir.naming import Names
from stagrad.ir.nest import (
    Clear,
    Finish,
    Fold,
    Item,
    Loop,
    Nest,
    Position,
    Start,
    Update,
    chunk_count,
)
from stagrad.passes.cut import cut
from stagrad.passes.sweeps import Sweeps


@dataclass(frozen=True, slots=True)
class Partial:
    """A reduction left in parts: `array` has one for each position of its first axis.

    With `several`, there may be more than one; otherwise its dtype alone is not the result's.
    """

    store: Store
    reduce: Reduce
    array: Buffer
    several: bool


def nest(kernel: Kernel, names: Names) -> tuple[Nest, tuple[Partial, ...]]:
    """Return the loops of a kernel, and the reductions that another kernel has to complete."""
    return _Nester(kernel, names).run()


class _Nester:
    def __init__(self, kernel: Kernel, names: Names) -> None:
        self.kernel = kernel
        self.names = names
        self.steps = {
            item: element_steps(item.index, item.buffer.aval.shape, len(kernel.space))
            for item in kernel.statements
            if isinstance(item, Load | Store)
        }
        groups = _ordered(_merged(kernel, self.steps), kernel, self.steps)
        self.loop_of = {axis: number for number, group in enumerate(groups) for axis in group}
        self.extents = tuple(math.prod(kernel.space[axis] for axis in group) for group in groups)
        self.positions = {
            item: Position(offset, tuple(steps[group[-1]] for group in groups))
            for item, (offset, steps) in self.steps.items()
        }
        self.depths: dict[Statement, int] = {}
        for item in kernel.statements:
            self.depths[item] = self._depth(item)
        inner = {self.loop_of[axis] for axis in kernel.cols if axis in self.loop_of}
        count = len(self.extents)
        self.rows = count - len(inner) if kernel.cols else max(count - 1, 0)
        self.scratch: list[Buffer] = []
        self.partials: list[Partial] = []

    def run(self) -> tuple[Nest, tuple[Partial, ...]]:
        kernel = self.kernel
        folds = [item for item in kernel.statements if isinstance(item, Reduce)]
        overs = {item: self._loops(item.over) for item in folds}
        updates = {item: self._update_depth(item, overs[item]) for item in folds}
        scattered = set()
        for item in folds:
            home = updates[item]
            while home > 0 and home - 1 in overs[item]:
                home -= 1
            self.depths[item] = home
            if any(loop < home for loop in overs[item]):
                scattered.add(item)
        self.sweeps = Sweeps(kernel, self.depths, updates, scattered, self.rows)
        allowed = self.rows if kernel.cols else len(self.extents)
        self.chunk = cut(kernel, self.extents, allowed, list(overs.values()))
        self.stores = {store.value: store for store in kernel.stores}
        self.folds = {
            item: self._fold(item, overs[item], updates[item], item in scattered) for item in folds
        }
        self._hold()
        body = (*self._clears(), *self._block(0))
        result = Nest(self.extents, body, self.positions, self.chunk, tuple(self.scratch))
        return result, tuple(self.partials)

    def _loops(self, axes: Iterable[int]) -> set[int]:
        return {self.loop_of[axis] for axis in axes if axis in self.loop_of}

    def _depth(self, item: Statement) -> int:
        """Return how many loops enclose a statement."""
        if isinstance(item, Load | Store):
            steps = self.positions[item].steps
            loops = {loop for loop, step in enumerate(steps) if step}
            if isinstance(item, Store):
                loops |= self._loops(e.axis for e in item.index if isinstance(e, Along))
                return max(_inside(loops), self.depths[item.value])
            return _inside(loops)
        if isinstance(item, Scalar):
            return max((self.depths[operand] for operand in item.operands), default=0)
        return _inside(self._loops(item.axes))

    def _update_depth(self, item: Reduce, over: set[int]) -> int:
        """Return how many loops enclose the updates of a reduction."""
        loops = over | self._loops(item.axes)
        depth = max(_inside(loops), self.depths[item.operand])
        assert loops == set(range(depth)), "a reduction runs over a prefix of the loops"
        return depth

    def _fold(self, item: Reduce, over: set[int], depth: int, scattered: bool) -> Fold:
        """Decide where the running value of a reduction lives."""
        home, dtype = self.depths[item], _wide(item)
        cut_loop = self.chunk[0] if self.chunk is not None else -1
        store = self.stores.get(item)
        split = cut_loop in over
        if not split and not scattered:
            return Fold(item, home, depth, dtype)
        assert store is not None, "a reduction in parts is a result of the kernel"
        if not split and dtype == store.buffer.aval.dtype:
            return Fold(item, home, depth, dtype, store.buffer, self.positions[store])
        return self._in_parts(item, store, home, depth, split)

    def _in_parts(self, item: Reduce, store: Store, home: int, depth: int, split: bool) -> Fold:
        """Give each chunk an array of running values of its own."""
        shape = store.buffer.aval.shape
        dtype = _wide(item)
        count = chunk_count(self.extents, self.chunk) if split else 1
        name = self.names.take(f"{store.buffer.name}_parts")
        parts = Buffer(name, Aval((count, *shape), dtype), Role.TEMPORARY, item.node)
        place = self.positions[store]
        position = replace(place, chunk=math.prod(shape) if split else 0)
        self.partials.append(Partial(store, item, parts, split))
        return Fold(item, home, depth, dtype, parts, position)

    def _hold(self) -> None:
        """Give the values that later sweeps read again an array of one row each."""
        extents = self.extents[self.rows :]
        count = chunk_count(self.extents, self.chunk)
        inner = [math.prod(extents[place + 1 :]) for place in range(len(extents))]
        steps = (*([0] * self.rows), *inner)
        position = Position(0, steps, 0 if self.chunk is None else math.prod(extents))
        for value in self.sweeps.held:
            name = self.names.take(f"{value.name}_row")
            aval = Aval((count, *extents), value.dtype)
            buffer = Buffer(name, aval, Role.TEMPORARY, value.node)
            self.scratch.append(buffer)
            keep, recall = Store(buffer, (), value), Load(value.name, buffer, ())
            self.positions[keep] = self.positions[recall] = position
            self.depths[keep] = self.depths[recall] = self.depths[value]
            self.sweeps.held[value] = (keep, recall)

    # The body, from the outermost loop inwards.

    def _block(self, depth: int) -> list[Item]:
        """Return what runs inside `depth` row loops."""
        if depth == self.rows:
            return self._row()
        return self._level(depth, None, self.kernel.statements, self._block(depth + 1))

    def _level(
        self, depth: int, sweep: int | None, statements: Iterable[Statement], body: list[Item]
    ) -> list[Item]:
        """Return what runs inside `depth` loops: statements, the next loop, what it folds."""
        here = [item for item in statements if self._depth_of(item) == depth]
        after = _dependents(here, {f for f in self.folds if self.folds[f].home == depth})
        items = [part for item in here if item not in after for part in self._written(item)]
        if body:
            items += self._around(depth, sweep, body)
        items += (part for item in here if item in after for part in self._written(item))
        return items

    def _around(self, depth: int, sweep: int | None, body: list[Item]) -> list[Item]:
        """Return a loop between the start and the end of the running values that it updates."""
        folds = self._at(depth, sweep)
        return [*map(Start, folds), self._loop(depth, body), *map(Finish, folds)]

    def _depth_of(self, item: Statement) -> int:
        """Return how many loops enclose what a statement does."""
        return self.folds[item].depth if isinstance(item, Reduce) else self.depths[item]

    def _row(self) -> list[Item]:
        """Return what runs for one row: sweeps over the columns, and statements between them."""
        depth = self.rows
        items: list[Item] = []
        for sweep in range(self.sweeps.count + 1):
            for item in self.kernel.statements:
                if self._depth_of(item) == depth and self.sweeps.stage[item] == sweep:
                    items += self._written(item)
            if sweep < self.sweeps.count and len(self.extents) > depth:
                body = self._columns(depth + 1, sweep, self.sweeps.items(sweep))
                if body:
                    items += self._around(depth, sweep, body)
        return items

    def _columns(self, depth: int, sweep: int, statements: list[Statement]) -> list[Item]:
        """Return what runs inside `depth` loops in one sweep over the columns."""
        last = depth == len(self.extents)
        body = [] if last else self._columns(depth + 1, sweep, statements)
        return self._level(depth, sweep, statements, body)

    def _written(self, item: Statement) -> list[Item]:
        """Return what a statement does: nothing for a store that a fold has done.

        A fold is updated, and all of it done at once where no loop lies between.
        """
        if isinstance(item, Store) and isinstance(item.value, Reduce):
            return [item] if self.folds[item.value].array is None else []
        if not isinstance(item, Reduce):
            return [item]
        fold = self.folds[item]
        if fold.home < fold.depth:
            return [Update(fold)]
        return [Start(fold), Update(fold), Finish(fold)]

    def _at(self, depth: int, sweep: int | None) -> list[Fold]:
        """Return the running values that a loop updates; the columns' are those of one sweep."""
        return [
            fold
            for item, fold in self.folds.items()
            if fold.home == depth < fold.depth
            and (sweep is None or self.sweeps.stage[item] == sweep)
        ]

    def _clears(self) -> list[Item]:
        """Return the loops that start running values in arrays, before everything else."""
        items: list[Item] = []
        for fold in self.folds.values():
            if fold.array is None:
                continue
            body: Item = Clear(fold)
            over = self._loops(fold.reduce.over)
            kept = [loop for loop in range(fold.home) if loop not in over]
            for loop in reversed(kept):
                body = Loop(loop, (body,), vector=loop == kept[-1])
            items.append(body)
        return items

    def _loop(self, number: int, body: list[Item]) -> Loop:
        innermost = not any(isinstance(item, Loop) for item in body)
        started = {item.fold for item in body if isinstance(item, Start)}
        updated = [item.fold for item in body if isinstance(item, Update)]
        folds = tuple(fold for fold in updated if fold not in started)
        return Loop(number, tuple(body), folds if innermost else (), vector=innermost)


def _inside(loops: set[int]) -> int:
    return max(loops, default=-1) + 1


def _wide(item: Reduce) -> np.dtype:
    """Return the dtype of a running value: sums of small floats are kept in double precision."""
    if item.primitive.linear and item.dtype.kind in "fc":
        return np.result_type(item.dtype, np.float64)
    return item.dtype


Steps = dict[Load | Store, tuple[int, tuple[int, ...]]]


def _merged(kernel: Kernel, accesses: Steps) -> list[list[int]]:
    """Join neighbouring axes that every access passes through as one; drop those of extent one."""
    groups: list[list[int]] = []
    reductions = [item for item in kernel.statements if isinstance(item, Reduce)]
    for axis in (*kernel.rows, *kernel.cols):
        extent = kernel.space[axis]
        if extent == 1 and axis not in kernel.open_axes:
            continue
        if groups and not kernel.open_axes & {axis, groups[-1][-1]}:
            before = groups[-1][-1]
            together = (before in kernel.cols) == (axis in kernel.cols)
            together &= all(steps[before] == steps[axis] * extent for _, steps in accesses.values())
            together &= all(
                (before in item.over) == (axis in item.over)
                and (before in item.axes) == (axis in item.axes)
                for item in reductions
            )
            if together:
                groups[-1].append(axis)
                continue
        groups.append([axis])
    return groups


def _ordered(groups: list[list[int]], kernel: Kernel, accesses: Steps) -> list[list[int]]:
    """Put the axis along which most accesses are contiguous innermost."""
    if kernel.cols or len(groups) < 2:
        return groups

    def contiguous(group: list[int]) -> int:
        moves = [abs(steps[group[-1]]) for _, steps in accesses.values()]
        return sum(1 if move == 1 else -1 if move > 1 else 0 for move in moves)

    best = max(range(len(groups)), key=lambda place: (contiguous(groups[place]), place))
    return [*groups[:best], *groups[best + 1 :], groups[best]]


def _dependents(items: list[Statement], folds: set[Reduce]) -> set[Statement]:
    """Return which statements read one of these reductions, directly or through others."""
    found: set[Statement] = {fold for fold in folds if fold not in items}
    for item in items:
        operands: tuple[Value, ...] = ()
        if isinstance(item, Scalar):
            operands = item.operands
        elif isinstance(item, Store):
            operands = (item.value,)
        if any(operand in found for operand in operands):
            found.add(item)
    return found
