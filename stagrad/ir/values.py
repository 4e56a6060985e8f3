"""The text form of single values in a graph: params, and constants, exact to the bit."""

import base64
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.errors import ParseError
from stagrad.ir.aval import Aval, dtype_name
from stagrad.ir.graph import Graph
from stagrad.ir.literal import Literal

LISTED = 512
"""Arrays of more elements than this are written as base64 of their bytes."""

ELIDED = 8
"""Shortened for reading, arrays of more elements than this show only their ends."""

_FLOAT = r"(?:0x[0-9a-f]+|inf|nan|\d+(?:\.\d*)?(?:e[-+]?\d+)?)"
NUMBER = rf"[-+]?{_FLOAT}(?:[-+]{_FLOAT}j)?(?!\w)"
_COMPLEX = re.compile(rf"([-+]?{_FLOAT})([-+]{_FLOAT})j")


def value_text(value: Any, *, elide: bool = False, graph_text: Callable[[Graph], str] = str) -> str:
    """Return the text of a param.

    >>> value_text((1, None, np.dtype("float32"), Literal(0.5)))
    '(1, None, f32, f64[](0.5))'
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return repr(value)
    if isinstance(value, tuple):
        parts = [value_text(part, elide=elide, graph_text=graph_text) for part in value]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    if isinstance(value, np.dtype):
        return dtype_name(value)
    if isinstance(value, Aval):
        return str(value)
    if isinstance(value, Literal):
        aval = Aval(value.array.shape, value.array.dtype)
        return f"{aval}({elements_text(value.array, elide)})"
    if isinstance(value, Graph):
        return graph_text(value)
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float | complex):
        return element_text(np.asarray(value)[()])
    return f"<{type(value).__name__} {getattr(value, '__name__', '')}>".replace(" >", ">")


def elements_text(array: np.ndarray, elide: bool = False) -> str:
    """Return the elements of an array as nested lists, a large one as base64 of its bytes.

    >>> elements_text(np.array([[1.0, -0.0], [np.inf, 0.1]], np.float32))
    '[[1.0, -0.0], [inf, 0.1]]'
    """
    if elide and array.size > ELIDED:
        flat = array.reshape(-1)
        return f"[{', '.join(map(element_text, flat[:3]))}, …, {element_text(flat[-1])}]"
    if array.size > LISTED:
        little = array.astype(array.dtype.newbyteorder("<"))
        return f"base64'{base64.b64encode(little.tobytes()).decode()}'"
    return _nested(array)


def _nested(array: np.ndarray) -> str:
    if array.ndim == 0:
        return element_text(array[()])
    return f"[{', '.join(map(_nested, array))}]"


def element_text(item: Any) -> str:
    """Return one NumPy scalar as text that reads back with the same bits.

    A float that no decimal number stands for (a NaN with a payload) is its bit pattern in hex.
    """
    kind = item.dtype.kind
    if kind == "b":
        return str(bool(item))
    if kind in "iu":
        return str(int(item))
    if kind == "c":
        real, imag = _float_text(item.real), _float_text(item.imag)
        return f"{real}{'' if imag[0] == '-' else '+'}{imag}j"
    return _float_text(item)


def _float_text(item: Any) -> str:
    short = str(item)
    return short if _float(short, item.dtype) == item.tobytes() else hex(_bits(item.tobytes()))


def _bits(data: bytes) -> int:
    return int.from_bytes(data, sys.byteorder)


def _float(text: str, dtype: np.dtype) -> bytes:
    """Return the bytes of a real float: decimal, inf, nan or a bit pattern in hex."""
    digits = text.lstrip("+")
    if digits.startswith("0x"):
        return int(digits, 16).to_bytes(dtype.itemsize, sys.byteorder)
    with np.errstate(over="raise"):
        return np.array(dtype.type(digits)).tobytes()


def read_number(text: str) -> int | float | complex:
    """Return the Python number that a NUMBER stands for."""
    if "j" in text:
        return complex(read_element(text, np.dtype(np.complex128))[()])
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    return float(read_element(text, np.dtype(np.float64))[()])


def read_element(text: str, dtype: np.dtype) -> np.ndarray:
    """Return the 0-d array that `element_text` wrote as `text`; ParseError for other text."""
    try:
        return np.frombuffer(_element(text, dtype), dtype).reshape(())
    except (ArithmeticError, ValueError):
        raise ParseError(f"{text!r} is not a number of dtype {dtype_name(dtype)}") from None


def _element(text: str, dtype: np.dtype) -> bytes:
    if dtype.kind == "b":
        return np.bool_(("False", "True").index(text)).tobytes()
    if dtype.kind in "iu":
        return np.array(int(text), dtype).tobytes()
    if dtype.kind == "c":
        parts = _COMPLEX.fullmatch(text)
        if parts is None:
            raise ValueError(text)
        part = np.empty(0, dtype).real.dtype
        return _float(parts[1], part) + _float(parts[2], part)
    return _float(text, dtype)


def read_elements(texts: list[str], aval: Aval) -> np.ndarray:
    """Return the array of an aval from the texts of its elements in C order."""
    if len(texts) != aval.size:
        raise ParseError(f"{aval} has {aval.size} elements, the text lists {len(texts)}")
    result = np.empty(aval.size, aval.dtype)
    for position, text in enumerate(texts):
        result[position : position + 1] = read_element(text, aval.dtype)
    return result.reshape(aval.shape)


def read_base64(text: str, aval: Aval) -> np.ndarray:
    """Return the array of an aval from base64 of its little-endian bytes."""
    try:
        data = base64.b64decode(text, validate=True)
        little = np.frombuffer(data, aval.dtype.newbyteorder("<"))
        return little.astype(aval.dtype).reshape(aval.shape)
    except ValueError as error:
        raise ParseError(f"the bytes of a constant do not make up {aval}: {error}") from None
