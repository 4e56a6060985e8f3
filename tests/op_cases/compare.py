"""Comparing results with NumPy's own: shapes and dtypes exactly, numbers within a tolerance."""

from typing import Any

import numpy as np

from stagrad.trace.trees import flatten


def assert_same(got: Any, want: Any, *, rtol: float, atol: float = 0.0, signs: bool = True) -> None:
    """Fail unless two trees agree in structure, shapes, dtypes and numbers.

    NaN equals NaN, infinities must agree, and with `signs` zeros must agree in sign. `rtol` is that
    of double precision; for other precisions it grows with their epsilon. 0 means every bit but a
    NaN's.
    """
    got_leaves, got_spec = flatten(got)
    want_leaves, want_spec = flatten(want)
    assert got_spec == want_spec, f"structure {got_spec}, expected {want_spec}"
    for position, (left, right) in enumerate(zip(got_leaves, want_leaves, strict=True)):
        complaint = difference(left, right, rtol=rtol, atol=atol, signs=signs)
        assert not complaint, f"result {position}: {complaint}"


def difference(got: Any, want: Any, *, rtol: float, atol: float = 0.0, signs: bool = True) -> str:
    """Return how two arrays differ, nothing when they agree; see `assert_same`."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if got.dtype != want.dtype:
        return f"dtype {got.dtype}, expected {want.dtype}"
    for left, right in _real_parts(got, want):
        wrong = _differs(left, right, rtol * _coarseness(want.dtype), atol, signs)
        if np.any(wrong):
            place = tuple(int(axis[0]) for axis in np.nonzero(np.atleast_1d(wrong)))
            where = f" at {place}" if got.ndim else ""
            values = f"{np.atleast_1d(got)[place]!r}, expected {np.atleast_1d(want)[place]!r}"
            return f"{values}{where} ({np.count_nonzero(wrong)} of {wrong.size} differ)"
    return ""


def _real_parts(got: np.ndarray, want: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    if want.dtype.kind == "c":
        return [(got.real, want.real), (got.imag, want.imag)]
    return [(got, want)]


def _differs(
    got: np.ndarray, want: np.ndarray, rtol: float, atol: float, signs: bool
) -> np.ndarray:
    if want.dtype.kind != "f":
        return np.asarray(got != want)
    with np.errstate(all="ignore"):
        near = np.isfinite(want) & (np.abs(got - want) <= atol + rtol * np.abs(want))
    same = (got == want) | (np.isnan(got) & np.isnan(want)) | near
    if signs:
        same &= (want != 0) | (got != 0) | (np.signbit(got) == np.signbit(want))
    return np.asarray(~same)


def _coarseness(dtype: np.dtype) -> float:
    """Return how many times coarser than double precision a dtype is."""
    if dtype.kind not in "fc":
        return 1.0
    return float(np.finfo(dtype).eps / np.finfo(np.float64).eps)
