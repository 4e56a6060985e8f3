"""Turning what users write where NumPy takes "array-likes" into values, and values into dtypes."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from stagrad.ir import Aval, aval_of
from stagrad.ir.aval import PYTHON_SCALARS
from stagrad.ops.define import implements, implements_scipy
from stagrad.ops.movement import astype, constant, reshape


def is_traced(x: Any) -> bool:
    """Say whether `x` is a traced value or an eager tensor rather than plain numbers.

    An array made under a trace is traced once a traced value was written into it: `recorded`.
    """
    if isinstance(x, np.ndarray):
        return getattr(x, "recorded", None) is not None
    return hasattr(type(x), "process_primitive")


def as_value(x: Any) -> Any:
    """Return an array-like as a value: nested lists and tuples that hold traced values are stacked.

    Traced values, arrays and scalars come back as they are; other array-likes go through
    `numpy.asarray`.
    """
    recorded = getattr(x, "recorded", None)
    if recorded is not None:
        return recorded
    if is_traced(x) or isinstance(x, np.ndarray | np.generic | bool | int | float | complex):
        return x
    if isinstance(x, list | tuple) and holds_traced(x):
        from stagrad.ops.joining import join

        like = traced_among(x)
        return join([as_array(part, like=like) for part in x], 0, new_axis=True)
    return np.asarray(x)


def as_array(x: Any, *, like: Any = None) -> Any:
    """Return an array-like as an array: as `as_value` does, but no Python scalar, traced or not.

    Numbers that the code spells out become constants of the kind `like` is.
    """
    value = as_value(x)
    if is_traced(value):
        aval = aval_of(value)
        return astype(value, aval.dtype) if aval.weak else value
    if is_spelled_out(x):
        return constant(np.asarray(value), like=like)
    return value if isinstance(value, np.ndarray) else np.asarray(value)


def is_spelled_out(x: Any) -> bool:
    """Say whether `x` is made of Python's numbers alone, which nobody changes afterwards."""
    if isinstance(x, list | tuple):
        return all(type(leaf) in PYTHON_SCALARS for leaf in _leaves(x))
    return type(x) in PYTHON_SCALARS


def traced_among(*values: Any) -> Any:
    """Return the first traced value among values and nested lists of them, None without one."""
    return next(filter(is_traced, _leaves(values)), None)


def holds_traced(x: Sequence[Any]) -> bool:
    """Say whether a nested list or tuple holds a traced value anywhere."""
    return any(map(is_traced, _leaves(x)))


def _leaves(x: Any) -> Iterator[Any]:
    for entry in x:
        if isinstance(entry, list | tuple):
            yield from _leaves(entry)
        else:
            yield entry


def fresh(result: Any) -> Any:
    """Return results as arrays of their own: writing them writes no argument."""
    if isinstance(result, tuple | list) and type(result) in (tuple, list):
        return type(result)(map(fresh, result))
    if isinstance(result, np.ndarray):
        return result.copy() if result.base is not None else result
    detached = getattr(result, "detached", None)
    return result if detached is None else detached()


def result_dtype(avals: Sequence[Aval]) -> np.dtype:
    """Return the dtype that joining arrays of these avals gives; Python scalars count as arrays."""
    return np.result_type(*(aval.dtype for aval in avals))


def cast(x: Any, dtype: Any, *, casting: str = "unsafe", copy: bool = True) -> Any:
    """Return `x.astype(dtype)`; TypeError where the casting rule forbids it, as in NumPy."""
    dtype, given = np.dtype(dtype), aval_of(x).dtype
    if not np.can_cast(given, dtype, casting=casting):  # type: ignore[arg-type]
        raise TypeError(
            f"Cannot cast array data from {given!r} to {dtype!r} according to the rule {casting!r}"
        )
    result = astype(x, dtype)
    return fresh(result) if copy else result


@implements(np.astype)
def _astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return cast(x, dtype, copy=copy)


@implements(np.copy)
def _copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return fresh(as_array(a))


@implements(np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)
def _asarray(a: Any, dtype: Any = None, **keywords: Any) -> Any:
    value = as_array(a)
    return value if dtype is None else astype(value, dtype)


def must_copy(copy: Any) -> bool:
    """Say whether a `copy=` argument asks for a copy: True, or its private spelling in NumPy."""
    name = getattr(copy, "name", None)
    return bool(copy) if name is None else bool(name == "ALWAYS")


@implements_scipy("numpy.require", "numpy.asarray_chkfinite")
def _converted(a: Any, dtype: Any = None, *requirements: Any, **keywords: Any) -> Any:
    return _asarray(a, dtype)


@implements(np.array)
def array(a: Any, dtype: Any = None, *, ndmin: int = 0, copy: Any = True, **keywords: Any) -> Any:
    """Return what `np.array` does for array-likes that hold traced values."""
    value = _asarray(a, dtype)
    shape = aval_of(value).shape
    value = reshape(value, (1,) * (ndmin - len(shape)) + shape)
    return fresh(value) if must_copy(copy) else value
