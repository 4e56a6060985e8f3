"""Diagonals, and parts of a tensor along an axis."""

from itertools import pairwise
from typing import Any

import numpy as np

from stagrad.eager.functions.registry import alias, enter, function, numbers
from stagrad.eager.functions.shapes import as_view, axis_in
from stagrad.ir import aval_of


def _diag_name(input: Any, diagonal: int = 0) -> str:
    return "DiagEmbedBackward0" if aval_of(input).ndim == 1 else "DiagonalBackward0_copy"


@function(_diag_name)
def diag(input: Any, diagonal: int = 0) -> Any:
    """Return a matrix with a vector on a diagonal, or a copy of a matrix's diagonal."""
    return np.copy(np.diag(input, diagonal))


@function("DiagonalBackward0", view=True)
def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """Return a view of diagonals, along a new last axis."""
    ndim = max(aval_of(input).ndim, 1)
    if dim1 % ndim == dim2 % ndim:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return np.diagonal(input, offset, dim1, dim2)


@function("DiagEmbedBackward0")
def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Return matrices with the last axis on their diagonals."""
    shape = aval_of(input).shape
    size = shape[-1] + abs(offset)
    places = np.arange(shape[-1])
    mask = np.zeros((shape[-1], size, size), bool)
    mask[places, places + max(-offset, 0), places + max(offset, 0)] = True
    kept = np.where(mask, np.reshape(input, (*shape, 1, 1)), 0)
    matrices = np.sum(kept, axis=len(shape) - 1, dtype=aval_of(input).dtype)
    return np.moveaxis(matrices, (-2, -1), (dim1, dim2))


@function("DiagEmbedBackward0")
def diagflat(input: Any, offset: int = 0) -> Any:
    """Return a matrix with all elements on a diagonal."""
    return np.diagflat(input, offset)


@function("SliceBackward0", view=True)
def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """Return a view of `length` entries along an axis."""
    axis = axis_in(dim, aval_of(input).ndim)
    extent, begin = aval_of(input).shape[axis], int(start)
    begin = begin + extent if begin < 0 else begin
    if not 0 <= begin <= begin + length <= extent:
        raise RuntimeError(
            f"start ({start}) + length ({length}) exceeds dimension size ({extent})."
        )
    return as_view(input[(slice(None),) * axis + (slice(begin, begin + length),)], input)


@function("SelectBackward0", view=True)
def select(input: Any, dim: int, index: int) -> Any:
    """Return a view of one entry along an axis."""
    axis = axis_in(dim, aval_of(input).ndim)
    extent = aval_of(input).shape[axis]
    if not -extent <= index < extent:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size "
            f"{list(aval_of(input).shape)} at dimension {dim}"
        )
    return input[(slice(None),) * axis + (int(index),)]


def _pieces(input: Any, sizes: Any, axis: int) -> Any:
    pieces, begin = [], 0
    for size in sizes:
        pieces.append(input[(slice(None),) * axis + (slice(begin, begin + size),)])
        begin += size
    return tuple(as_view(piece, input) for piece in pieces)


def _split_name(input: Any, split_size_or_sections: Any, dim: int = 0) -> str:
    is_list = isinstance(split_size_or_sections, list | tuple)
    return "SplitWithSizesBackward0" if is_list else "SplitBackward0"


@function(_split_name, view=True)
def split(input: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Return views along an axis: of one size, the last maybe smaller, or of the sizes given."""
    axis = axis_in(dim, aval_of(input).ndim)
    extent, sizes = aval_of(input).shape[axis], split_size_or_sections
    if isinstance(sizes, list | tuple):
        if sum(sizes) != extent:
            raise RuntimeError(
                "split_with_sizes expects split_sizes to sum exactly to "
                f"{extent} (input tensor's size at dimension {dim}), but got split_sizes="
                f"{list(sizes)}"
            )
        return _pieces(input, sizes, axis)
    if sizes <= 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={sizes}")
    return _pieces(input, _equal(extent, sizes), axis)


def _equal(extent: int, size: int) -> list[int]:
    return [min(size, extent - begin) for begin in range(0, extent, size)] or [0]


alias("split_with_sizes", split)


@function("SplitBackward0", view=True)
def chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """Return at most `chunks` views along an axis, of one size but for the last."""
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    axis = axis_in(dim, aval_of(input).ndim)
    extent = aval_of(input).shape[axis]
    return _pieces(input, _equal(extent, max(-(-extent // chunks), 1)), axis)


@function("SplitBackward0", view=True)
def tensor_split(input: Any, indices_or_sections: Any, dim: int = 0) -> Any:
    """Return views along an axis: as many as asked for, or cut at the indices given."""
    axis = axis_in(dim, aval_of(input).ndim)
    extent, cuts = aval_of(input).shape[axis], numbers(indices_or_sections)
    if np.ndim(cuts) == 0:
        whole, rest = divmod(extent, int(cuts))
        return _pieces(input, [whole + (place < rest) for place in range(int(cuts))], axis)
    ends = [0, *(min(int(cut), extent) for cut in cuts), extent]
    return _pieces(input, [max(b - a, 0) for a, b in pairwise(ends)], axis)


@function("UnbindBackward0", view=True)
def unbind(input: Any, dim: int = 0) -> Any:
    """Return views of all entries along an axis, without that axis."""
    axis = axis_in(dim, aval_of(input).ndim)
    front = (slice(None),) * axis
    return tuple(input[(*front, place)] for place in range(aval_of(input).shape[axis]))


def hsplit(input: Any, indices_or_sections: Any) -> Any:
    """Return views side by side."""
    return tensor_split(input, indices_or_sections, 0 if input.ndim == 1 else 1)


def vsplit(input: Any, indices_or_sections: Any) -> Any:
    """Return views one below the other."""
    return tensor_split(input, indices_or_sections, 0)


enter(hsplit)
enter(vsplit)
