"""Keys that tell Python values apart which `==` takes for equal: 1, 1.0 and True; 0.0 and -0.0."""

from typing import Any

import numpy as np


class Same:
    """Holds an object and equals only a holder of the very same one."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def exact(value: Any) -> Any:
    """Return a key equal to another's only where programs made for both are the same.

    Floats count by their bits, tuples and frozensets by their parts, everything else by `==` within
    one type. The key is hashable when the value is.
    """
    kind = type(value)
    if kind is float:
        return kind, value.hex()
    if kind is complex:
        return kind, value.real.hex(), value.imag.hex()
    if isinstance(value, np.inexact):
        return kind, value.tobytes()
    if kind in (tuple, frozenset):
        return kind, kind(map(exact, value))
    return kind, value
