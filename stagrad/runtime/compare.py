"""Whether two results differ by more than rounding."""

from typing import Any

import numpy as np

from stagrad.ir import Aval

ROUNDINGS = 1000
"""How many roundings of the largest element two ways to compute an array may lie apart."""


def accuracy(dtype: np.dtype) -> float:
    """Return the relative size of a rounding in a dtype; zero for exact ones."""
    return float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0


def difference(got: Any, want: Any, nearby: Any) -> str:
    """Return how a result differs from the wanted one, nothing when that may be rounding.

    `nearby` is the wanted result for arguments that differ by a rounding. NaN and infinities have
    to stand in the same places.
    """
    got, want, nearby = np.asarray(got), np.asarray(want), np.asarray(nearby)
    if (got.shape, got.dtype) != (want.shape, want.dtype):
        return f"{got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}"
    with np.errstate(all="ignore"):
        if want.dtype.kind not in "fc":
            apart = got != want
            moved = nearby != want
            wrong = apart & ~moved
        else:
            finite = np.isfinite(want)
            size = np.max(np.abs(want), where=finite, initial=0.0)
            moved = np.abs(nearby - want)
            allowed = ROUNDINGS * (accuracy(want.dtype) * size + np.where(moved > 0, moved, 0))
            same = (got == want) | (np.isnan(got) & np.isnan(want))
            wrong = ~(same | (np.abs(got - want) <= allowed))
            wrong &= np.isfinite(nearby) == finite
    if not wrong.any():
        return ""
    place = tuple(int(axis[0]) for axis in np.nonzero(np.atleast_1d(wrong)))
    values = f"{np.atleast_1d(got)[place]!s} instead of {np.atleast_1d(want)[place]!s}"
    where = f" at {place}" if got.ndim else ""
    return f"{values}{where} ({np.count_nonzero(wrong)} of {wrong.size} elements)"


def numbers(generator: np.random.Generator, aval: Aval) -> np.ndarray:
    """Return normally distributed numbers of an aval's shape and dtype."""
    array = generator.normal(size=aval.shape)
    if aval.dtype.kind == "c":
        array = array + 1j * generator.normal(size=aval.shape)
    return np.asarray(array, dtype=aval.dtype)
