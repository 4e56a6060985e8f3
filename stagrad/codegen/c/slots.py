"""Numbers that a text leaves open: handed to it when it runs, so that it fits every size."""

import math

import numpy as np

from stagrad.ir.nest import FIXED_EXTENT


class Slots:
    """The tables `n` (integers) and `c` (floating-point numbers) of a program."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.numbers: list[float] = []

    def size(self, value: int) -> int:
        """Return the place of an integer."""
        self.sizes.append(value)
        return len(self.sizes) - 1

    def number(self, value: float) -> int:
        """Return the place of a floating-point number."""
        self.numbers.append(value)
        return len(self.numbers) - 1


def is_fixed(value: int) -> bool:
    """Say whether an integer is part of the text."""
    return abs(value) <= FIXED_EXTENT


def is_plain(value: np.ndarray) -> bool:
    """Say whether a constant is part of the text: halves and small integers, and no real number."""
    if value.dtype.kind == "b":
        return True
    if value.dtype.kind == "c":
        return is_plain(value.real) and is_plain(value.imag)
    if value.dtype.kind in "iu":
        return is_fixed(int(value))
    number = float(value)
    return not math.isfinite(number) or (abs(number) <= 4 and (2 * number).is_integer())
