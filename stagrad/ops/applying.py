"""Applying a Python function along axes or to each element: the function is traced every time."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from stagrad.errors import UnsupportedError
from stagrad.ir import aval_of
from stagrad.ops.convert import as_array
from stagrad.ops.define import implements, implements_scipy
from stagrad.ops.joining import join
from stagrad.ops.movement import astype, broadcast_to, reshape, transpose
from stagrad.ops.shaping import expand_dims, moveaxis


@implements(np.apply_along_axis)
def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Any:
    """Apply a function to every one-dimensional slice along an axis."""
    x = as_array(arr)
    axis = normalize_axis_index(axis, aval_of(x).ndim)
    x = moveaxis(x, axis, -1)
    lead = aval_of(x).shape[:-1]
    if 0 in lead:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = [as_array(func1d(x[place], *args, **kwargs)) for place in _places(lead)]
    shape = aval_of(results[0]).shape
    whole = reshape(join(results, 0, new_axis=True), (*lead, *shape))
    order = list(range(len(lead)))
    order[axis:axis] = range(len(lead), len(lead) + len(shape))
    return transpose(whole, tuple(order))


def _places(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*map(range, shape))


@implements(np.apply_over_axes)
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    """Apply a function of an array and an axis for one axis after the other."""
    value = as_array(a)
    ndim = aval_of(value).ndim
    for axis in axes if isinstance(axes, Iterable) else [axes]:
        place = axis + ndim if axis < 0 else axis
        result = func(value, place)
        if aval_of(result).ndim != aval_of(value).ndim:
            result = expand_dims(result, place)
        if aval_of(result).ndim != aval_of(value).ndim:
            raise ValueError("function is not returning an array of the correct shape")
        value = result
    return value


@implements_scipy("numpy.vectorize._vectorize_call")
def vectorize_call(self: np.vectorize, func: Callable[..., Any], args: Any) -> Any:
    """Apply the function of a `numpy.vectorize` to every element of its arguments."""
    if self.signature is not None:
        raise UnsupportedError(
            "vectorize: a signature is not supported on traced values. Write the loop over the "
            "leading axes, and np.stack its results"
        )
    values = [as_array(value) for value in args]
    shape = np.broadcast_shapes(*(aval_of(value).shape for value in values))
    spread = [broadcast_to(value, shape) for value in values]
    results = [func(*(value[place] for value in spread)) for place in _places(shape)]
    if not results:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    if not isinstance(results[0], tuple):
        return _assembled(results, shape, self.otypes and self.otypes[0])
    kinds = self.otypes or [None] * len(results[0])
    return tuple(
        _assembled(column, shape, kind)
        for column, kind in zip(zip(*results, strict=True), kinds, strict=True)
    )


def _assembled(results: Iterable[Any], shape: tuple[int, ...], kind: str | None) -> Any:
    """Return the results as an array of the dtype asked for, or that of the first."""
    entries = [as_array(result) for result in results]
    dtype = np.dtype(kind) if kind else aval_of(entries[0]).dtype
    whole = join([astype(entry, dtype) for entry in entries], 0, new_axis=True)
    return reshape(whole, shape)


class _Elements:
    """The elements of an array in a row, with the position of the next one."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.places = iter([*_places(aval_of(x).shape), None])
        self.coords: Any = next(self.places)

    def __next__(self) -> Any:
        if self.coords is None:
            raise StopIteration
        place, self.coords = self.coords, next(self.places)
        return self.x[place]


@implements_scipy("numpy.ndenumerate.__init__")
def begin_ndenumerate(self: Any, arr: Any) -> None:
    """Let a `numpy.ndenumerate` yield the elements of a traced array."""
    self.iter = _Elements(as_array(arr))
