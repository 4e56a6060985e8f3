"""Creation: arrays whose shape is known and whose contents or dtype come from traced values."""

import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from stagrad.errors import UnsupportedError
from stagrad.ir import aval_of
from stagrad.ops.convert import as_array, as_value, is_spelled_out, is_traced, traced_among
from stagrad.ops.define import UFUNCS, implements
from stagrad.ops.joining import join
from stagrad.ops.movement import astype, broadcast_to, constant, lifted, reshape
from stagrad.ops.promote import common_loop, loop_types
from stagrad.ops.selection import select
from stagrad.ops.shaping import as_shape, expand_dims, moveaxis


def _filled(value: Any, shape: tuple[int, ...], dtype: Any, like: Any) -> Any:
    if is_traced(value):
        return broadcast_to(astype(as_value(value), dtype), shape)
    if is_spelled_out(value):
        return broadcast_to(constant(np.asarray(value, dtype), like=like), shape)
    return broadcast_to(astype(lifted(as_array(value), like=like), dtype), shape)


def _prototype(a: Any, dtype: Any, shape: Any) -> tuple[tuple[int, ...], np.dtype]:
    aval = aval_of(as_value(a))
    return (
        aval.shape if shape is None else as_shape(shape),
        aval.dtype if dtype is None else np.dtype(dtype),
    )


@implements(np.full_like)
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """Return an array like `a` in shape and dtype, filled with a value."""
    wanted, kind = _prototype(a, dtype, shape)
    return _filled(fill_value, wanted, kind, as_value(a))


@implements(np.zeros_like, np.empty_like)
def zeros_like(
    a: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """Return zeros like `a` in shape and dtype; `empty_like` is as good as that."""
    return full_like(a, 0, dtype, shape=shape)


@implements(np.ones_like)
def ones_like(
    a: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """Return ones like `a` in shape and dtype."""
    return full_like(a, 1, dtype, shape=shape)


@implements(np.full)
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, like: Any = None, **_: Any
) -> Any:
    """Return an array of a known shape filled with a value."""
    value = as_array(fill_value)
    kind = aval_of(value).dtype if dtype is None else np.dtype(dtype)
    return _filled(value, as_shape(shape), kind, like)


def _like(name: str) -> None:
    """Enter a creation function that reaches us only through its `like=` argument."""
    function = getattr(np, name)

    def create(*arguments: Any, like: Any = None, **keywords: Any) -> Any:
        return constant(function(*arguments, **keywords), like=like)

    create.__doc__ = f"Return what `numpy.{name}` does, as a value of the kind `like` is."
    implements(function)(create)


for _name in ("zeros", "ones", "empty", "eye", "identity", "tri", "fromfunction"):
    _like(_name)


@implements(np.arange)
def arange(*arguments: Any, dtype: Any = None, like: Any = None, **_: Any) -> Any:
    """Return evenly spaced numbers; a traced bound must be an integer argument of the function."""
    bounds = [_static_bound(value) for value in arguments]
    return constant(np.arange(*bounds, dtype=dtype), like=like)


def _static_bound(value: Any) -> Any:
    if not is_traced(value):
        return value
    aval = aval_of(value)
    if aval.weak and aval.dtype.kind == "i":
        return operator.index(value)
    raise UnsupportedError(
        f"arange: how many numbers it returns depends on a traced bound ({aval}). With a fixed "
        "count, write start + step * np.arange(count) or np.linspace(start, stop, count); "
        "otherwise make the bound a static argument (static_argnames=...)"
    )


@implements(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Return `num` numbers from `start` to `stop`, evenly spaced along a new axis."""
    num = _count(num)
    bounds = [aval_of(as_value(start)), aval_of(as_value(stop))]
    _, kind = common_loop((*loop_types(bounds), float))
    like = traced_among(start, stop)
    first, last = (astype(as_array(bound, like=like), kind) for bound in (start, stop))
    intervals = num - 1 if endpoint else num
    step = (last - first) / intervals if intervals > 0 else (last - first) * math.nan
    shape = np.broadcast_shapes(aval_of(first).shape, aval_of(last).shape)
    places = _places(num, len(shape), like)
    values = astype(places, kind) * (step if intervals > 0 else last - first) + first
    if endpoint and num > 1:
        values = select(places == num - 1, last, values)
    result = _placed(values, num, shape, axis, dtype, kind)
    return (result, step) if retstep else result


def _places(num: int, ndim: int, like: Any) -> Any:
    """Return 0, 1, 2, … along a first axis that has `ndim` axes of extent one behind it."""
    return constant(np.arange(num).reshape((num,) + (1,) * ndim), like=like)


def _count(num: Any) -> int:
    count = operator.index(num)
    if count < 0:
        raise ValueError(f"Number of samples, {count}, must be non-negative.")
    return count


def _placed(
    values: Any, num: int, shape: tuple[int, ...], axis: int, dtype: Any, kind: np.dtype
) -> Any:
    """Return samples along the first axis as NumPy does: in their dtype, along `axis`."""
    values = broadcast_to(values, (num, *shape))
    wanted = kind if dtype is None else np.dtype(dtype)
    if wanted.kind in "iu":
        values = UFUNCS["floor"](values)
    return moveaxis(astype(values, wanted), 0, normalize_axis_index(axis, len(shape) + 1))


@implements(np.logspace)
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Return `base` to the powers of a linspace."""
    powers = linspace(start, stop, num, endpoint, axis=axis)
    if np.ndim(base):
        shapes = [aval_of(as_value(bound)).shape for bound in (start, stop, base)]
        ndim = len(np.broadcast_shapes(*shapes))
        missing = ndim - aval_of(as_value(base)).ndim
        base = expand_dims(base, tuple(range(missing)))
        bounds = (_at_least(bound, ndim) for bound in (start, stop))
        powers = linspace(*bounds, num, endpoint, axis=axis)
        base = expand_dims(base, axis)
    result = UFUNCS["power"](base, powers)
    return result if dtype is None else astype(result, dtype)


def _at_least(x: Any, ndim: int) -> Any:
    x = as_array(x)
    shape = aval_of(x).shape
    return reshape(x, (1,) * (ndim - len(shape)) + shape)


@implements(np.geomspace)
def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    """Return `num` numbers from `start` to `stop`, each a constant multiple of the one before."""
    num = _count(num)
    like = traced_among(start, stop)
    first, last = as_array(start, like=like), as_array(stop, like=like)
    least = np.float64 if dtype is None else np.dtype(dtype)
    kind = np.result_type(aval_of(first).dtype, aval_of(last).dtype, least, 1.0)
    first, last = astype(first, kind), astype(last, kind)
    shape = np.broadcast_shapes(aval_of(first).shape, aval_of(last).shape)
    places = _places(num, len(shape), like)
    intervals = max(1, num - 1 if endpoint else num)
    parts = astype(places, kind) / intervals
    values = first * UFUNCS["exp"](parts * UFUNCS["log"](last / first))
    values = select(places == 0, first, values)
    if endpoint and num > 1:
        values = select(places == num - 1, last, values)
    return _placed(values, num, shape, axis, dtype, kind)


@implements(np.vander)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Return the powers of a vector's elements as columns."""
    x = as_array(x)
    aval = aval_of(x)
    if aval.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = aval.size if N is None else operator.index(N)
    kind = np.promote_types(aval.dtype, int)
    x = astype(x, kind)
    columns = [_filled(1, aval.shape, kind, x)]
    while len(columns) < count:
        columns.append(columns[-1] * x)
    if count == 0:
        return _filled(0, (aval.size, 0), kind, x)
    return join(columns if increasing else columns[::-1], 1, new_axis=True)


@implements(np.fromiter)
def fromiter(iterable: Any, dtype: Any, count: int = -1, *, like: Any = None) -> Any:
    """Return the values of an iterable, traced ones among them, as a vector."""
    values = list(iterable)
    values = values if count < 0 else values[:count]
    return astype(as_array(values, like=like), dtype)
