"""Expressions of emitted Python: their text, and when it needs parentheses."""

import functools
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from stagrad.ir import Params, Primitive, format_param, params_key

ATOM = 100
_UNARY = 60
_COMPARISON = 10
_BINARY = {
    "**": 70,
    "@": 50, "*": 50, "/": 50, "//": 50, "%": 50,
    "+": 40, "-": 40,
    "<<": 30, ">>": 30,
    "&": 25, "^": 24, "|": 23,
    "<": 10, "<=": 10, ">": 10, ">=": 10, "==": 10, "!=": 10,
}  # fmt: skip
"""How tightly Python's operators bind; a larger number binds tighter."""

_PLAIN_CALL = re.compile(r"(xp|special|linalg)(\.\w+)+\((\{\w+\}|[ ,])*\)")


@dataclass(frozen=True, slots=True)
class Text:
    """An expression and how tightly its outermost operator binds."""

    text: str
    binding: int = ATOM

    def within(self, binding: int) -> str:
        """Return the text, in parentheses unless it binds more tightly than its surroundings."""
        return self.text if self.binding > binding else f"({self.text})"


@dataclass(frozen=True, slots=True)
class Slots:
    """How the text of an operation uses its operands.

    - uses: how often each operand stands in it.
    - bare: whether each stands only where any expression may, between commas and parentheses.
    - binding: how tightly the whole text binds.
    """

    uses: tuple[int, ...]
    bare: tuple[bool, ...]
    binding: int


def slots(primitive: Primitive, arity: int, params: Params) -> Slots:
    """Return how the text of an operation uses its operands."""
    if primitive.infix is not None:
        binding = _BINARY[primitive.infix] if arity == 2 else _UNARY
        return Slots((1,) * arity, (False,) * arity, binding)
    return _slots(primitive, arity, params_key(params))


@functools.lru_cache(maxsize=4096)
def _slots(primitive: Primitive, arity: int, params: tuple[tuple[str, Any], ...]) -> Slots:
    marks = _marks(arity)
    text = re.sub("\0\\d+\0\\.dtype", "", primitive.expression(marks, dict(params)))
    uses = tuple(text.count(mark) for mark in marks)
    bare = tuple(
        len(re.findall(rf"(?:\(|, ){mark}(?=[,)])", text)) == count
        for mark, count in zip(marks, uses, strict=True)
    )
    return Slots(uses, bare, ATOM if _is_atom(text) else 0)


def _is_atom(text: str) -> bool:
    """Say whether nothing but names, calls and subscripts stands outside all brackets."""
    depth = 0
    for character in text:
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif depth == 0 and not (character.isalnum() or character in "._\0"):
            return False
    return True


def apply(
    primitive: Primitive,
    operands: tuple[Text, ...],
    params: Params,
    dtypes: tuple[np.dtype, ...] = (),
) -> Text:
    """Return an operation applied to expressions, as an operator where it has one.

    `dtypes`, when given, are the operands' dtypes, printed where a record asks for `{0}.dtype`.
    """
    symbol = primitive.infix
    if symbol is not None:
        binding = _BINARY[symbol] if len(operands) == 2 else _UNARY
        if len(operands) == 1:
            return Text(f"{symbol}{operands[0].within(binding)}", binding)
        left, right = operands
        loose = binding == _COMPARISON or symbol == "**"
        below = binding if loose else binding - 1
        return Text(f"{left.within(below)} {symbol} {right.within(binding)}", binding)
    use = slots(primitive, len(operands), params)
    marks = _marks(len(operands))
    text = numpy_text(primitive.expression(marks, params))
    for mark, dtype in zip(marks, dtypes, strict=False):
        text = text.replace(f"{mark}.dtype", dtype_text(dtype))
    for mark, operand, bare in zip(marks, operands, use.bare, strict=True):
        text = text.replace(mark, operand.text if bare else operand.within(ATOM - 1))
    return Text(text, use.binding)


def _marks(count: int) -> tuple[str, ...]:
    """Return texts to stand for operands, which no record's text holds by itself."""
    return tuple(f"\0{position}\0" for position in range(count))


def takes_python_scalars(primitive: Primitive) -> bool:
    """Say whether a Python scalar may stand for an operand: operators and plain calls adapt it."""
    if primitive.infix is not None:
        return True
    return isinstance(primitive.py, str) and _PLAIN_CALL.fullmatch(primitive.py) is not None


def numpy_text(text: str) -> str:
    """Return a text with the array module under the name it has in emitted NumPy code."""
    return re.sub(r"\bxp\b", "np", text)


def dtype_text(dtype: np.dtype) -> str:
    """Return a dtype's constructor."""
    return numpy_text(format_param(dtype))


def scalar_text(value: np.ndarray) -> str:
    """Return a 0-d array's number as a NumPy scalar of its dtype."""
    return f"{dtype_text(value.dtype)}({numpy_text(format_param(value.item()))})"


def literal_text(value: np.ndarray) -> Text:
    """Return a 0-d array's number as a Python literal that reads back as the same bits."""
    item = value.item()
    if value.dtype.kind == "f" and value.dtype.itemsize < 8:
        short = float(str(value[()]))
        if value.dtype.type(short) == value:
            item = short
    text = numpy_text(format_param(item))
    return Text(text, _UNARY if text.startswith("-") else ATOM)
