"""Slicing: reading, replacing and adding to a rectangular region, and embedding one in zeros.

A region says for every axis of the whole array which positions it takes: None for all of them, an
int for one (the axis is dropped), or `(start, stop, step)` as of a `range`, so that a negative step
may stop at -1. `slice` and `pad` are each other's transposes.
"""

from collections.abc import Callable
from typing import Any

import numpy as xp

from stagrad.errors import ShapeError
from stagrad.ir import (
    Along,
    Aval,
    Index,
    Kind,
    Params,
    Placement,
    Primitive,
    aval_of,
    bind,
    register,
)
from stagrad.ops.movement import all_batched, zeros

Span = tuple[int, int, int]
Region = tuple[int | Span | None, ...]


def whole(shape: tuple[Any, ...]) -> Region:
    """Return the region that is all of an array."""
    return (None,) * len(shape)


def span(start: int, stop: int, step: int, extent: int) -> Span | None:
    """Return the canonical entry for `range(start, stop, step)`, None when it is the whole axis.

    >>> span(0, 5, 2, 5), span(0, 5, 1, 5), span(3, 3, 1, 5), span(1, 4, 7, 5)
    ((0, 5, 2), None, (0, 0, 1), (1, 2, 1))
    """
    places = range(start, stop, step)
    if not places:
        return None if extent == 0 else (0, 0, 1)
    if len(places) == 1:
        step = 1
    if len(places) == extent and step == 1:
        return None
    return (start, places[-1] + (1 if step > 0 else -1), step)


def region_shape(region: Region, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a region of an array of that shape."""
    return tuple(
        extent if entry is None else len(range(*entry))
        for entry, extent in zip(region, shape, strict=True)
        if not isinstance(entry, int)
    )


def _entry_text(entry: int | Span | None) -> str:
    if entry is None:
        return ":"
    if isinstance(entry, int):
        return str(entry)
    start, stop, step = entry
    first = "" if start == 0 and step > 0 else str(start)
    last = "" if stop < 0 else str(stop)
    return f"{first}:{last}" + (f":{step}" if step != 1 else "")


def subscript(region: Region) -> str:
    """Return the region as written between the brackets of an index.

    >>> subscript((None, 2, (4, -1, -2), None))
    ':, 2, 4::-2'
    """
    entries = list(region)
    while len(entries) > 1 and entries[-1] is None:
        entries.pop()
    return ", ".join(map(_entry_text, entries)) or "..."


def _entry_object(entry: int | Span | None) -> str:
    if entry is None:
        return "slice(None)"
    if isinstance(entry, int):
        return str(entry)
    start, stop, step = entry
    bounds = f"{start}, {stop if stop >= 0 else None}"
    return f"slice({bounds}, {step})" if step != 1 else f"slice({bounds})"


def index_object(region: Region) -> str:
    """Return the region as the text of an index tuple, for helpers that take one as argument."""
    entries = ", ".join(map(_entry_object, region))
    return f"({entries},)" if len(region) == 1 else f"({entries})"


def set_at(base, value, index):  # type: ignore[no-untyped-def]
    """Return a copy of `base` with `value` written at `index`; the last of equal places wins."""
    result = xp.array(base)
    result[index] = value
    return result


def add_region(base, value, index):  # type: ignore[no-untyped-def]
    """Return a copy of `base` with `value` added at `index`, which names no element twice."""
    result = xp.array(base)
    result[index] += value
    return result


def pad_region(value, shape, index):  # type: ignore[no-untyped-def]
    """Return zeros of `shape` with `value` written at `index`."""
    result = xp.zeros(shape, dtype=value.dtype)
    result[index] = value
    return result


def _sliced(avals: tuple[Aval, ...], params: Params) -> Aval:
    return Aval(region_shape(params["region"], avals[0].shape), avals[0].dtype)


def _written(avals: tuple[Aval, ...], params: Params) -> Aval:
    base, value = avals
    expected = region_shape(params["region"], base.shape)
    if value.shape != expected or value.dtype != base.dtype:
        raise ShapeError(
            f"a region {subscript(params['region'])} of {base} cannot be replaced by {value}"
        )
    return Aval(base.shape, base.dtype)


def _slice_access(aval: Aval, params: Params) -> Index:
    axes = iter(range(aval.ndim))
    return tuple(
        entry
        if isinstance(entry, int)
        else Along(next(axes))
        if entry is None
        else Along(next(axes), entry[0], entry[2])
        for entry in params["region"]
    )


def _written_place(adds: bool) -> Callable[[tuple[Aval, ...], Params], tuple[Placement, ...]]:
    return lambda avals, params: (Placement(1, _slice_access(avals[0], params), adds),)


def _writing_batcher(write: Callable[..., Any]) -> Callable[..., Any]:
    def batcher(size: int, batched: Any, operands: Any, *, region: Region) -> Any:
        return write(*all_batched(size, batched, operands), (None, *region))

    return batcher


slice_p = register(
    Primitive(
        name="slice",
        kind=Kind.MOVEMENT,
        abstract_eval=_sliced,
        py=lambda params, arity: f"{{0}}[{subscript(params['region'])}]",
        vjps=(lambda ct, out, x, *, region: pad(ct, aval_of(x).shape, region),),
        view=lambda base, value, params: set_slice(base, value, params["region"]),
        access=_slice_access,
        batcher=lambda size, batched, operands, *, region: slice(operands[0], (None, *region)),
        linear=True,
        doc="The elements of a rectangular region.",
    )
)


def slice(x: Any, region: Region) -> Any:
    """Return the elements of a region; an array's whole region is the array itself."""
    return x if region == whole(region) else bind(slice_p, x, region=region)


set_slice_p = register(
    Primitive(
        name="set_slice",
        kind=Kind.MOVEMENT,
        abstract_eval=_written,
        py=lambda params, arity: f"set_at({{0}}, {{1}}, {index_object(params['region'])})",
        helpers=(set_at,),
        update=lambda params, arity: f"{{0}}[{subscript(params['region'])}] = {{1}}",
        places=_written_place(adds=False),
        batcher=_writing_batcher(lambda *operands: set_slice(*operands)),
        vjps=(
            lambda ct, out, base, value, *, region: clear_slice(ct, region),
            lambda ct, out, base, value, *, region: slice(ct, region),
        ),
        linear=True,
        doc="An array with the elements of a region replaced.",
    )
)


def set_slice(base: Any, value: Any, region: Region) -> Any:
    """Return `base` with a region replaced by `value`, which has its shape and the base's dtype."""
    return value if region == whole(region) else bind(set_slice_p, base, value, region=region)


def clear_slice(base: Any, region: Region) -> Any:
    """Return `base` with zeros in a region."""
    aval = aval_of(base)
    return set_slice(base, zeros(region_shape(region, aval.shape), aval.dtype, like=base), region)


add_slice_p = register(
    Primitive(
        name="add_slice",
        kind=Kind.MOVEMENT,
        abstract_eval=_written,
        py=lambda params, arity: f"add_region({{0}}, {{1}}, {index_object(params['region'])})",
        helpers=(add_region,),
        update=lambda params, arity: f"{{0}}[{subscript(params['region'])}] += {{1}}",
        places=_written_place(adds=True),
        batcher=_writing_batcher(lambda *operands: add_slice(*operands)),
        vjps=(
            lambda ct, out, base, value, *, region: ct,
            lambda ct, out, base, value, *, region: slice(ct, region),
        ),
        linear=True,
        doc="An array with a value added to the elements of a region.",
    )
)


def add_slice(base: Any, value: Any, region: Region) -> Any:
    """Return `base` with `value`, of a region's shape and the base's dtype, added there."""
    if region == whole(region):
        return base + value
    return bind(add_slice_p, base, value, region=region)


def _padded(avals: tuple[Aval, ...], params: Params) -> Aval:
    value, shape, region = avals[0], params["shape"], params["region"]
    if value.shape != region_shape(region, shape):
        raise ShapeError(f"{value} does not fit region {subscript(region)} of shape {shape}")
    return Aval(shape, value.dtype)


def _pad_text(params: Params, arity: int) -> str:
    index = index_object(params["region"])
    return f"pad_region({{0}}, {params['shape']}, {index})"


pad_p = register(
    Primitive(
        name="pad",
        kind=Kind.MOVEMENT,
        abstract_eval=_padded,
        py=_pad_text,
        helpers=(pad_region,),
        places=lambda avals, params: (
            Placement(0, _slice_access(Aval(params["shape"], avals[0].dtype), params)),
        ),
        batcher=lambda size, batched, operands, *, shape, region: pad(
            operands[0], (size, *shape), (None, *region)
        ),
        vjps=(lambda ct, out, x, *, shape, region: slice(ct, region),),
        linear=True,
        doc="Zeros with a value in a rectangular region: the transpose of slice.",
    )
)


def pad(x: Any, shape: tuple[int, ...], region: Region) -> Any:
    """Return zeros of `shape` with `x` in a region."""
    return x if region == whole(shape) else bind(pad_p, x, shape=shape, region=region)


def axis_slice(x: Any, axis: int, start: int, stop: int, step: int = 1) -> Any:
    """Return positions `range(start, stop, step)` along one axis, all being within it."""
    shape = aval_of(x).shape
    entries: list[int | Span | None] = [None] * len(shape)
    entries[axis] = span(start, stop, step, shape[axis])
    return slice(x, tuple(entries))
