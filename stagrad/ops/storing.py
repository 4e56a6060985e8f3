"""NumPy's functions that write into their first argument: put, place, copyto and their like.

Each computes the new contents and assigns them, so that writing means what it means for the array
that is written: a traced value, one made while tracing, or an eager tensor.
"""

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from stagrad.errors import ShapeError
from stagrad.ir import aval_of
from stagrad.ops.choosing import along_axis, index_array, within
from stagrad.ops.convert import as_array, as_value
from stagrad.ops.define import UFUNCS, implements
from stagrad.ops.diagonals import filled_diagonal
from stagrad.ops.gather import gather, known_array, scatter
from stagrad.ops.indexing import fit, store
from stagrad.ops.movement import astype, reshape
from stagrad.ops.repeating import resize
from stagrad.ops.selection import select
from stagrad.ops.shaping import ravel


@implements(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Write `src` into `dst`, broadcast, where a mask holds."""
    target, value = as_array(dst), as_value(src)
    given, dtype = aval_of(value), aval_of(target).dtype
    if not given.weak and not np.can_cast(given.dtype, dtype, casting=casting):  # type: ignore[arg-type]
        raise TypeError(
            f"Cannot cast array data from {given.dtype!r} to {dtype!r} according to the rule "
            f"{casting!r}"
        )
    value = fit(target, value, aval_of(target).shape)
    dst[...] = value if where is True else select(as_value(where), value, target)


@implements(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Write values, again and again if there are too few, at positions of the elements in a row."""
    target = as_array(a)
    line = ravel(target)
    places = ravel(index_array(ind, "put", like=target))
    count = aval_of(places).size
    values = as_array(v, like=target)
    if count == 0 or aval_of(values).size == 0:
        return
    places = within(places, aval_of(line).size, 0, mode)
    written = scatter(line, astype(resize(values, count), aval_of(line).dtype), [places], (0,))
    a[...] = reshape(written, aval_of(target).shape)


@implements(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    """Write `values`, repeated to the size of `a`, where a mask holds."""
    target = as_array(a)
    given = as_array(values, like=target)
    aval = aval_of(target)
    if aval_of(as_array(mask)).size != aval.size:
        raise ShapeError("putmask: mask and data must be the same size")
    if aval_of(given).size == 0:
        return
    held = reshape(astype(as_array(mask), np.dtype(np.bool_)), aval.shape)
    a[...] = select(held, astype(resize(given, aval.shape), aval.dtype), target)


@implements(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Write values in turn, again and again if there are too few, where a mask holds."""
    target = as_array(arr)
    given = ravel(as_array(vals, like=target))
    aval, count = aval_of(target), aval_of(given).size
    if count == 0:
        if known_array(as_value(mask)) is not None and not np.any(mask):
            return
        raise ValueError("Cannot insert from an empty array!")
    held = ravel(astype(as_array(mask), np.dtype(np.bool_)))
    turn = UFUNCS["remainder"](_running_count(held, like=target), count)
    values = reshape(gather(given, [turn], (0,)), aval.shape)
    a = select(reshape(held, aval.shape), astype(values, aval.dtype), target)
    arr[...] = a


def _running_count(held: Any, *, like: Any) -> Any:
    """Return for each element of a mask how many before it are true."""
    from stagrad.ops.cumulative import cumsum

    numbers = astype(held, np.dtype(np.intp))
    return cumsum(numbers, 0) - numbers


@implements(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """Write values at positions along an axis, one index array entry for each."""
    target, places = as_array(arr), as_array(indices)
    x = ravel(target) if axis is None else target
    shape = aval_of(x).shape
    axis = normalize_axis_index(0 if axis is None else axis, len(shape))
    places = tuple(along_axis(places, shape, axis, "put_along_axis", like=x))
    arr[...] = reshape(store(x, places, values), aval_of(target).shape)


@implements(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Write a value, or values in turn, onto the main diagonal."""
    a[...] = filled_diagonal(as_array(a), val, wrap)
