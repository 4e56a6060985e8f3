"""The second level of the IR: a program as buffers and steps, which printers turn into text.

A `Schedule` runs its steps in order. A `Kernel` computes scalar statements at every point of an
iteration space; a `LibraryCall` runs one operation on whole arrays; a `View` names part of a
buffer, or all of it in another order; `Copy` and `Fill` fill a fresh buffer.
"""

import enum
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stagrad.ir.aval import Aval
from stagrad.ir.graph import Node
from stagrad.ir.index import Along, Index
from stagrad.ir.literal import Literal
from stagrad.ir.primitive import Params, Primitive

if TYPE_CHECKING:
    from stagrad.ir.nest import Nest


class Role(enum.Enum):
    """Who owns the memory of a buffer."""

    INPUT = "input"
    CONSTANT = "constant"
    TEMPORARY = "temporary"
    OUTPUT = "output"
    VIEW = "view"


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """An array that steps read and write; `node` is the operation whose value it holds."""

    name: str
    aval: Aval
    role: Role
    node: Node

    @property
    def literal(self) -> Literal:
        """The value of a constant buffer."""
        return self.node.params["value"]  # type: ignore[no-any-return]

    @property
    def literal_scalar(self) -> bool:
        """Whether the buffer is a single known number, which texts hold instead of reading it."""
        return self.role is Role.CONSTANT and not self.aval.shape

    def __repr__(self) -> str:
        return f"<{self.role.value} {self.name}: {self.aval}>"


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """Read one element of a buffer."""

    name: str
    buffer: Buffer
    index: Index

    @property
    def dtype(self) -> np.dtype:
        """Dtype of the element."""
        return self.buffer.aval.dtype

    @property
    def axes(self) -> frozenset[int]:
        """Iteration axes along which the value changes."""
        return frozenset(entry.axis for entry in self.index if isinstance(entry, Along))


@dataclass(frozen=True, slots=True, eq=False)
class Immediate:
    """A scalar constant."""

    name: str
    literal: Literal
    axes: frozenset[int] = frozenset()

    @property
    def dtype(self) -> np.dtype:
        """Dtype of the constant."""
        return self.literal.array.dtype


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """Apply an elementwise operation to the values of earlier statements."""

    name: str
    primitive: Primitive
    operands: tuple["Value", ...]
    params: Params
    dtype: np.dtype
    node: Node
    axes: frozenset[int]


@dataclass(frozen=True, slots=True, eq=False)
class Reduce:
    """Fold a value over iteration axes with a reduction; statements after it see the final value.

    A value that other statements of the kernel read is folded over exactly the kernel's `cols`.
    """

    name: str
    primitive: Primitive
    operand: "Value"
    over: tuple[int, ...]
    dtype: np.dtype
    node: Node
    axes: frozenset[int]


Value = Load | Immediate | Scalar | Reduce


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """Write a value to one element of a buffer, which every point does for its own."""

    buffer: Buffer
    index: Index
    value: Value


Statement = Value | Store


@dataclass(frozen=True, slots=True)
class Chunks:
    """How an iteration space is cut: `length` positions of one of its outer axes at a time."""

    axis: int
    length: int

    def count(self, space: tuple[int, ...]) -> int:
        """Return the number of chunks; the last may be shorter."""
        return -(-space[self.axis] // self.length)


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """Scalar statements, run at every point of an iteration space.

    `cols` are the inner axes, swept once for every chain of reductions over them that other
    statements read; the remaining axes are the rows, whose points do not depend on each other.
    With `chunks`, the work is done in pieces, each with partial results of its own for reductions
    over the axis that is cut. Compiled targets print the `nest`. The extents of `open_axes` are no
    part of any text, however small.
    """

    name: str
    space: tuple[int, ...]
    cols: tuple[int, ...]
    statements: tuple[Statement, ...]
    chunks: Chunks | None = None
    nest: "Nest | None" = None
    open_axes: frozenset[int] = frozenset()

    @property
    def rows(self) -> tuple[int, ...]:
        """The outer, parallel axes."""
        return tuple(axis for axis in range(len(self.space)) if axis not in self.cols)

    @property
    def loads(self) -> tuple[Load, ...]:
        """The reads of buffers."""
        return tuple(item for item in self.statements if isinstance(item, Load))

    @property
    def stores(self) -> tuple[Store, ...]:
        """The writes to buffers."""
        return tuple(item for item in self.statements if isinstance(item, Store))

    @property
    def size(self) -> int:
        """Number of points."""
        return math.prod(self.space)


@dataclass(frozen=True, slots=True, eq=False)
class LibraryCall:
    """Run one operation on whole arrays, giving one or several new ones.

    With `in_place`, operand 0 is read for the last time and its memory becomes the result's. Where
    there are `indices`, they say for each operand which elements of its buffer are meant.
    """

    primitive: Primitive
    operands: tuple[Buffer, ...]
    results: tuple[Buffer, ...]
    params: Params
    node: Node
    in_place: bool = False
    indices: tuple[Index, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Name a rearrangement of a buffer, which where possible shares its memory."""

    primitive: Primitive
    operand: Buffer
    result: Buffer
    params: Params
    node: Node


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    """Fill a fresh buffer with the elements of another."""

    operand: Buffer
    result: Buffer


@dataclass(frozen=True, slots=True, eq=False)
class Fill:
    """Fill a fresh buffer with one number."""

    literal: Literal
    result: Buffer


Step = Kernel | LibraryCall | View | Copy | Fill


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """A whole program, ready to print: what is read, what is done in order, what is returned.

    `releases` says for each step which buffers nothing reads after it. `offsets` places every
    temporary in one workspace of `workspace` bytes, reusing what has been released. `roots` names,
    for each buffer that shares memory (views, results in place), the one that owns it.
    """

    inputs: tuple[Buffer, ...]
    constants: tuple[Buffer, ...]
    steps: tuple[Step, ...]
    outputs: tuple[Buffer, ...]
    releases: tuple[tuple[Buffer, ...], ...]
    roots: dict[Buffer, Buffer]
    offsets: dict[Buffer, int]
    workspace: int

    def __str__(self) -> str:
        from stagrad.ir.schedule_text import schedule_text

        return schedule_text(self)


def reads(step: Step) -> tuple[Buffer, ...]:
    """Return the buffers a step reads."""
    if isinstance(step, Kernel):
        return tuple(dict.fromkeys(load.buffer for load in step.loads))
    if isinstance(step, LibraryCall):
        return step.operands
    return () if isinstance(step, Fill) else (step.operand,)


def writes(step: Step) -> tuple[Buffer, ...]:
    """Return the buffers a step fills."""
    if isinstance(step, Kernel):
        scratch = () if step.nest is None else step.nest.scratch
        return (*(store.buffer for store in step.stores), *scratch)
    return step.results if isinstance(step, LibraryCall) else (step.result,)
