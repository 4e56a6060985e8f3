"""Views and rearrangements of a tensor's elements."""

from typing import Any

import numpy as np

from stagrad.eager import tape
from stagrad.eager.define import operation
from stagrad.eager.dtypes import dtype, read_dtype
from stagrad.eager.functions.registry import alias, enter, function, integers, numbers
from stagrad.ir import aval_of, bind
from stagrad.ops.movement import reshape_p


def _shape_of(input: Any) -> tuple[int, ...]:
    return tuple(aval_of(input).shape)


def _alias_of(input: Any) -> Any:
    """Return a view of the whole, so that no view function returns its argument itself."""
    return bind(reshape_p, input, shape=_shape_of(input))


def as_view(result: Any, input: Any) -> Any:
    """Return a result that is a tensor of its own also where it shows the same elements."""
    return _alias_of(input) if result is input else result


def axis_in(dim: int, ndim: int) -> int:
    """Return an axis counted from zero; IndexError in PyTorch's words where there is none."""
    extent = max(ndim, 1)
    if not -extent <= dim < extent:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-extent}, {extent - 1}], but "
            f"got {dim})"
        )
    return int(dim) % extent


def _filled(input: Any, wanted: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape with -1 filled in; RuntimeError where it does not fit."""
    shape = _shape_of(input)
    size = int(np.prod(shape, dtype=np.int64))
    known = int(np.prod([extent for extent in wanted if extent != -1], dtype=np.int64))
    misses = wanted.count(-1)
    fits = known == size if not misses else misses == 1 and known > 0 and size % known == 0
    if not fits:
        raise RuntimeError(f"shape '{list(wanted)}' is invalid for input of size {size}")
    return tuple(size // known if extent == -1 else extent for extent in wanted)


def _shares(input: Any, wanted: tuple[int, ...]) -> bool:
    """Say whether elements can be seen in another shape without moving them."""
    if isinstance(input, tape.recorded_type):
        # Recipes of views are for elements that lie one after the other.
        return True
    array = numbers(input)
    return bool(not array.size or np.shares_memory(array.reshape(wanted), array))


@function("ViewBackward0", view=True, module=False)
def view(input: Any, *shape: Any) -> Any:
    """Return the same memory under another shape.

    Raises RuntimeError where the elements do not lie so in memory that they could be seen that way.
    """
    if len(shape) == 1 and isinstance(shape[0], dtype | np.dtype | type):
        return _viewed_as(input, read_dtype(shape[0]))
    wanted = _filled(input, integers(shape))
    if not _shares(input, wanted):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return as_view(np.reshape(input, wanted), input)


def _viewed_as(input: Any, dtype: np.dtype) -> Any:
    from stagrad.eager.tape import make_tensor

    if dtype == aval_of(input).dtype:
        return _alias_of(input)
    if getattr(input, "requires_grad", False):
        raise RuntimeError(
            "view(dtype): the bytes of a tensor that requires grad cannot be read as another "
            "dtype; use .to(dtype), or detach() it"
        )
    return make_tensor(numbers(input).view(dtype), None)


def _reshape_name(input: Any, *shape: Any, **kwargs: Any) -> str:
    wanted = _filled(input, integers(shape or (kwargs["shape"],)))
    return "ViewBackward0" if _shares(input, wanted) else "UnsafeViewBackward0"


@function(_reshape_name, view=True)
def reshape(input: Any, *shape: Any, **kwargs: Any) -> Any:
    """Return the elements under another shape: a view where that is possible, else a copy."""
    wanted = integers(shape or (kwargs["shape"],))
    return as_view(np.reshape(input, _filled(input, wanted)), input)


def view_as(input: Any, other: Any) -> Any:
    """Return a view of the shape of another tensor."""
    return view(input, *other.shape)


def reshape_as(input: Any, other: Any) -> Any:
    """Return the elements under the shape of another tensor."""
    return reshape(input, *other.shape)


enter(view_as, module=False)
enter(reshape_as, module=False)


@function("ViewBackward0", view=True)
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Return the tensor with the axes from start_dim to end_dim as one."""
    shape = _shape_of(input)
    first, last = axis_in(start_dim, len(shape)), axis_in(end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    merged = int(np.prod(shape[first : last + 1], dtype=np.int64))
    result = np.reshape(input, (*shape[:first], merged, *shape[last + 1 :]))
    return input if len(shape) and first == last else as_view(result, input)


@function("ViewBackward0", view=True)
def ravel(input: Any) -> Any:
    """Return all elements in a row."""
    return as_view(np.reshape(input, -1), input)


@function("ViewBackward0", view=True)
def unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """Return the tensor with one axis split into several; one size may be -1."""
    shape = _shape_of(input)
    axis = axis_in(dim, len(shape))
    sizes = tuple(sizes)
    known = int(np.prod([size for size in sizes if size != -1], dtype=np.int64))
    filled = tuple(shape[axis] // known if size == -1 else size for size in sizes)
    return as_view(np.reshape(input, (*shape[:axis], *filled, *shape[axis + 1 :])), input)


@function("TransposeBackward0", view=True)
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Return the tensor with two axes exchanged."""
    ndim = aval_of(input).ndim
    if ndim == 0:
        return _alias_of(input)
    return as_view(np.swapaxes(input, axis_in(dim0, ndim), axis_in(dim1, ndim)), input)


alias("swapaxes", transpose)
alias("swapdims", transpose)


@function("TBackward0", view=True)
def t(input: Any) -> Any:
    """Return the transpose of a matrix; of fewer axes, the tensor."""
    if aval_of(input).ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {aval_of(input).ndim}D"
        )
    return as_view(np.transpose(input), input)


@function("PermuteBackward0", view=True)
def permute(input: Any, *dims: Any, **kwargs: Any) -> Any:
    """Return the tensor with its axes in another order."""
    order = integers(dims or (kwargs.get("dims", kwargs.get("dim")),))
    if len(order) != aval_of(input).ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = "
            f"{aval_of(input).ndim} is not equal to len(dims) = {len(order)}"
        )
    return as_view(np.transpose(input, order), input)


@function("PermuteBackward0", view=True)
def movedim(input: Any, source: Any, destination: Any) -> Any:
    """Return the tensor with axes moved to other places."""
    return as_view(np.moveaxis(input, source, destination), input)


alias("moveaxis", movedim)


def _squeeze_name(input: Any, dim: Any = None) -> str:
    if dim is None:
        return "SqueezeBackward0"
    return "SqueezeBackward2" if isinstance(dim, list | tuple) else "SqueezeBackward1"


@function(_squeeze_name, view=True)
def squeeze(input: Any, dim: Any = None) -> Any:
    """Return the tensor without axes of extent one: all, or those of `dim` that are such."""
    shape = _shape_of(input)
    if dim is None:
        chosen = set(range(len(shape)))
    else:
        listed = dim if isinstance(dim, list | tuple) else [dim]
        chosen = {axis_in(axis, len(shape)) for axis in listed}
    kept = tuple(e for axis, e in enumerate(shape) if e != 1 or axis not in chosen)
    return as_view(np.reshape(input, kept), input)


@function("UnsqueezeBackward0", view=True)
def unsqueeze(input: Any, dim: int) -> Any:
    """Return the tensor with an axis of extent one inserted."""
    return np.expand_dims(input, axis_in(dim, aval_of(input).ndim + 1))


@function("ExpandBackward0", view=True, module=False)
def expand(input: Any, *sizes: Any) -> Any:
    """Return a view in which axes of extent one are repeated; -1 leaves an extent."""
    wanted, shape = integers(sizes), _shape_of(input)
    ahead = len(wanted) - len(shape)
    if ahead < 0:
        raise RuntimeError(
            f"expand({list(shape)}, size={list(wanted)}): the number of sizes provided "
            f"({len(wanted)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(shape)})"
        )
    filled = tuple(
        shape[place - ahead] if extent == -1 and place >= ahead else extent
        for place, extent in enumerate(wanted)
    )
    for place, extent in enumerate(filled):
        if place >= ahead and shape[place - ahead] not in (1, extent):
            raise RuntimeError(
                f"The expanded size of the tensor ({extent}) must match the existing size "
                f"({shape[place - ahead]}) at non-singleton dimension {place}.  Target sizes: "
                f"{list(wanted)}.  Tensor sizes: {list(shape)}"
            )
    return as_view(np.broadcast_to(input, filled), input)


def expand_as(input: Any, other: Any) -> Any:
    """Return a view expanded to the shape of another tensor."""
    return expand(input, *other.shape)


enter(expand_as, module=False)


def broadcast_to(input: Any, size: Any) -> Any:
    """Return a view in which axes of extent one are repeated."""
    return expand(input, *size)


enter(broadcast_to)


def broadcast_tensors(*tensors: Any) -> tuple[Any, ...]:
    """Return tensors as views of their common shape."""
    shape = np.broadcast_shapes(*(tensor.shape for tensor in tensors))
    return tuple(tensor if tensor.shape == shape else expand(tensor, *shape) for tensor in tensors)


enter(broadcast_tensors, method=False)


@function("RepeatBackward0", module=False)
def repeat(input: Any, *repeats: Any) -> Any:
    """Return copies of the tensor side by side, so many along each axis."""
    counts = integers(repeats)
    if len(counts) < aval_of(input).ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    return np.tile(input, counts)


@function("RepeatBackward0")
def tile(input: Any, *dims: Any) -> Any:
    """Return copies of the tensor side by side, as `numpy.tile`."""
    return np.tile(input, integers(dims))


def _interleave_name(input: Any, repeats: Any, dim: Any = None, **kwargs: Any) -> str:
    return "IndexSelectBackward0" if hasattr(repeats, "ndim") else "ViewBackward0"


@function(_interleave_name)
def repeat_interleave(input: Any, repeats: Any, dim: Any = None, *, output_size: Any = None) -> Any:
    """Return the tensor with each element repeated, all or along an axis."""
    return np.repeat(input, numbers(repeats), axis=dim)


@function("FlipBackward0")
def flip(input: Any, *dims: Any, **kwargs: Any) -> Any:
    """Return a copy with the order of elements reversed along axes, by default all."""
    axes = dims or (kwargs.get("dims"),)
    return np.copy(np.flip(input, None if axes == (None,) else integers(axes)))


@function("FlipBackward0")
def fliplr(input: Any) -> Any:
    """Return a copy with the columns in reverse order."""
    return np.copy(np.fliplr(input))


@function("FlipBackward0")
def flipud(input: Any) -> Any:
    """Return a copy with the rows in reverse order."""
    return np.copy(np.flipud(input))


@function("RollBackward0")
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Return the elements moved along axes, those that leave at one end entering at the other."""
    axes = tuple(dims) if isinstance(dims, list | tuple) else dims
    moves = tuple(shifts) if isinstance(shifts, list | tuple) else shifts
    if axes in (None, ()):
        return np.roll(input, moves[0] if isinstance(moves, tuple) else moves)
    return np.roll(input, moves, axes)


@function("Rot90Backward0")
def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """Return the tensor turned by k right angles in the plane of two axes."""
    return np.copy(np.rot90(input, k, tuple(dims)))


@function("CloneBackward0")
def contiguous(input: Any, memory_format: Any = None) -> Any:
    """Return the tensor itself if its elements lie in order, else a copy."""
    return np.copy(input)


@function("TrilBackward0", in_place=True)
def tril(input: Any, diagonal: int = 0) -> Any:
    """Return the matrix with zeros above a diagonal."""
    return np.tril(input, diagonal)


@function("TriuBackward0", in_place=True)
def triu(input: Any, diagonal: int = 0) -> Any:
    """Return the matrix with zeros below a diagonal."""
    return np.triu(input, diagonal)


@function("UnfoldBackward0", module=False)
def unfold(input: Any, dimension: int, size: int, step: int) -> Any:
    """Return windows of an axis, `step` apart, their elements along a new last axis."""
    shape = _shape_of(input)
    if not shape:
        return np.reshape(input, (1,))[:size]
    axis = axis_in(dimension, len(shape))
    if size > shape[axis]:
        raise RuntimeError(
            f"maximum size for tensor at dimension {axis} is {shape[axis]} but size is {size}"
        )
    starts = np.arange(0, shape[axis] - size + 1, step)
    places = starts[:, None] + np.arange(size)
    taken = np.take(input, places, axis=axis)
    return np.moveaxis(taken, axis + 1, -1)


def atleast_1d(*tensors: Any) -> Any:
    """Return tensors of at least one axis."""
    return _at_least(tensors, 1)


def atleast_2d(*tensors: Any) -> Any:
    """Return tensors of at least two axes."""
    return _at_least(tensors, 2)


def atleast_3d(*tensors: Any) -> Any:
    """Return tensors of at least three axes."""
    return _at_least(tensors, 3)


def _at_least(tensors: Any, ndim: int) -> Any:
    many = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    grow = operation("UnsqueezeBackward0", view=True)(getattr(np, f"atleast_{ndim}d"))
    found = tuple(grow(tensor) if tensor.ndim < ndim else tensor for tensor in many)
    return found[0] if len(tensors) == 1 and many is tensors else found


for _grow in (atleast_1d, atleast_2d, atleast_3d):
    enter(_grow, method=False)
