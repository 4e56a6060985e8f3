"""Gathering and scattering: reading and writing at positions given by integer arrays.

The index operands address the axes named by `axes`, in order, and broadcast together; all other
axes are taken whole. Where the result puts the broadcast shape of the indices is NumPy's rule for
`x[:, i, j]`: in place of the axes when these are neighbours, in front of everything otherwise.
Indices may be negative and must lie within the axis, as in NumPy.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy as xp

from stagrad.errors import ShapeError
from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, constant_p, register
from stagrad.ops.convert import as_value, is_spelled_out, is_traced
from stagrad.ops.movement import all_batched, constant, reshape, transpose, zeros
from stagrad.ops.native_forms import native_gather, native_scatter, native_scatter_add
from stagrad.ops.selection import select
from stagrad.ops.slicing import set_at


def are_neighbours(axes: Sequence[int]) -> bool:
    """Say whether the axes, in increasing order, follow one another."""
    return axes[-1] - axes[0] == len(axes) - 1


def gathered_shape(
    shape: tuple[int, ...], axes: tuple[int, ...], index_shape: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the shape of what indices of that broadcast shape take from an array."""
    rest = [extent for axis, extent in enumerate(shape) if axis not in axes]
    place = axes[0] if are_neighbours(axes) else 0
    return (*rest[:place], *index_shape, *rest[place:])


def _index_shape(avals: Sequence[Aval]) -> tuple[int, ...]:
    return np.broadcast_shapes(*(aval.shape for aval in avals))


def _index_text(params: Params, first: int) -> str:
    """Return the index between brackets, `first` being the number of the first index operand."""
    axes = params["axes"]
    number = {axis: f"{{{first + place}}}" for place, axis in enumerate(axes)}
    return ", ".join(number.get(axis, ":") for axis in range(axes[-1] + 1))


def _index_tuple(params: Params, first: int) -> str:
    entries = _index_text(params, first).replace(":", "slice(None)")
    return f"({entries},)" if params["axes"] == (0,) else f"({entries})"


def add_at(base, index, value):  # type: ignore[no-untyped-def]
    """Add `value` to `base` at `index`, equal places adding up; flat positions are the fastest."""
    if base.ndim > 1 and base.flags.c_contiguous:
        index = xp.arange(base.size).reshape(base.shape)[index]
        base = base.reshape(-1)
    xp.add.at(base, index, value)


def scatter_add_at(base, value, index):  # type: ignore[no-untyped-def]
    """Return a copy of `base` with `value` added at `index`, equal places adding up."""
    result = xp.array(base, order="C")
    add_at(result, index, value)  # type: ignore[no-untyped-call]
    return result


def _gather_text(params: Params, arity: int) -> str:
    """Return the text that reads a copy, where `x[i]` with an integer `i` would be a view."""
    if len(params["axes"]) == 1:
        return f"{{0}}.take({{1}}, axis={params['axes'][0]})"
    return f"{{0}}[{_index_text(params, 1)}]"


def _gathered(avals: tuple[Aval, ...], params: Params) -> Aval:
    operand, *indices = avals
    shape = gathered_shape(operand.shape, params["axes"], _index_shape(indices))
    return Aval(shape, operand.dtype)


def _scattered(avals: tuple[Aval, ...], params: Params) -> Aval:
    base, value, *indices = avals
    expected = gathered_shape(base.shape, params["axes"], _index_shape(indices))
    if value.shape != expected or value.dtype != base.dtype:
        raise ShapeError(f"places of shape {expected} in {base} cannot take {value}")
    return Aval(base.shape, base.dtype)


def _gather_rule(
    position: int, ct: Any, out: Any, x: Any, *indices: Any, axes: tuple[int, ...]
) -> Any:
    if position > 0:
        return None
    aval = aval_of(x)
    return scatter_add(zeros(aval.shape, aval.dtype, like=ct), ct, indices, axes)


def _gather_jvp(primals: Any, tangents: Any, out: Any, *, axes: tuple[int, ...]) -> Any:
    return gather(tangents[0], primals[1:], axes)


def _writing_jvp(write: Callable[..., Any]) -> Callable[..., Any]:
    """Return the forward rule of an operation that is linear in the base and the written value."""

    def jvp(primals: Any, tangents: Any, out: Any, *, axes: tuple[int, ...]) -> Any:
        dtype = aval_of(out).dtype
        base, value = (
            zeros(aval_of(primal).shape, dtype, like=out) if tangent is None else tangent
            for primal, tangent in zip(primals[:2], tangents[:2], strict=True)
        )
        return write(base, value, primals[2:], axes)

    return jvp


class _Batch:
    """Index arrays and axes for operands with a leading batch axis, and the result's layout."""

    def __init__(
        self,
        size: int,
        ndim: int,
        operand_batched: bool,
        batched: Sequence[bool],
        indices: Sequence[Any],
        axes: tuple[int, ...],
    ) -> None:
        shapes = [
            aval_of(index).shape[is_batched:]
            for index, is_batched in zip(indices, batched, strict=True)
        ]
        count = len(np.broadcast_shapes(*shapes))
        own: list[Any] = list(range(ndim))
        places: list[Any] = [-1 - place for place in range(count)]
        self.wanted = ["batch", *_arranged(own, axes, places)]
        self.indices, self.axes = list(indices), axes
        names = own
        if any(batched):
            aligned = [(size, *(1,) * (count - len(shape)), *shape) for shape in shapes]
            self.indices = [
                reshape(index, shape) if is_batched else index
                for index, is_batched, shape in zip(indices, batched, aligned, strict=True)
            ]
            places = ["batch", *places]
        if operand_batched:
            names = ["batch", *names]
            self.axes = tuple(axis + 1 for axis in axes)
            if any(batched):
                rows = np.arange(size).reshape((size,) + (1,) * count)
                self.indices.insert(0, constant(rows, like=indices[0]))
                self.axes = (0, *self.axes)
        self.given = _arranged(names, self.axes, places)

    def to_front(self, result: Any) -> Any:
        """Return what `gather` gave with the batch axis first and the others as without it."""
        return transpose(result, tuple(map(self.given.index, self.wanted)))

    def from_front(self, value: Any) -> Any:
        """Return a value with the batch axis first as `scatter` wants it."""
        return transpose(value, tuple(map(self.wanted.index, self.given)))


def _arranged(names: list[Any], axes: tuple[int, ...], places: list[Any]) -> list[Any]:
    """Return the names of a gather's result's axes, from those of the operand and the indices."""
    rest = [name for axis, name in enumerate(names) if axis not in axes]
    first = axes[0] if are_neighbours(axes) else 0
    return [*rest[:first], *places, *rest[first:]]


def _gather_batcher(size: int, batched: Any, operands: Any, *, axes: tuple[int, ...]) -> Any:
    x, *indices = operands
    ndim = aval_of(x).ndim - batched[0]
    batch = _Batch(size, ndim, batched[0], batched[1:], indices, axes)
    return batch.to_front(gather(x, batch.indices, batch.axes))


def _writing_batcher(write: Callable[..., Any]) -> Callable[..., Any]:
    def batcher(size: int, batched: Any, operands: Any, *, axes: tuple[int, ...]) -> Any:
        base, value = all_batched(size, batched[:2], operands[:2])
        batch = _Batch(size, aval_of(base).ndim - 1, True, batched[2:], operands[2:], axes)
        return write(base, batch.from_front(value), batch.indices, batch.axes)

    return batcher


gather_p = register(
    Primitive(
        name="gather",
        kind=Kind.INDEXING,
        abstract_eval=_gathered,
        py=_gather_text,
        native=native_gather,
        vjps=_gather_rule,
        jvp=_gather_jvp,
        batcher=_gather_batcher,
        linear=True,
        doc="The elements at positions given by integer arrays.",
    )
)


def gather(x: Any, indices: Sequence[Any], axes: tuple[int, ...]) -> Any:
    """Read at integer positions along `axes`, which increase."""
    aval = aval_of(x)
    if 1 < len(axes) < aval.ndim and all(aval_of(index).shape == () for index in indices):
        # An index of several integers alone would read a view.
        first, *rest = indices
        result = bind(gather_p, x, reshape(first, (1,)), *rest, axes=axes)
        return reshape(result, gathered_shape(aval.shape, axes, ()))
    return bind(gather_p, x, *indices, axes=axes)


def _scatter_rule(
    position: int, ct: Any, out: Any, base: Any, value: Any, *indices: Any, axes: tuple[int, ...]
) -> Any:
    if position == 0:
        aval = aval_of(value)
        return scatter(ct, zeros(aval.shape, aval.dtype, like=ct), indices, axes)
    if position > 1:
        return None
    taken = gather(ct, indices, axes)
    extents = tuple(aval_of(base).shape[axis] for axis in axes)
    kept = _last_writers(indices, extents, like=ct)
    if kept is None:
        return taken
    place = axes[0] if are_neighbours(axes) else 0
    after = aval_of(taken).ndim - place - aval_of(kept).ndim
    aligned = reshape(kept, aval_of(kept).shape + (1,) * after)
    return select(aligned, taken, 0)


def _last_writers(indices: Sequence[Any], extents: tuple[int, ...], *, like: Any) -> Any:
    """Return a mask over the indices of those no later one overwrites; None when it is all true."""
    shape = _index_shape([aval_of(index) for index in indices])
    if math.prod(shape) < 2:
        return None
    order = np.arange(math.prod(shape)).reshape(shape)
    known = [known_array(index) for index in indices]
    if all(array is not None for array in known):
        written = np.full(extents, -1)
        written[tuple(known)] = order
        mask = written[tuple(known)] == order
        return None if mask.all() else constant(mask, like=like)
    axes = tuple(range(len(extents)))
    order = constant(order, like=like)
    written = scatter(zeros(extents, np.dtype(np.int64), like=like), order, indices, axes)
    return gather(written, indices, axes) == order


def known_array(x: Any) -> np.ndarray | None:
    """Return the numbers of an array or a constant of a trace; None when only a run will tell."""
    recorded = getattr(x, "recorded", None)
    if recorded is None and isinstance(x, np.ndarray | np.generic | int):
        return np.asarray(x)
    node = getattr(x if recorded is None else recorded, "node", None)
    if node is not None and node.primitive is constant_p:
        return node.params["value"].array  # type: ignore[no-any-return]
    return None


def settled(x: Any, *, like: Any) -> np.ndarray | None:
    """Return the numbers of an array-like for a use that shapes the program; `like` is told of it.

    A trace then checks at each call that a live array still holds these numbers.
    """
    array = known_array(as_value(x))
    rely_on = getattr(like, "rely_on", None)
    if array is not None and rely_on is not None and not is_traced(x) and not is_spelled_out(x):
        rely_on(x if isinstance(x, np.ndarray) else array)
    return array


scatter_p = register(
    Primitive(
        name="scatter",
        kind=Kind.INDEXING,
        abstract_eval=_scattered,
        py=lambda params, arity: f"set_at({{0}}, {{1}}, {_index_tuple(params, 2)})",
        helpers=(set_at,),
        update=lambda params, arity: f"{{0}}[{_index_text(params, 2)}] = {{1}}",
        native=native_scatter,
        vjps=_scatter_rule,
        jvp=_writing_jvp(lambda *operands: scatter(*operands)),
        batcher=_writing_batcher(lambda *operands: scatter(*operands)),
        linear=True,
        doc="An array with elements at positions given by integer arrays replaced; the last wins.",
    )
)


def scatter(base: Any, value: Any, indices: Sequence[Any], axes: tuple[int, ...]) -> Any:
    """Write `value`, of the shape `gather` gives and the base's dtype, at integer positions."""
    return bind(scatter_p, base, value, *indices, axes=axes)


def _scatter_add_rule(
    position: int, ct: Any, out: Any, base: Any, value: Any, *indices: Any, axes: tuple[int, ...]
) -> Any:
    if position == 0:
        return ct
    return gather(ct, indices, axes) if position == 1 else None


scatter_add_p = register(
    Primitive(
        name="scatter_add",
        kind=Kind.INDEXING,
        abstract_eval=_scattered,
        py=lambda params, arity: f"scatter_add_at({{0}}, {{1}}, {_index_tuple(params, 2)})",
        helpers=(add_at, scatter_add_at),
        update=lambda params, arity: f"add_at({{0}}, {_index_tuple(params, 2)}, {{1}})",
        native=native_scatter_add,
        vjps=_scatter_add_rule,
        jvp=_writing_jvp(lambda *operands: scatter_add(*operands)),
        batcher=_writing_batcher(lambda *operands: scatter_add(*operands)),
        linear=True,
        doc="An array with values added at positions given by integer arrays; repeats add up.",
    )
)


def scatter_add(base: Any, value: Any, indices: Sequence[Any], axes: tuple[int, ...]) -> Any:
    """Add `value`, of the shape `gather` gives and the base's dtype, at integer positions."""
    return bind(scatter_add_p, base, value, *indices, axes=axes)
