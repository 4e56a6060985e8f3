"""Reading and writing at indices and where masks hold."""

from typing import Any

import numpy as np

from stagrad.eager.functions.registry import METHODS, enter, function, numbers, write_out
from stagrad.eager.functions.shapes import axis_in
from stagrad.eager.tape import make_tensor
from stagrad.ir import aval_of
from stagrad.ops.convert import cast
from stagrad.ops.indexing import getitem, store, store_add


def _along(index: np.ndarray, axis: int, extent: int, name: str) -> tuple[Any, ...]:
    """Return index arrays that name, for each entry of `index`, its own place but along `axis`."""
    if index.size and not (index.min() >= 0 and index.max() < extent):
        wrong = index.max() if index.max() >= extent else index.min()
        raise RuntimeError(
            f"index {wrong} is out of bounds for dimension {axis} with size {extent} ({name})"
        )
    grid: list[Any] = list(np.indices(index.shape, sparse=True))
    grid[axis] = index
    return tuple(np.broadcast_arrays(*grid))


def _rows(index: Any) -> np.ndarray:
    """Return indices as an array of one axis at least."""
    return np.atleast_1d(np.asarray(numbers(index)))


def _scalar_safe(input: Any) -> Any:
    return np.reshape(input, (1,)) if aval_of(input).ndim == 0 else input


@function("GatherBackward0")
def gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    """Return the elements at `index` along an axis: out[i][j] = input[index[i][j]][j] for dim 0."""
    places = numbers(index)
    if places.dtype.kind not in "iu":
        raise RuntimeError("gather(): Expected dtype int32/int64 for index")
    x, axis = _scalar_safe(input), axis_in(dim, aval_of(input).ndim)
    if places.ndim == 0:
        return np.reshape(getitem(x, (places.reshape(1),)), ())
    if places.ndim != aval_of(x).ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    return getitem(x, _along(places, axis, aval_of(x).shape[axis], "gather"))


@function("GatherBackward0")
def take_along_dim(input: Any, indices: Any, dim: Any = None) -> Any:
    """Return the elements at indices along an axis, the other axes broadcast."""
    return np.take_along_axis(input, numbers(indices), dim)


@function("TakeBackward0")
def take(input: Any, index: Any, *, axis: int | None = None) -> Any:
    """Return the elements at indices, of all elements in a row or along an axis."""
    return np.take(input, numbers(index), axis=axis)


@function("IndexSelectBackward0")
def index_select(input: Any, dim: int, index: Any) -> Any:
    """Return the entries at indices along an axis."""
    if aval_of(input).ndim == 0:
        return input + 0
    return np.take(input, _rows(index), axis=dim)


@function("MaskedSelectBackward0")
def masked_select(input: Any, mask: Any) -> Any:
    """Return the elements where a mask holds, in a row."""
    shape = np.broadcast_shapes(aval_of(input).shape, numbers(mask).shape)
    chosen = np.atleast_1d(np.broadcast_to(numbers(mask), shape))
    shape = chosen.shape
    return np.reshape(getitem(np.broadcast_to(input, shape), np.nonzero(chosen)), -1)


@function("MaskedFillBackward0", in_place=True)
def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """Return the tensor with a number where a mask holds."""
    if numbers(mask).dtype.kind != "b":
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{numbers(mask).dtype.name}"
        )
    filling = cast(value, aval_of(input).dtype, copy=False) if hasattr(value, "ndim") else value
    return cast(np.where(numbers(mask), filling, input), aval_of(input).dtype, copy=False)


@function("MaskedScatterBackward0", in_place=True)
def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """Return the tensor with elements of a source, in order, where a mask holds."""
    chosen = np.broadcast_to(numbers(mask), aval_of(input).shape)
    count = int(np.count_nonzero(chosen))
    return store(input, np.nonzero(chosen), getitem(np.reshape(source, -1), slice(0, count)))


@function("WhereBackward0", method=False, module=False)
def _where(condition: Any, input: Any, other: Any) -> Any:
    return np.where(numbers(condition), input, other)


def where(condition: Any, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """Return elements of `input` where a condition holds, of `other` elsewhere.

    Without these two, the tuple of index tensors where the condition is not zero.
    """
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    result = _where(condition, input, other)
    return result if out is None else write_out(out, result)


def _where_method(self: Any, condition: Any, other: Any) -> Any:
    """Return the elements where a condition holds, those of `other` elsewhere."""
    return _where(condition, self, other)


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Return the indices of all elements that are not zero, a row each, or a tensor for each axis.

    >>> import stagrad
    >>> stagrad.nonzero(stagrad.tensor([0, 3, 5]))
    tensor([[1],
            [2]])
    """
    found = np.nonzero(np.atleast_1d(numbers(input)))
    if as_tuple:
        return tuple(make_tensor(np.asarray(places, np.int64), None) for places in found)
    rows = np.stack(found, -1).astype(np.int64)
    return make_tensor(rows[:, :0] if numbers(input).ndim == 0 else rows, None)


def argwhere(input: Any) -> Any:
    """Return the indices of all elements that are not zero, a row each."""
    return nonzero(input)


enter(nonzero)
enter(argwhere)
enter(where, method=False)
METHODS["where"] = _where_method


def _into(input: Any, dim: int, index: Any, source: Any, reduce: Any, name: str) -> Any:
    """Write, add or otherwise combine source elements into places along an axis."""
    x, axis = _scalar_safe(input), axis_in(dim, aval_of(input).ndim)
    places = _rows(index)
    where = _along(places, axis, aval_of(x).shape[axis], name)
    if hasattr(source, "ndim"):
        source = _scalar_safe(source)
        if aval_of(source).shape != places.shape:
            source = getitem(source, tuple(slice(0, extent) for extent in places.shape))
    combine = {None: store, "add": store_add, "sum": store_add}.get(reduce)
    result = _reduced(x, where, source, reduce) if combine is None else combine(x, where, source)
    return np.reshape(result, aval_of(input).shape)


def _reduced(x: Any, where: Any, source: Any, reduce: str, include_self: bool = True) -> Any:
    """Combine by product, mean or an extreme: each element with all that meet it, in turn."""
    flat = np.ravel_multi_index(where, aval_of(x).shape).ravel()
    values = np.reshape(np.broadcast_to(source, where[0].shape), -1)
    size, result = aval_of(x).size, np.reshape(x, -1)
    order = np.argsort(flat, stable=True)
    counts = np.bincount(flat, minlength=size)
    # Round by round, the k-th of the values that meet at one place.
    ranks = np.empty(len(flat), np.int64)
    ranks[order] = np.arange(len(flat)) - np.repeat(np.cumsum(counts) - counts, counts)
    candidates = [result] if include_self else []
    touched = counts > 0
    neutral = {"amax": -np.inf, "amin": np.inf, "prod": 1.0, "multiply": 1.0}.get(reduce, 0.0)
    for rank in range(int(counts.max(initial=0))):
        of_rank = np.flatnonzero(ranks == rank)
        base = np.full(size, neutral, aval_of(x).dtype)
        candidates.append(store(base, (flat[of_rank],), getitem(values, (of_rank,))))
    stacked = np.stack(candidates)
    if reduce in ("amax", "amin"):
        combined = (np.max if reduce == "amax" else np.min)(stacked, axis=0)
    elif reduce in ("prod", "multiply"):
        combined = np.prod(stacked, axis=0)
    else:
        combined = np.sum(stacked, axis=0)
        if reduce == "mean":
            divisor = np.maximum(counts + include_self, 1)
            combined = combined / divisor.astype(aval_of(x).dtype)
    return np.reshape(np.where(touched, combined, result), aval_of(x).shape)


def _source(src: Any, value: Any) -> Any:
    return value if src is None else src


def _scatter_name(input: Any, dim: int, index: Any, src: Any = None, **options: Any) -> str:
    return "ScatterBackward0" if hasattr(src, "ndim") else "ScatterBackward1"


@function(_scatter_name, in_place=True)
def scatter(
    input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: Any = None
) -> Any:
    """Return the tensor with source elements written at `index` along an axis."""
    return _into(input, dim, index, _source(src, value), reduce, "scatter")


@function("ScatterAddBackward0", in_place=True)
def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """Return the tensor with source elements added at `index` along an axis."""
    return _into(input, dim, index, src, "add", "scatter_add")


@function("ScatterReduceBackward0", in_place=True)
def scatter_reduce(
    input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """Return the tensor combined with source elements: "sum", "prod", "mean", "amax", "amin"."""
    x, axis = _scalar_safe(input), axis_in(dim, aval_of(input).ndim)
    places = _rows(index)
    where = _along(places, axis, aval_of(x).shape[axis], "scatter_reduce")
    source = getitem(_scalar_safe(src), tuple(slice(0, extent) for extent in places.shape))
    result = _reduced(x, where, source, reduce, include_self)
    return np.reshape(result, aval_of(input).shape)


def _at(input: Any, dim: int, index: Any) -> tuple[Any, Any]:
    """Return a tensor with axes, and the index of whole entries along one."""
    x, axis = _scalar_safe(input), axis_in(dim, aval_of(input).ndim)
    return x, (slice(None),) * axis + (_rows(index),)


def _entries(source: Any, input: Any) -> Any:
    return np.reshape(source, (1,)) if aval_of(source).ndim == aval_of(input).ndim == 0 else source


@function("IndexAddBackward0", in_place=True)
def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """Return the tensor with entries added at indices along an axis."""
    x, where = _at(input, dim, index)
    added = store_add(x, where, _entries(source if alpha == 1 else source * alpha, input))
    return np.reshape(added, aval_of(input).shape)


@function("IndexCopyBackward0", in_place=True)
def index_copy(input: Any, dim: int, index: Any, source: Any) -> Any:
    """Return the tensor with entries written at indices along an axis."""
    x, where = _at(input, dim, index)
    return np.reshape(store(x, where, _entries(source, input)), aval_of(input).shape)


@function("IndexFillBackward0", in_place=True)
def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """Return the tensor with a number written at indices along an axis."""
    x, where = _at(input, dim, index)
    return np.reshape(store(x, where, value), aval_of(input).shape)


@function("IndexPutBackward0", in_place=True)
def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """Return the tensor with values written, or added, at a tuple of index tensors."""
    where = tuple(slice(None) if part is None else numbers(part) for part in indices)
    return (store_add if accumulate else store)(input, where, values)


@function("PutBackward0", in_place=True)
def put(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """Return the tensor with values written, or added, at indices of all elements in a row."""
    flat, where = np.reshape(input, -1), (np.reshape(numbers(index), -1),)
    written = (store_add if accumulate else store)(flat, where, np.reshape(source, -1))
    return np.reshape(written, aval_of(input).shape)


@function("SliceScatterBackward0")
def slice_scatter(
    input: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    """Return the tensor with a slice of an axis replaced."""
    axis = axis_in(dim, aval_of(input).ndim)
    return store(input, (slice(None),) * axis + (slice(start, end, step),), src)


@function("SelectScatterBackward0")
def select_scatter(input: Any, src: Any, dim: int, index: int) -> Any:
    """Return the tensor with one entry of an axis replaced."""
    axis = axis_in(dim, aval_of(input).ndim)
    return store(input, (slice(None),) * axis + (index,), src)


@function("DiagonalScatterBackward0")
def diagonal_scatter(input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """Return the tensor with a diagonal replaced."""
    first, second = axis_in(dim1, aval_of(input).ndim), axis_in(dim2, aval_of(input).ndim)
    ahead = np.moveaxis(input, (first, second), (0, 1))
    count = np.diagonal(np.empty(aval_of(ahead).shape[:2]), offset).size
    rows = np.arange(count) + max(-offset, 0)
    written = store(ahead, (rows, rows + offset), np.moveaxis(src, -1, 0))
    return np.moveaxis(written, (0, 1), (first, second))
