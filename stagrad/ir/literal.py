"""Constants: arrays compared by dtype, shape and bit pattern, never by `==`."""

import numpy as np
from numpy.typing import ArrayLike, DTypeLike


class Literal:
    """An immutable array constant with identity by bits, so 1, 1.0, True, 0.0 and -0.0 stay apart.

    >>> Literal(0.0) == Literal(-0.0), Literal(1) == Literal(1.0), Literal(2.0) == Literal(2.0)
    (False, False, True)
    """

    __slots__ = ("_key", "array")

    array: np.ndarray

    def __init__(self, value: ArrayLike, dtype: DTypeLike | None = None) -> None:
        array = np.array(value, dtype=dtype, order="C")
        if array.dtype.byteorder not in "=|":
            array = array.astype(array.dtype.newbyteorder("="))
        array.setflags(write=False)
        self.array = array
        self._key = (array.dtype.str, array.shape, array.tobytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"Literal({self.array.tolist()!r}, {self.array.dtype.name!r})"
