"""NumPy functions that ask for shapes and dtypes: answered while tracing, with plain values."""

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from stagrad.ir import aval_of
from stagrad.ops.convert import as_value, is_traced
from stagrad.ops.define import implements
from stagrad.ops.promote import loop_types


@implements(np.shape)
def shape(a: Any) -> tuple[int, ...]:
    """Return the shape."""
    return aval_of(as_value(a)).shape


@implements(np.ndim)
def ndim(a: Any) -> int:
    """Return the number of axes."""
    return aval_of(as_value(a)).ndim


@implements(np.size)
def size(a: Any, axis: Any = None) -> int:
    """Return the number of elements, along some axes or altogether."""
    aval = aval_of(as_value(a))
    if axis is None:
        return aval.size
    count = 1
    for place in normalize_axis_tuple(axis, aval.ndim):
        count *= aval.shape[place]
    return count


@implements(np.result_type)
def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    """Return the dtype the operands meet in; Python scalars adapt to their partners."""
    avals = [aval_of(value) for value in arrays_and_dtypes if is_traced(value)]
    traced = iter(loop_types(avals) if len(avals) == len(arrays_and_dtypes) else _examples(avals))
    operands = [next(traced) if is_traced(value) else value for value in arrays_and_dtypes]
    return np.result_type(*(kind(0) if _is_scalar_type(kind) else kind for kind in operands))


def _examples(avals: list[Any]) -> list[Any]:
    return [aval.dtype.type(0).item() if aval.weak else aval.dtype for aval in avals]


def _is_scalar_type(kind: Any) -> bool:
    # A dtype equals the Python type it stands for, so `in` would not do.
    return kind is int or kind is float or kind is complex


@implements(np.can_cast)
def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Say whether a cast is allowed by a casting rule."""
    given = aval_of(from_).dtype if is_traced(from_) else from_
    return np.can_cast(given, to, casting=casting)  # type: ignore[arg-type]


@implements(np.common_type)
def common_type(*arrays: Any) -> type:
    """Return the inexact scalar type the arrays have in common."""
    examples = [np.empty(0, aval_of(as_value(array)).dtype) for array in arrays]
    return np.common_type(*examples)


@implements(np.min_scalar_type)
def min_scalar_type(a: Any) -> np.dtype:
    """Return the dtype: the smallest one for the value of a scalar is unknown while tracing."""
    return aval_of(a).dtype
