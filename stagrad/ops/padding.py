"""numpy.pad in all its modes.

Axes are padded one after the other, as NumPy does: a statistic along the second axis sees what the
first one's padding added. Modes that copy elements ask NumPy itself which ones, by padding the
positions 0, 1, 2, ….
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.errors import UnsupportedError
from stagrad.ir import aval_of
from stagrad.ops import slicing
from stagrad.ops.convert import as_array, is_traced
from stagrad.ops.creation import linspace
from stagrad.ops.define import FUNCTIONS, UFUNCS, implements
from stagrad.ops.gather import settled
from stagrad.ops.joining import join
from stagrad.ops.movement import astype, broadcast_to, constant, reshape
from stagrad.ops.repeating import pick
from stagrad.ops.slicing import Region, axis_slice, span

_COPYING = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS: dict[str, Callable[..., Any]] = {
    "maximum": np.max,
    "minimum": np.min,
    "mean": np.mean,
    "median": np.median,
}
_ALLOWED: dict[str, tuple[str, ...]] = {
    "constant": ("constant_values",),
    "edge": (),
    "empty": (),
    "linear_ramp": ("end_values",),
    "maximum": ("stat_length",),
    "mean": ("stat_length",),
    "median": ("stat_length",),
    "minimum": ("stat_length",),
    "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",),
    "wrap": (),
}

Pair = tuple[Any, Any]


@implements(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """Add elements around an array: fixed ones, copies, or statistics of those near the edge.

    Raises ValueError for modes and arguments that NumPy does not know, and UnsupportedError for a
    function as mode.
    """
    x = as_array(array)
    _check(mode, kwargs)
    ndim = aval_of(x).ndim
    widths = _widths(pad_width, ndim)
    if mode in ("constant", "empty"):
        return _pad_constant(x, widths, _pairs(kwargs.get("constant_values", 0), ndim, like=x))
    if mode in _COPYING:
        odd = kwargs.get("reflect_type", "even") == "odd"
        for axis, width in enumerate(widths):
            if width != (0, 0):
                x = _pad_odd(x, axis, width, mode) if odd else _pad_copies(x, axis, width, mode)
        return x
    settings = _pairs(kwargs.get("end_values", 0), ndim, like=x)
    if mode in _STATISTICS:
        settings = _stat_lengths(kwargs.get("stat_length"), aval_of(x).shape)
    edges = _ramp if mode == "linear_ramp" else _statistic(mode)
    for axis, (width, setting) in enumerate(zip(widths, settings, strict=True)):
        if width != (0, 0):
            x = _pad_with(x, axis, width, setting, edges)
    return x


def _check(mode: Any, kwargs: dict[str, Any]) -> None:
    if callable(mode):
        raise UnsupportedError(
            "pad: a function as mode writes into plain arrays and cannot be traced. Use one of the "
            f"modes {', '.join(_ALLOWED)}, or np.concatenate"
        )
    if mode not in _ALLOWED:
        raise ValueError(f"mode '{mode}' is not supported")
    unknown = [name for name in kwargs if name not in _ALLOWED[mode]]
    if unknown:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {set(unknown)}")


def _pairs(setting: Any, ndim: int, *, like: Any = None) -> list[Pair]:
    """Return a (before, after) pair for each axis, as NumPy broadcasts such arguments."""
    known = settled(setting, like=like)
    value = as_array(setting) if known is None else known
    given = aval_of(value).shape
    if len(given) < 3 and aval_of(value).size == 2 and given != (2, 1):
        value = reshape(value, (1, 2))
    spread = broadcast_to(value, (ndim, 2))
    if known is not None:
        return [(before, after) for before, after in np.asarray(spread).tolist()]
    return [(spread[axis, 0], spread[axis, 1]) for axis in range(ndim)]


def _widths(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    if isinstance(pad_width, dict):
        chosen: list[Any] = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            chosen[axis] = width if isinstance(width, tuple) else (width, width)
        pad_width = chosen
    if is_traced(pad_width):
        raise UnsupportedError("pad: the result's shape depends on pad_width, which is traced")
    widths = np.asarray(pad_width)
    if widths.dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
    if (widths < 0).any():
        raise ValueError("index can't contain negative values")
    return [(int(before), int(after)) for before, after in _pairs(widths, ndim)]


def _inner(shape: tuple[int, ...], widths: list[tuple[int, int]]) -> Region:
    return tuple(
        span(before, before + extent, 1, before + extent + after)
        for extent, (before, after) in zip(shape, widths, strict=True)
    )


def _pad_constant(x: Any, widths: list[tuple[int, int]], values: list[Pair]) -> Any:
    aval = aval_of(x)
    known = [value for pair in values for value in pair]
    if not any(map(is_traced, known)) and not np.any(known):
        shape = tuple(
            before + extent + after
            for extent, (before, after) in zip(aval.shape, widths, strict=True)
        )
        return slicing.pad(x, shape, _inner(aval.shape, widths))
    for axis, (width, pair) in enumerate(zip(widths, values, strict=True)):
        if width == (0, 0):
            continue
        shape = aval_of(x).shape
        sides = [
            broadcast_to(_as_dtype(value, x), (*shape[:axis], count, *shape[axis + 1 :]))
            for count, value in zip(width, pair, strict=True)
        ]
        x = join([sides[0], x, sides[1]], axis)
    return x


def _as_dtype(value: Any, x: Any) -> Any:
    dtype = aval_of(x).dtype
    if is_traced(value):
        return astype(value, dtype)
    return constant(np.asarray(value).astype(dtype), like=x)


def _pad_copies(x: Any, axis: int, width: tuple[int, int], mode: Any) -> Any:
    extent = aval_of(x).shape[axis]
    if extent == 0:
        raise ValueError(
            f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
        )
    return pick(x, np.pad(np.arange(extent), width, mode=mode), axis)


def _pad_odd(x: Any, axis: int, width: tuple[int, int], mode: str) -> Any:
    """Pad with copies mirrored in value at the edge: 2 * edge - copy, as often as needed."""
    before, after = width
    extent = aval_of(x).shape[axis]
    if extent == 0:
        raise ValueError(
            f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
        )
    if extent == 1:
        return pick(x, np.pad(np.arange(1), width, mode="edge"), axis)
    skip = 1 if mode == "reflect" else 0
    while before or after:
        period = (aval_of(x).shape[axis] - skip) // (extent - skip) * (extent - skip)
        left, right = min(before, period), min(after, period)
        x = join(_mirrored(x, axis, left, right, skip), axis)
        before, after = before - left, after - right
    return x


def _mirrored(x: Any, axis: int, left: int, right: int, skip: int) -> list[Any]:
    """Return the array between its mirrored beginnings and endings of the given lengths."""
    extent = aval_of(x).shape[axis]
    parts = [x]
    if left:
        first = axis_slice(x, axis, 0, 1)
        parts.insert(0, 2 * first - axis_slice(x, axis, left - 1 + skip, skip - 1, -1))
    if right:
        last = axis_slice(x, axis, extent - 1, extent)
        stop = extent - 1 - skip
        parts.append(2 * last - axis_slice(x, axis, stop, stop - right, -1))
    return parts


Edges = Callable[[Any, int, tuple[int, int], Pair], Pair]


def _pad_with(x: Any, axis: int, width: tuple[int, int], setting: Pair, edges: Edges) -> Any:
    extent = aval_of(x).shape[axis]
    if extent == 0:
        raise ValueError(
            f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
        )
    before, after = edges(x, axis, width, setting)
    return join([before, x, after], axis)


def _ramp(x: Any, axis: int, width: tuple[int, int], ends: Pair) -> Pair:
    """Return the ramps from the end values to the array's edges."""
    extent = aval_of(x).shape[axis]
    dtype = aval_of(x).dtype
    sides = []
    for count, edge, end in zip(width, (0, extent - 1), ends, strict=True):
        rest = aval_of(x).shape[:axis] + aval_of(x).shape[axis + 1 :]
        nearest = reshape(axis_slice(x, axis, edge, edge + 1), rest)
        ramp = linspace(end, nearest, num=count, endpoint=False, dtype=dtype, axis=axis)
        sides.append(ramp)
    left, right = sides
    return left, axis_slice(right, axis, width[1] - 1, -1, -1) if width[1] else right


def _stat_lengths(stat_length: Any, shape: tuple[int, ...]) -> list[Pair]:
    if stat_length is None:
        return [(None, None)] * len(shape)
    lengths = np.asarray(stat_length)
    if (lengths < 0).any():
        raise ValueError("index can't contain negative values")
    return [(int(before), int(after)) for before, after in _pairs(lengths, len(shape))]


def _statistic(mode: str) -> Edges:
    def edges(x: Any, axis: int, width: tuple[int, int], lengths: Pair) -> Pair:
        shape = aval_of(x).shape
        extent = shape[axis]
        sides = []
        for count, length, at_start in zip(width, lengths, (True, False), strict=True):
            taken = extent if length is None else min(length, extent)
            if taken == 0 and mode in ("maximum", "minimum"):
                raise ValueError("stat_length of 0 yields no value for padding")
            start = 0 if at_start else extent - taken
            near = axis_slice(x, axis, start, start + taken)
            value = _rounded(FUNCTIONS[_STATISTICS[mode]](near, axis=axis, keepdims=True), x)
            sides.append(broadcast_to(value, (*shape[:axis], count, *shape[axis + 1 :])))
        return sides[0], sides[1]

    return edges


def _rounded(value: Any, x: Any) -> Any:
    dtype = aval_of(x).dtype
    if dtype.kind in "iu" and aval_of(value).dtype.kind == "f":
        value = UFUNCS["rint"](value)
    return astype(value, dtype)
