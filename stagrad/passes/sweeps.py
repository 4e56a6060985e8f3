"""Sweeps: which statements of a kernel run in which pass over its columns.

A statement that needs a finished reduction over the columns belongs to a later sweep than the
reduction. What a later sweep reads again is computed again where that is cheap, and otherwise held
in an array of one row.
"""

import math

from stagrad.ir.kernel import Kernel, Load, Reduce, Scalar, Statement, Store, Value
from stagrad.passes.costs import scalar_cost

RECOMPUTED = 4.0
"""Most nanoseconds that computing a value of one point again may cost."""


class Sweeps:
    """The sweeps of a kernel over its columns.

    `depths` says how many loops enclose each statement, and each reduction's running value; its
    updates are inside `updates` of them. The `scattered` ones are finished outside the loops.

    - count: number of sweeps.
    - stage: for each statement, how many sweeps must have ended before it can run.
    - held: values read again, each with the store that keeps it and the load that recalls it,
      which whoever makes the arrays fills in.
    """

    def __init__(
        self,
        kernel: Kernel,
        depths: dict[Statement, int],
        updates: dict[Reduce, int],
        scattered: set[Reduce],
        rows: int,
    ) -> None:
        self.kernel = kernel
        self.depths = depths
        self.updates = updates
        self.scattered = scattered
        self.rows = rows
        self.stage: dict[Statement, int] = {}
        for item in kernel.statements:
            self.stage[item] = self._stage(item)
        inner = [item for item in kernel.statements if self._is_inner(item)]
        self.count = max((self.stage[item] + 1 for item in inner), default=0)
        self.held: dict[Scalar, tuple[Store, Load] | None] = {}
        self._computed: dict[Scalar, int] = {}
        self._needed: list[dict[Statement, bool]] = []
        for sweep in range(self.count):
            needed: dict[Statement, bool] = {}
            for item in inner:
                if isinstance(item, Store | Reduce) and self.stage[item] == sweep:
                    self._need(_operand(item), sweep, needed)
                    needed[item] = True
            self._needed.append(needed)

    def _is_inner(self, item: Statement) -> bool:
        """Say whether a statement runs inside the column loops."""
        if isinstance(item, Reduce):
            return self.updates[item] > self.rows
        if isinstance(item, Store) and item.value in self.scattered:
            return False
        return self.depths[item] > self.rows

    def _stage(self, item: Statement) -> int:
        if isinstance(item, Scalar):
            return max((self._after(operand) for operand in item.operands), default=0)
        if isinstance(item, Store | Reduce):
            return self._after(_operand(item))
        return 0

    def _after(self, value: Value) -> int:
        """Return in which sweep a value can be read."""
        finished = isinstance(value, Reduce) and self.depths[value] <= self.rows
        return self.stage[value] + (finished and self._is_inner(value))

    def _need(self, value: Value, sweep: int, needed: dict[Statement, bool]) -> None:
        """Mark what has to be computed in a sweep so that a value can be read there."""
        waiting = [value]
        while waiting:
            item = waiting.pop()
            if item in needed or isinstance(item, Reduce) or self.depths[item] <= self.rows:
                continue
            needed[item] = True
            if not isinstance(item, Scalar):
                continue
            if self._computed.setdefault(item, sweep) < sweep and self._cost(item) > RECOMPUTED:
                self.held[item] = None
                needed[item] = False
                continue
            waiting += item.operands

    def _cost(self, value: Value) -> float:
        """Return what computing a value from what is loaded costs; large where many values do."""
        seen: set[Value] = set()
        waiting, cost = [value], 0.0
        while waiting and cost <= RECOMPUTED:
            item = waiting.pop()
            if item in seen or not isinstance(item, Scalar) or self.depths[item] <= self.rows:
                continue
            seen.add(item)
            cost += scalar_cost(item)
            waiting += item.operands
        return cost if not waiting else math.inf

    def items(self, sweep: int) -> list[Statement]:
        """Return the statements inside the column loops of one sweep, in order."""
        needed = self._needed[sweep]
        items: list[Statement] = []
        for item in self.kernel.statements:
            computed = needed.get(item)
            if computed is None:
                continue
            held = self.held.get(item) if isinstance(item, Scalar) else None
            if computed or held is None:
                items.append(item)
            if held is not None and isinstance(item, Scalar):
                store, load = held
                if not computed:
                    items.append(load)
                elif self._computed[item] == sweep:
                    items.append(store)
        return items


def _operand(item: Store | Reduce) -> Value:
    return item.value if isinstance(item, Store) else item.operand
