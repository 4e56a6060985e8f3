"""A program as C text, and what has to be handed to it: the contract of codegen and runtime."""

from collections.abc import Callable
from dataclasses import dataclass

from stagrad.ir.aval import Aval
from stagrad.ir.literal import Literal
from stagrad.ir.primitive import Params, Primitive


@dataclass(frozen=True, slots=True)
class Callback:
    """A step that Python runs: an operation on whole arrays that has no native form.

    With `in_place`, the operation's update statement changes operand 0, which is the result too. A
    `fallback` runs only where a native form has refused its operands, for Python to complain.
    """

    primitive: Primitive
    operands: tuple[Aval, ...]
    results: tuple[Aval, ...]
    params: Params
    in_place: bool = False
    fallback: bool = False


@dataclass(frozen=True, slots=True)
class NativeCall:
    """What a record's `native` form of an operation on whole arrays is told.

    - pointers: C expressions of type `char *`, one for each operand and then for each result; an
      operation with an update has its result in operand 0, and no pointer of its own.
    - strides: of each operand and then of each result, in elements; contiguous unless the record
      allowed others.
    - size: gives the text of an integer that may differ from one size to the next.
    - symbol: gives the text of the address of a BLAS or LAPACK function.
    - fallback: gives the statement that runs the step in Python instead, for operands found wrong.
    """

    operands: tuple[Aval, ...]
    results: tuple[Aval, ...]
    params: Params
    pointers: tuple[str, ...]
    strides: tuple[tuple[int, ...], ...]
    size: Callable[[int], str]
    symbol: Callable[[str], str]
    fallback: Callable[[], str]


@dataclass(frozen=True, slots=True)
class NativeProgram:
    """C text of one function, and the values it is called with besides the arrays.

    - text: the translation unit; comments in it mean nothing to the compiled object.
    - sizes: extents and strides, which the text reads as `n[0]`, `n[1]`, … so that it does not
      change with them; numbers: the same for floating-point constants, as `c[0]`, ….
    - constants: arrays that follow the inputs; 0-d ones are in the text or among the numbers.
    - workspace: bytes of scratch memory for one call.
    - symbols: BLAS and LAPACK functions the text calls, in the order of the runtime's table.
    - long: whether a call takes long enough to let other Python threads run meanwhile.
    """

    name: str
    text: str
    inputs: tuple[Aval, ...]
    outputs: tuple[Aval, ...]
    constants: tuple[Literal, ...]
    sizes: tuple[int, ...]
    numbers: tuple[float, ...]
    workspace: int
    symbols: tuple[str, ...]
    callbacks: tuple[Callback, ...]
    long: bool
