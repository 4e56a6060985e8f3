"""Abstract values: the shape and dtype a result will have, known without running anything."""

import math
import re
from dataclasses import dataclass

import numpy as np

from stagrad.errors import DTypeError, ParseError

_KIND_LETTERS = {"i": "i", "u": "u", "f": "f", "c": "c"}


def dtype_name(dtype: np.dtype) -> str:
    """Return the short name of a dtype: `f32`, `i64`, `c128`, `bool`.

    >>> dtype_name(np.dtype("float32"))
    'f32'
    """
    if dtype.kind == "b":
        return "bool"
    letter = _KIND_LETTERS.get(dtype.kind)
    if letter is None:
        raise DTypeError(
            f"dtype {dtype} cannot be traced: stagrad works on bool, integer, float and complex "
            "arrays. Pass other arguments as static ones (static_argnames=...)."
        )
    return f"{letter}{dtype.itemsize * 8}"


def parse_dtype(name: str) -> np.dtype:
    """Return the dtype that `dtype_name` prints as `name`."""
    if name == "bool":
        return np.dtype(np.bool_)
    match = re.fullmatch(r"([iufc])(\d+)", name)
    try:
        if match and int(match[2]) % 8 == 0:
            return np.dtype(f"{match[1]}{int(match[2]) // 8}")
    except TypeError:
        pass
    raise ParseError(f"unknown dtype {name!r}: expected bool, i8…i64, u8…u64, f16…f64, c64 or c128")


@dataclass(frozen=True, slots=True)
class Aval:
    """Shape and dtype of a value; `weak` marks a Python scalar, which gives way (NEP 50).

    >>> str(Aval((3, 4), np.dtype("float32")))
    'f32[3,4]'
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    weak: bool = False

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes a dense array of this aval occupies."""
        return self.size * self.dtype.itemsize

    def __str__(self) -> str:
        star = "*" if self.weak else ""
        return f"{dtype_name(self.dtype)}{star}[{','.join(map(str, self.shape))}]"


def parse_aval(text: str) -> Aval:
    """Return the aval written as `text`, the inverse of `str`.

    Raises ParseError when the text is not of the form `f64[3,4]` (weak: `f64*[]`).

    >>> parse_aval("i64[2,0]").shape
    (2, 0)
    """
    match = re.fullmatch(r"\s*(\w+?)(\*?)\[([\d,\s]*)\]\s*", text)
    if match is None:
        raise ParseError(
            f"cannot read {text!r} as an aval: write it like 'f64[20000,100]' or 'f32[]'"
        )
    shape = tuple(int(extent) for extent in match[3].split(",") if extent.strip())
    return Aval(shape, parse_dtype(match[1]), bool(match[2]))


PYTHON_SCALARS: dict[type, np.dtype] = {
    bool: np.dtype(np.bool_),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}


def aval_of(value: object) -> Aval:
    """Return the aval of a traced value, an array, a NumPy scalar or a Python scalar.

    Python scalars are weak. Raises DTypeError for anything that is not numeric.

    >>> str(aval_of(2.0)), str(aval_of(np.zeros(3)))
    ('f64*[]', 'f64[3]')
    """
    aval = getattr(value, "aval", None)
    if isinstance(aval, Aval):
        return aval
    scalar = PYTHON_SCALARS.get(type(value))
    if scalar is not None:
        return Aval((), scalar, weak=type(value) is not bool)
    array = value if isinstance(value, np.ndarray | np.generic) else np.asarray(value)
    dtype = array.dtype.newbyteorder("=")
    dtype_name(dtype)
    return Aval(array.shape, dtype)
