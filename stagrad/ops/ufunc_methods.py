"""What `np.add.reduce` and the other methods of ufuncs mean for traced values.

Where an operation of its own computes a method, that is used; elsewhere the ufunc is applied
element after element, as NumPy does, which writes one operation per element into the program.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.errors import ShapeError, UnsupportedError
from stagrad.ir import aval_of
from stagrad.ops import cumulative, folds, nan_reductions, reduction
from stagrad.ops.convert import as_value
from stagrad.ops.define import FUNCTIONS, UFUNCS, normalize_axes
from stagrad.ops.gather import known_array
from stagrad.ops.indexing import store, store_add
from stagrad.ops.movement import astype, broadcast_to, reshape, zeros
from stagrad.ops.reduction import UNSET
from stagrad.ops.slicing import axis_slice

UFUNC_METHODS: dict[tuple[str, str], Callable[..., Any]] = {}
"""Implementation of each method of each ufunc, by the names of both."""

UNARY = {
    ufunc.__name__
    for ufunc in vars(np).values()
    if isinstance(ufunc, np.ufunc) and (ufunc.nin, ufunc.nout, ufunc.signature) == (1, 1, None)
}
BINARY = {
    ufunc.__name__
    for ufunc in vars(np).values()
    if isinstance(ufunc, np.ufunc) and (ufunc.nin, ufunc.nout, ufunc.signature) == (2, 1, None)
}


def _slices(array: Any, axis: int) -> list[Any]:
    shape = aval_of(array).shape
    rest = (*shape[:axis], *shape[axis + 1 :])
    return [
        reshape(axis_slice(array, axis, place, place + 1), rest) for place in range(shape[axis])
    ]


def _one_axis(name: str, axis: Any, ndim: int) -> int:
    axes = normalize_axes(axis, ndim, name)
    if len(axes) != 1:
        raise ShapeError(f"{name}: the order of axes {axes} matters, so one must be chosen")
    return axes[0]


def _reduce_in_order(
    name: str,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: None = None,
    keepdims: Any = False,
    initial: Any = UNSET,
    where: Any = True,
) -> Any:
    """Apply a ufunc from the first element of an axis to the last."""
    if where is not True:
        raise UnsupportedError(
            f"np.{name}.reduce(where=...): select the elements with np.where first"
        )
    array = as_value(array) if dtype is None else astype(as_value(array), dtype)
    place = _one_axis(f"{name}.reduce", axis, aval_of(array).ndim)
    parts = _slices(array, place)
    if initial is not UNSET and initial is not None:
        parts.insert(0, initial)
    if not parts:
        raise ShapeError(
            f"{name}.reduce: zero-size array to reduction operation {name} which has no identity"
        )
    result = functools.reduce(UFUNCS[name], parts)
    if not reduction.wanted(keepdims):
        return result
    return reshape(result, reduction.kept_shape(aval_of(array).shape, (place,)))


def _accumulate_in_order(
    name: str, array: Any, axis: Any = 0, dtype: Any = None, out: None = None
) -> Any:
    """Apply a ufunc from the first element of an axis to the last, keeping all results."""
    array = as_value(array) if dtype is None else astype(as_value(array), dtype)
    place = _one_axis(f"{name}.accumulate", axis, aval_of(array).ndim)
    parts = _slices(array, place)
    if not parts:
        return array
    for position in range(1, len(parts)):
        parts[position] = UFUNCS[name](parts[position - 1], parts[position])
    return FUNCTIONS[np.stack](parts, place)


def _outer(name: str, a: Any, b: Any, **keywords: Any) -> Any:
    """Apply a ufunc to every pair of elements of two arrays."""
    a, b = as_value(a), as_value(b)
    dtype = keywords.pop("dtype", None)
    if dtype is not None:
        a, b = astype(a, dtype), astype(b, dtype)
    a = reshape(a, aval_of(a).shape + (1,) * aval_of(b).ndim) if aval_of(b).ndim else a
    return UFUNCS[name](a, b, **keywords)


def _write(name: str, array: Any, contents: Any) -> None:
    given, target = aval_of(contents).dtype, aval_of(array).dtype
    if not np.can_cast(given, target, casting="same_kind"):
        raise TypeError(
            f"np.{name}.at: cannot cast the result from {given} to {target} with casting rule "
            "'same_kind'"
        )
    array[...] = astype(contents, target)


def _at(name: str, array: Any, indices: Any, *operand: Any) -> None:
    """Apply a ufunc in place at every index, as often as the index names an element."""
    old = as_value(array)
    given = aval_of(old)
    result = np.result_type(given.dtype, *(aval_of(as_value(part)).dtype for part in operand))
    if name in ("add", "subtract") and np.can_cast(result, given.dtype, casting="same_kind"):
        value = as_value(operand[0])
        _write(name, array, store_add(old, indices, value if name == "add" else -value))
        return
    places = _known_places(indices, given.shape)
    if places is None:
        raise UnsupportedError(
            f"np.{name}.at: with traced indices it is unknown which are repeated; only add and "
            "subtract take them. Give the indices as plain integers"
        )
    flat = reshape(old, (given.size,))
    values = [
        reshape(broadcast_to(as_value(part), places.shape), (places.size,)) for part in operand
    ]
    for turn in _turns(places.ravel()):
        target = places.ravel()[turn]
        flat = store(flat, target, UFUNCS[name](flat[target], *(value[turn] for value in values)))
    _write(name, array, reshape(flat, given.shape))


def _known_places(indices: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return the flat positions that indices name, None when only a run will tell."""
    entries = indices if isinstance(indices, tuple) else (indices,)
    known: list[Any] = []
    for entry in entries:
        if entry is not None and entry is not Ellipsis and not isinstance(entry, slice):
            entry = known_array(as_value(entry))
            if entry is None:
                return None
        known.append(entry)
    numbers = np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)
    return np.asarray(numbers[tuple(known)])


def _turns(places: np.ndarray) -> list[np.ndarray]:
    """Split positions into groups without repeats, the first occurrences first."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.searchsorted(ordered, ordered)
    occurrence = np.empty_like(places)
    occurrence[order] = np.arange(places.size) - starts
    count = int(occurrence.max(initial=-1)) + 1
    return [np.flatnonzero(occurrence == turn) for turn in range(count)]


def _reduceat(
    name: str, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: None = None
) -> Any:
    """Reduce the slices between successive indices along an axis."""
    array = as_value(array) if dtype is None else astype(as_value(array), dtype)
    place = _one_axis(f"{name}.reduceat", axis, aval_of(array).ndim)
    starts = known_array(as_value(indices))
    if starts is None:
        raise UnsupportedError(
            f"np.{name}.reduceat: traced indices leave the lengths of the slices unknown; give the "
            "indices as plain integers"
        )
    extent = aval_of(array).shape[place]
    if ((starts < 0) | (starts >= extent)).any():
        raise IndexError(f"{name}.reduceat: indices {starts} out of bounds for {extent} elements")
    stops = np.append(starts[1:], extent)
    slices = [
        np.arange(start, max(stop, start + 1)) for start, stop in zip(starts, stops, strict=True)
    ]
    if name == "add":
        return _add_slices(array, place, slices)
    reduce = UFUNC_METHODS[name, "reduce"]
    parts = [
        reduce(axis_slice(array, place, int(part[0]), int(part[-1]) + 1), place, keepdims=True)
        for part in slices
    ]
    return FUNCTIONS[np.concatenate](parts, place)


def _add_slices(array: Any, axis: int, slices: list[np.ndarray]) -> Any:
    shape = aval_of(array).shape
    dtype = reduction.accumulator(aval_of(array).dtype)
    whole = (slice(None),) * axis
    taken = np.concatenate([np.zeros(0, np.int64), *slices])
    if taken.size != shape[axis] or (taken != np.arange(taken.size)).any():
        array = array[(*whole, taken)]
    number = np.repeat(np.arange(len(slices)), [part.size for part in slices])
    totals = zeros((*shape[:axis], len(slices), *shape[axis + 1 :]), dtype, like=array)
    return store_add(totals, (*whole, number), astype(array, dtype))


REDUCE: dict[str, Callable[..., Any]] = {
    "add": folds.with_numpy_defaults(reduction.sum),
    "multiply": folds.with_numpy_defaults(reduction.prod),
    "maximum": folds.extreme(reduction.max),
    "minimum": folds.extreme(reduction.min),
    "fmax": folds.extreme(nan_reductions.nanmax),
    "fmin": folds.extreme(nan_reductions.nanmin),
    "logical_and": folds.truth(reduction.all, "logical_and"),
    "logical_or": folds.truth(reduction.any, "logical_or"),
    "logical_xor": folds.truth(folds.parity, "logical_xor"),
    "logaddexp": folds.logaddexp_reduce,
    "logaddexp2": folds.logaddexp2_reduce,
    "hypot": folds.hypot_reduce,
    **{name: folds.integer_reduce(name) for name in folds.INTEGER_FOLDS},
}

ACCUMULATE: dict[str, Callable[..., Any]] = {
    "add": folds.from_first_axis(cumulative.cumsum),
    "multiply": folds.from_first_axis(cumulative.cumprod),
    "maximum": folds.running_extreme(cumulative.cummax_p),
    "minimum": folds.running_extreme(cumulative.cummin_p),
    "fmax": folds.running_number(cumulative.cummax_p, reduction.bottom),
    "fmin": folds.running_number(cumulative.cummin_p, reduction.top),
    "logical_and": folds.running_truth(cumulative.cummin_p),
    "logical_or": folds.running_truth(cumulative.cummax_p),
    "logical_xor": folds.running_parity,
    "logaddexp": folds.logaddexp_accumulate,
    "logaddexp2": folds.logaddexp2_accumulate,
    **{name: folds.integer_accumulate(name) for name in folds.INTEGER_FOLDS},
}

for _name in BINARY:
    UFUNC_METHODS[_name, "reduce"] = REDUCE.get(_name) or functools.partial(_reduce_in_order, _name)
    UFUNC_METHODS[_name, "accumulate"] = ACCUMULATE.get(_name) or functools.partial(
        _accumulate_in_order, _name
    )
    UFUNC_METHODS[_name, "outer"] = functools.partial(_outer, _name)
    UFUNC_METHODS[_name, "reduceat"] = functools.partial(_reduceat, _name)
for _name in BINARY | UNARY:
    UFUNC_METHODS[_name, "at"] = functools.partial(_at, _name)
