"""Indexing: `x[index]`, and the stores `x[index] = value` and `np.add.at(x, index, value)`.

Stores are functions from the old contents to the new; whoever holds the array does the writing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.errors import ShapeError, UnsupportedError
from stagrad.ir import aval_of
from stagrad.ops.convert import as_array, as_value, is_traced
from stagrad.ops.gather import gather, known_array, scatter, scatter_add
from stagrad.ops.movement import astype, broadcast_to, constant, lifted, reshape, transpose
from stagrad.ops.selection import select
from stagrad.ops.slicing import add_slice, set_slice, slice
from stagrad.ops.subscripts import Subscript, subscript_of


def getitem(x: Any, index: Any) -> Any:
    """Return `x[index]`, for every index NumPy has whose result's shape is known.

    Raises IndexError as NumPy does, already while tracing where the index is known then, and
    UnsupportedError for a traced mask.

    >>> getitem(np.arange(6).reshape(2, 3), np.s_[:, [2, 0]]).tolist()
    [[2, 0], [5, 3]]
    """
    subscript = subscript_of(index, aval_of(x).shape, like=x)
    part = reshape(slice(x, subscript.region), subscript.expanded)
    if not subscript.axes:
        return part
    if subscript.shape and all(_is_traced_integer(index) for index in subscript.indices):
        return _entry(part, subscript)
    return transpose(gather(part, subscript.indices, subscript.axes), subscript.order)


def _is_traced_integer(index: Any) -> bool:
    return is_traced(index) and aval_of(index).shape == () and getattr(index, "scalar", True)


def _entry(part: Any, subscript: Subscript) -> Any:
    """Return the entry at traced integers, which NumPy gives as a view, axis after axis."""
    for index, axis in zip(subscript.indices[::-1], subscript.axes[::-1], strict=True):
        taken = gather(part, [index], (axis,))
        as_view = getattr(part, "entry", None)
        part = taken if as_view is None else as_view(taken)
    return part


def store(x: Any, index: Any, value: Any) -> Any:
    """Return `x` after `x[index] = value`: of places named twice, the last write stays.

    `value` is broadcast, and cast to the dtype of `x`, as NumPy does. A traced mask is accepted
    where `value` does not depend on how many elements it selects.

    >>> store(np.zeros(3), [0, 0, 2], np.array([1.0, 2.0, 3.0])).tolist()
    [2.0, 0.0, 3.0]
    """
    mask = _sole_mask(index)
    if mask is not None:
        filled = _store_where(x, mask, value)
        if filled is not None:
            return filled
    subscript = subscript_of(index, aval_of(x).shape, like=x)
    value = _fitted(x, value, subscript)
    if not subscript.axes:
        return set_slice(x, value, subscript.region)
    return _write(x, value, subscript, scatter)


def store_add(x: Any, index: Any, value: Any) -> Any:
    """Return `x` after `np.add.at(x, index, value)`: additions to one place add up.

    >>> store_add(np.zeros(3), [0, 0, 2], np.array([1.0, 2.0, 3.0])).tolist()
    [3.0, 0.0, 3.0]
    """
    subscript = subscript_of(index, aval_of(x).shape, like=x)
    value = _fitted(x, value, subscript)
    if not subscript.axes:
        return add_slice(x, value, subscript.region)
    return _write(x, value, subscript, scatter_add)


def _write(x: Any, value: Any, subscript: Subscript, scatter: Callable[..., Any]) -> Any:
    part = reshape(slice(x, subscript.region), subscript.expanded)
    part = scatter(part, value, subscript.indices, subscript.axes)
    return set_slice(x, reshape(part, subscript.sliced), subscript.region)


def _fitted(x: Any, value: Any, subscript: Subscript) -> Any:
    """Return the value as the primitive that writes it wants it: dtype, shape, order of axes."""
    value = fit(x, value, subscript.shape)
    if not subscript.axes:
        return reshape(value, subscript.sliced)
    return transpose(value, tuple(int(axis) for axis in np.argsort(subscript.order)))


def fit(x: Any, value: Any, shape: tuple[int, ...]) -> Any:
    """Return `value` cast to the dtype of `x` and broadcast to `shape`, as assignment does.

    Leading axes of extent one are dropped. Raises ShapeError where it does not fit, and TypeError
    for a complex scalar written into a real array.
    """
    value = as_array(value, like=x) if isinstance(value, list | tuple) else as_value(value)
    aval, target = aval_of(value), aval_of(x).dtype
    if aval.dtype.kind == "c" and target.kind != "c" and aval.shape == ():
        raise TypeError(f"a complex value cannot be assigned into an array of dtype {target}")
    value = _cast(x, value, target)
    extra = max(0, len(aval.shape) - len(shape))
    if extra and aval.shape[:extra] == (1,) * extra:
        value = reshape(value, aval.shape[extra:])
    try:
        return broadcast_to(value, shape)
    except ShapeError:
        raise ShapeError(
            f"assignment: could not broadcast a value of shape {aval.shape} into shape {shape}"
        ) from None


def _cast(x: Any, value: Any, dtype: np.dtype) -> Any:
    if is_traced(value):
        return astype(value, dtype)
    if isinstance(value, np.ndarray):
        return astype(lifted(value, like=x), dtype)
    with np.errstate(all="ignore"):
        return constant(dtype.type(value), like=x)


def _sole_mask(index: Any) -> Any:
    """Return the mask when the index is one boolean mask and nothing else."""
    if isinstance(index, tuple) and len(index) == 1:
        index = index[0]
    if not isinstance(index, np.ndarray) and not is_traced(index):
        return None
    return index if aval_of(index).dtype.kind == "b" and aval_of(index).ndim else None


def _store_where(x: Any, mask: Any, value: Any) -> Any:
    """Write a value that is the same for every selected place; None when it is not such a one."""
    shape, selected = aval_of(x).shape, aval_of(mask).shape
    if selected != shape[: len(selected)]:
        return None
    rest = shape[len(selected) :]
    value = as_value(value)
    given = aval_of(value).shape
    while len(given) > len(rest) and given[0] == 1:
        given = given[1:]
    if len(given) > len(rest):
        if known_array(mask) is not None:
            return None
        raise UnsupportedError(
            f"assignment: y[mask] = value, with a traced mask and a value of shape {given}, "
            "depends on how many elements the mask selects. Write y = np.where(mask, value, y) "
            f"with a value of shape {shape}"
        )
    spread = reshape(mask, selected + (1,) * len(rest))
    return select(spread, fit(x, value, rest), x)
