"""Diagonals and triangles: a slice of the elements in a row, or a mask of rows against columns."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from stagrad.errors import UnsupportedError
from stagrad.ir import aval_of
from stagrad.ops.convert import as_array, is_traced, traced_among
from stagrad.ops.define import FUNCTIONS, implements
from stagrad.ops.movement import broadcast_to, constant, reshape, transpose
from stagrad.ops.repeating import resize
from stagrad.ops.selection import select
from stagrad.ops.shaping import broadcast_arrays, ravel
from stagrad.ops.slicing import axis_slice, pad, span


def diagonal_span(rows: int, columns: int, offset: int) -> tuple[int, int]:
    """Return where a diagonal starts in a row-major matrix, and how many elements it has.

    The step is `columns + 1`; the count, not the matrix's end, says where it stops.

    >>> diagonal_span(4, 2, 0), diagonal_span(2, 4, 1), diagonal_span(2, 2, 5)
    ((0, 2), (1, 2), (0, 0))
    """
    count = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    if count == 0:
        return 0, 0
    return (offset if offset >= 0 else -offset * columns), count


def _known_offset(offset: Any, name: str) -> int:
    if is_traced(offset):
        raise UnsupportedError(f"{name}: the shape depends on the offset, which is traced")
    return int(offset)


@implements(np.diagonal)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return a diagonal of the matrices on two axes, as the last axis."""
    x = as_array(a)
    ndim = aval_of(x).ndim
    if ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = normalize_axis_index(axis1, ndim), normalize_axis_index(axis2, ndim)
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    rest = [axis for axis in range(ndim) if axis not in (first, second)]
    x = transpose(x, (*rest, first, second))
    *lead, rows, columns = aval_of(x).shape
    start, count = diagonal_span(rows, columns, _known_offset(offset, "diagonal"))
    x = reshape(x, (*lead, rows * columns))
    return axis_slice(x, len(lead), start, start + count * (columns + 1), columns + 1)


@implements(np.linalg.diagonal)
def linalg_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Return a diagonal of the matrices on the last two axes."""
    return diagonal(x, offset, -2, -1)


def _embed(v: Any, offset: int) -> Any:
    """Return the square matrix with a vector on a diagonal and zeros elsewhere."""
    count = aval_of(v).size
    extent = count + abs(offset)
    start, _ = diagonal_span(extent, extent, offset)
    stop = start + count * (extent + 1)
    line = pad(v, (extent * extent,), (span(start, stop, extent + 1, extent * extent),))
    return reshape(line, (extent, extent))


@implements(np.diag)
def diag(v: Any, k: int = 0) -> Any:
    """Return the matrix with a vector on a diagonal, or a matrix's diagonal."""
    x = as_array(v)
    offset = _known_offset(k, "diag")
    ndim = aval_of(x).ndim
    if ndim == 2:
        return diagonal(x, offset)
    if ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    return _embed(x, offset)


@implements(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    """Return the matrix with all elements of an array on a diagonal."""
    return _embed(ravel(v), _known_offset(k, "diagflat"))


def filled_diagonal(a: Any, val: Any, wrap: bool = False) -> Any:
    """Return the array after `np.fill_diagonal(a, val, wrap)`."""
    from stagrad.ops.indexing import store

    shape = aval_of(a).shape
    if len(shape) < 2:
        raise ValueError("array must be at least 2-d")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    flat = len(shape) == 2
    step = shape[1] + 1 if flat else sum(shape[0] ** power for power in range(len(shape)))
    end = shape[1] * shape[1] if flat and not wrap else None
    line = ravel(a)
    places = np.arange(aval_of(line).size)[:end:step]
    values = as_array(val, like=a)
    count = aval_of(values).size
    if aval_of(values).ndim and count:
        values = resize(values, len(places))
    return reshape(store(line, slice(None, end, step), values), shape)


def _triangle(keep: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def apply(m: Any, k: int = 0) -> Any:
        x = as_array(m)
        aval = aval_of(x)
        if aval.ndim < 2:
            x = broadcast_to(x, (aval.size, aval.size))
            aval = aval_of(x)
        rows, columns = aval.shape[-2:]
        down = constant(np.arange(rows).reshape(rows, 1), like=x)
        across = constant(np.arange(columns), like=x) - k
        return select(keep(down, across), x, 0)

    return apply


tril = implements(np.tril)(_triangle(lambda down, across: down >= across))
triu = implements(np.triu)(_triangle(lambda down, across: down <= across))


@implements(np.kron)
def kron(a: Any, b: Any) -> Any:
    """Return the Kronecker product."""
    like = traced_among(a, b)
    x, y = as_array(a, like=like), as_array(b, like=like)
    ndim = max(aval_of(x).ndim, aval_of(y).ndim)
    outer = [(1,) * (ndim - aval_of(value).ndim) + aval_of(value).shape for value in (x, y)]
    spread_x = tuple(extent for size in outer[0] for extent in (size, 1))
    spread_y = tuple(extent for size in outer[1] for extent in (1, size))
    whole = tuple(left * right for left, right in zip(*outer, strict=True))
    return reshape(reshape(x, spread_x) * reshape(y, spread_y), whole)


@implements(np.meshgrid)
def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Any, ...]:
    """Return coordinate arrays of the grid that vectors span."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    values = [ravel(value) for value in xi]
    ndim = len(values)
    places = list(range(ndim))
    if indexing == "xy" and ndim > 1:
        places[:2] = [1, 0]
    shaped = [
        reshape(value, tuple(-1 if axis == place else 1 for axis in range(ndim)))
        for value, place in zip(values, places, strict=True)
    ]
    return tuple(shaped) if sparse else tuple(broadcast_arrays(*shaped))


@implements(np.ix_)
def ix_(*args: Any) -> tuple[Any, ...]:
    """Return index arrays that select a grid; masks must be known."""
    ndim = len(args)
    results = []
    for place, arg in enumerate(args):
        value = as_array(arg)
        if aval_of(value).dtype.kind == "b":
            (value,) = FUNCTIONS[np.nonzero](value) if is_traced(value) else np.nonzero(value)
        if aval_of(value).ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        shape = tuple(-1 if axis == place else 1 for axis in range(ndim))
        results.append(reshape(value, shape))
    return tuple(results)
