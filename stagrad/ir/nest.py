"""A kernel as loops: what compiled targets print.

The loops of a nest are numbered from the outermost. Statements stand in the loops whose counters
they depend on; reductions become running values that are started, updated and finished.
"""

from dataclasses import dataclass

import numpy as np

from stagrad.ir.kernel import Buffer, Immediate, Load, Reduce, Scalar, Store

FIXED_EXTENT = 16
"""Extents up to this are part of a text; larger ones are handed to it when it runs."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a point of the loops lies in an array, in elements.

    `offset + chunk * number of the chunk + Σ steps[k] * counter of loop k`.
    """

    offset: int
    steps: tuple[int, ...]
    chunk: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """A reduction as a running value.

    - home: how many loops enclose the running value; the loops inside it are folded.
    - depth: how many loops enclose its updates.
    - dtype: of the running value, wider than the result where sums of the result's would be poor.
    - array, position: where several running values are needed at once, the array that holds them
      and the point's place there; each is then updated where the running value is finished.
    """

    reduce: Reduce
    home: int
    depth: int
    dtype: np.dtype
    array: Buffer | None = None
    position: Position | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Give a running value its first content, that of no elements."""

    fold: Fold


@dataclass(frozen=True, slots=True, eq=False)
class Update:
    """Fold the operand's value at this point into the running value."""

    fold: Fold


@dataclass(frozen=True, slots=True, eq=False)
class Finish:
    """Make the running value the reduction's value, or fold it into its array."""

    fold: Fold


@dataclass(frozen=True, slots=True, eq=False)
class Clear:
    """Start a running value in an array."""

    fold: Fold


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """Run a body for every position of a loop; `folds` are the running values it updates.

    With `vector`, the iterations are independent but for `folds`.
    """

    number: int
    body: tuple["Item", ...]
    folds: tuple[Fold, ...] = ()
    vector: bool = False


Item = Load | Immediate | Scalar | Reduce | Store | Start | Update | Finish | Clear | Loop


@dataclass(frozen=True, slots=True, eq=False)
class Nest:
    """The loops of a kernel.

    - extents: number of positions of each loop.
    - body: what runs, once for each chunk.
    - positions: where each load and store finds its element.
    - chunk: the loop that is cut into pieces, and the length of a piece; None runs in one piece.
    - scratch: arrays of the kernel's own.
    """

    extents: tuple[int, ...]
    body: tuple[Item, ...]
    positions: dict[Load | Store, Position]
    chunk: tuple[int, int] | None = None
    scratch: tuple[Buffer, ...] = ()

    @property
    def chunks(self) -> int:
        """Number of pieces."""
        return chunk_count(self.extents, self.chunk)


def chunk_count(extents: tuple[int, ...], chunk: tuple[int, int] | None) -> int:
    """Return into how many pieces a loop is cut, given the loop and the length of a piece.

    >>> chunk_count((100, 7), (0, 30)), chunk_count((100, 7), None)
    (4, 1)
    """
    if chunk is None:
        return 1
    loop, length = chunk
    return max(1, -(-extents[loop] // length))
