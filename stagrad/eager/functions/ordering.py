"""Largest and smallest elements, sorting, and where elements stand in an order."""

from typing import Any

import numpy as np

from stagrad.eager.functions.registry import enter, function, numbers, returned
from stagrad.eager.tape import make_tensor
from stagrad.ir import aval_of

Max, Min = returned("max", "values", "indices"), returned("min", "values", "indices")
Sort, Topk = returned("sort", "values", "indices"), returned("topk", "values", "indices")
Median, Mode = returned("median", "values", "indices"), returned("mode", "values", "indices")
Nanmedian = returned("nanmedian", "values", "indices")
Kthvalue = returned("kthvalue", "values", "indices")
Cummax, Cummin = returned("cummax", "values", "indices"), returned("cummin", "values", "indices")


def _picked(input: Any, places: Any, dim: int, keepdim: bool = True) -> Any:
    """Return the elements at places along an axis."""
    if aval_of(input).ndim == 0:
        return input + 0, np.zeros((), np.int64)
    values = np.take_along_axis(input, places, dim)
    if not keepdim:
        values, places = np.squeeze(values, dim), np.squeeze(places, dim)
    return values, np.asarray(places, np.int64)


def _extreme(input: Any, dim: int, keepdim: bool, is_max: bool) -> Any:
    array = numbers(input)
    find = np.argmax if is_max else np.argmin
    places = None if array.ndim == 0 else np.expand_dims(find(array, dim), dim)
    return _picked(input, places, dim, keepdim)


def _extreme_name(stem: str) -> Any:
    def name(input: Any, dim: Any = None, keepdim: bool = False) -> str:
        if hasattr(dim, "ndim"):
            return f"{'Maximum' if stem == 'Max' else 'Minimum'}Backward0"
        return f"{stem}Backward{1 if dim is None else 0}"

    return name


@function(_extreme_name("Max"))
def max(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the largest element; along `dim` values and indices; or the larger of two tensors.

    >>> import stagrad
    >>> stagrad.tensor([[1.0, 3.0], [2.0, 0.0]]).max(dim=1)
    torch.return_types.max(
    values=tensor([3., 2.]),
    indices=tensor([1, 0]))
    """
    if dim is None:
        return np.max(input, keepdims=keepdim)
    if hasattr(dim, "ndim"):
        return np.maximum(input, dim)
    return Max(*_extreme(input, dim, keepdim, True))


@function(_extreme_name("Min"))
def min(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the smallest element; along `dim` values and indices; or the smaller of two."""
    if dim is None:
        return np.min(input, keepdims=keepdim)
    if hasattr(dim, "ndim"):
        return np.minimum(input, dim)
    return Min(*_extreme(input, dim, keepdim, False))


@function("AminmaxBackward0")
def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the smallest and the largest elements."""
    return (
        np.min(input, axis=dim, keepdims=keepdim),
        np.max(input, axis=dim, keepdims=keepdim),
    )


@function("ArgmaxBackward0")
def argmax(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return where the largest element stands, the first of several."""
    return np.argmax(numbers(input), axis=dim, keepdims=keepdim)


@function("ArgminBackward0")
def argmin(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return where the smallest element stands, the first of several."""
    return np.argmin(numbers(input), axis=dim, keepdims=keepdim)


def _order(array: np.ndarray, dim: int, descending: bool) -> Any:
    """Return the stable order along an axis; NaN counts as the largest."""
    if array.ndim == 0:
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(array, dim, stable=True)
    # Reversed before and after, equal elements keep their order.
    back = np.flip(np.argsort(np.flip(array, dim), dim, stable=True), dim)
    return array.shape[dim] - 1 - back


@function("SortBackward0")
def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """Return the elements in order along an axis, and where they stood."""
    return Sort(*_picked(input, _order(numbers(input), dim, descending), dim))


@function("ArgsortBackward0")
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """Return the indices that sort along an axis."""
    return _order(numbers(input), dim, descending)


@function("SortBackward0")
def msort(input: Any) -> Any:
    """Return the tensor sorted along its first axis."""
    return _picked(input, _order(numbers(input), 0, False), 0)[0]


@function("TopkBackward0")
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """Return the k largest (or smallest) elements along an axis in order, and where they stood."""
    array = numbers(input)
    if k > (array.shape[dim] if array.ndim else 1):
        raise RuntimeError("selected index k out of range")
    order = _order(array, dim, largest)
    return Topk(*_picked(input, np.take(order, range(k), dim) if array.ndim else order, dim))


@function("KthvalueBackward0")
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """Return the k-th smallest element along an axis, counted from one, and where it stands."""
    order = _order(numbers(input), dim, False)
    if not 1 <= k <= (order.shape[dim] if order.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    places = np.take(order, [k - 1], dim) if order.ndim else order
    return Kthvalue(*_picked(input, places, dim, keepdim))


def _middle(array: np.ndarray, dim: int, ignore: bool) -> Any:
    """Return where the lower median stands; NaN comes first unless it is ignored."""
    order = _order(array, dim, False)
    missing = np.isnan(array) if array.dtype.kind in "fc" else np.zeros(array.shape, bool)
    counts = np.sum(~missing, axis=dim, keepdims=True)
    middle = np.maximum(counts - 1, 0) // 2
    if not ignore:
        middle = np.where(counts < array.shape[dim], counts, middle)
    return np.take_along_axis(order, middle, dim)


def _median(kind: Any, input: Any, dim: Any, keepdim: bool, ignore: bool) -> Any:
    if dim is None:
        flat = np.reshape(input, -1)
        return _picked(flat, _middle(numbers(flat), 0, ignore), 0, False)[0]
    places = _middle(numbers(input), dim, ignore) if aval_of(input).ndim else None
    return kind(*_picked(input, places, dim, keepdim))


def _median_name(input: Any, dim: Any = None, keepdim: bool = False) -> str:
    return f"MedianBackward{0 if dim is None else 1}"


@function(_median_name)
def median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the median, the lower one of two; along `dim` values and indices."""
    return _median(Median, input, dim, keepdim, False)


def _nanmedian_name(input: Any, dim: Any = None, keepdim: bool = False) -> str:
    return f"NanmedianBackward{0 if dim is None else 1}"


@function(_nanmedian_name)
def nanmedian(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the median of what is not NaN."""
    return _median(Nanmedian, input, dim, keepdim, True)


@function("ModeBackward0")
def mode(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """Return the most frequent element along an axis, the smallest of several, and its index."""
    array = np.atleast_1d(numbers(input))
    rows = np.moveaxis(array, dim, -1)
    found = np.empty((*rows.shape[:-1], 1), np.int64)
    for place in np.ndindex(rows.shape[:-1]):
        kinds, counts = np.unique(rows[place], return_counts=True)
        found[place] = np.flatnonzero(rows[place] == kinds[np.argmax(counts)])[-1]
    return Mode(*_picked(input, np.moveaxis(found, -1, dim), dim, keepdim))


def _running_places(array: np.ndarray, dim: int, is_max: bool) -> Any:
    """Return where the extreme of all elements up to each one stands, the last of several."""
    best = (np.maximum if is_max else np.minimum).accumulate(array, axis=dim)
    shape = [1] * array.ndim
    shape[dim] = -1
    places = np.arange(array.shape[dim]).reshape(shape)
    here = (array == best) | (array != array)
    return np.maximum.accumulate(np.where(here, places, 0), axis=dim)


@function("CummaxBackward0")
def cummax(input: Any, dim: int) -> Any:
    """Return the largest of all elements up to each one, and where it stands."""
    array = numbers(input)
    return Cummax(*_picked(input, _running_places(array, dim, True) if array.ndim else 0, dim))


@function("CumminBackward0")
def cummin(input: Any, dim: int) -> Any:
    """Return the smallest of all elements up to each one, and where it stands."""
    array = numbers(input)
    return Cummin(*_picked(input, _running_places(array, dim, False) if array.ndim else 0, dim))


@function("SearchsortedBackward0", method=False)
def searchsorted(
    sorted_sequence: Any, input: Any, *, out_int32: bool = False, right: bool = False,
    side: str | None = None, sorter: Any = None,
) -> Any:  # fmt: skip
    """Return where values belong in sorted rows."""
    rows, values = numbers(sorted_sequence), np.asarray(numbers(input))
    side = side or ("right" if right else "left")
    order = numbers(sorter)
    if rows.ndim == 1:
        found = np.searchsorted(rows, values, side, order)  # type: ignore[call-overload]
    else:
        found = np.empty(values.shape, np.int64)
        for place in np.ndindex(rows.shape[:-1]):
            row_order = None if order is None else order[place]
            found[place] = np.searchsorted(rows[place], values[place], side, row_order)  # type: ignore[call-overload]
    return np.asarray(found, np.int32 if out_int32 else np.int64)


@function("BucketizeBackward0", method=False)
def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    """Return the bucket of each value, given the boundaries in order."""
    found = np.searchsorted(numbers(boundaries), numbers(input), "right" if right else "left")
    return np.asarray(found, np.int32 if out_int32 else np.int64)


def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
    dim: Any = None,
) -> Any:  # fmt: skip
    """Return the different elements in order, on request with inverse indices and counts."""
    kinds, inverse, counts = np.unique(
        numbers(input), return_inverse=True, return_counts=True, axis=dim
    )
    found = [kinds]
    if return_inverse:
        found.append(inverse.reshape(numbers(input).shape) if dim is None else inverse.ravel())
    if return_counts:
        found.append(counts)
    made = tuple(make_tensor(np.asarray(part), None) for part in found)
    return made if len(made) > 1 else made[0]


def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """Return the elements without those that equal the one before them."""
    rows = numbers(input).ravel() if dim is None else np.moveaxis(numbers(input), dim, 0)
    flat = rows.reshape(len(rows), -1)
    starts = np.concatenate([[True], np.any(flat[1:] != flat[:-1], axis=1)])[: len(rows)]
    kinds = rows[starts]
    found = [kinds if dim is None else np.moveaxis(kinds, 0, dim)]
    if return_inverse:
        inverse = np.cumsum(starts) - 1
        found.append(inverse.reshape(numbers(input).shape) if dim is None else inverse)
    if return_counts:
        found.append(np.diff(np.append(np.flatnonzero(starts), len(rows))))
    made = tuple(make_tensor(np.asarray(part), None) for part in found)
    return made if len(made) > 1 else made[0]


enter(unique)
enter(unique_consecutive)


@function("BincountBackward0", constant=True)
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Return how often each integer occurs, or the sums of its weights."""
    return np.bincount(numbers(input), numbers(weights), minlength)


@function("HistcBackward0", constant=True)
def histc(input: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """Return how many elements fall into each of `bins` equal bins between min and max."""
    array = numbers(input)
    if min == max:
        min, max = float(array.min()), float(array.max())
    if min == max:
        min, max = min - 1, max + 1
    return np.histogram(array, bins, (min, max))[0].astype(array.dtype)


@function("IsinBackward0", method=False)
def isin(elements: Any, test_elements: Any, *, invert: bool = False) -> Any:
    """Return which elements are among others."""
    return np.isin(numbers(elements), numbers(test_elements), invert=invert)
