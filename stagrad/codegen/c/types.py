"""C's types and literals."""

import numpy as np

STORED = {
    "b1": "uint8_t",
    "i1": "int8_t", "i2": "int16_t", "i4": "int32_t", "i8": "int64_t",
    "u1": "uint8_t", "u2": "uint16_t", "u4": "uint32_t", "u8": "uint64_t",
    "f2": "_Float16", "f4": "float", "f8": "double",
    "c8": "float complex", "c16": "double complex",
}  # fmt: skip
"""The C type of an array's elements, by dtype; loops that load `bool` are not vectorised."""

LOCAL = {"b1": "bool", "f2": "float"}
"""The C type of a value where it is not that of an element."""


def stored_type(dtype: np.dtype) -> str:
    """Return the type of an array's elements."""
    return STORED[dtype.str[1:]]


def local_type(dtype: np.dtype) -> str:
    """Return the type of a value in a register: half precision is computed with in single."""
    return LOCAL.get(dtype.str[1:]) or stored_type(dtype)


def literal(value: np.ndarray) -> str:
    """Return a number as a C expression of its type.

    >>> literal(np.array(0.1, np.float32)), literal(np.array(-3)), literal(np.array(-np.inf))
    ('0.1f', '(-3)', '(-INFINITY)')
    """
    if value.dtype.kind == "b":
        return "true" if value else "false"
    if value.dtype.kind in "iu":
        return _integer(int(value), value.dtype)
    if value.dtype.kind == "c":
        make = "CMPLXF" if value.dtype.itemsize == 8 else "CMPLX"
        return f"{make}({literal(value.real)}, {literal(value.imag)})"
    return _floating(value)


def _integer(value: int, dtype: np.dtype) -> str:
    suffix = {"i8": "LL", "u8": "ULL", "u4": "U"}.get(dtype.str[1:], "")
    if dtype.itemsize == 8 and abs(value) < 1 << 31:
        suffix = suffix if dtype.kind == "u" else ""
    if dtype.itemsize == 8 and value == np.iinfo(np.int64).min:
        return "INT64_MIN"
    return f"{value}{suffix}" if value >= 0 else f"({value}{suffix})"


def _floating(value: np.ndarray) -> str:
    suffix = "" if value.dtype.itemsize == 8 else "f"
    if np.isnan(value):
        return "NAN"
    if np.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    text = str(value.astype(np.float32)[()] if value.dtype.itemsize == 2 else value[()])
    if not any(letter in text for letter in ".e"):
        text += ".0"
    text += suffix
    return f"({text})" if text.startswith("-") else text
