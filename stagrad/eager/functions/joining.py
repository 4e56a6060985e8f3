"""Joining tensors, and grids of them."""

from typing import Any

import numpy as np

from stagrad.eager.functions.registry import alias, function, integers, numbers
from stagrad.ir import aval_of
from stagrad.ops.define import FUNCTIONS


def _listed(tensors: Any, name: str) -> list[Any]:
    if hasattr(tensors, "ndim"):
        return list(tensors)
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return list(tensors)


@function("CatBackward0", method=False)
def cat(tensors: Any, dim: int | None = 0) -> Any:
    """Return tensors joined along an axis they have; all their elements in a row for None."""
    if not len(tensors):
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    listed = _listed(tensors, "torch.cat()")
    if dim is None:
        return np.concatenate(listed, axis=None)
    # PyTorch skips empty vectors whatever the others' shapes are.
    filled = [t for t in listed if aval_of(t).shape != (0,)] or listed[:1]
    shapes = [list(aval_of(t).shape) for t in filled]
    for place, shape in enumerate(shapes):
        ndim = len(shapes[0])
        if len(shape) != ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {ndim} and {len(shape)}"
            )
        differing = [a for a in range(ndim) if a != dim % ndim and shape[a] != shapes[0][a]]
        if differing:
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {dim % ndim}. Expected size "
                f"{shapes[0][differing[0]]} but got size {shape[differing[0]]} for tensor number "
                f"{place} in the list."
            )
    return np.concatenate(filled, axis=dim)


alias("concat", cat)
alias("concatenate", cat)


@function("StackBackward0", method=False)
def stack(tensors: Any, dim: int = 0) -> Any:
    """Return tensors of one shape joined along a new axis."""
    listed = _listed(tensors, "stack")
    for place, tensor in enumerate(listed):
        if aval_of(tensor).shape != aval_of(listed[0]).shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got "
                f"{list(aval_of(listed[0]).shape)} at entry 0 and {list(aval_of(tensor).shape)} at "
                f"entry {place}"
            )
    return np.stack(listed, axis=dim)


@function("CatBackward0", method=False)
def hstack(tensors: Any) -> Any:
    """Return tensors joined side by side."""
    return np.hstack(list(tensors))


@function("CatBackward0", method=False)
def vstack(tensors: Any) -> Any:
    """Return tensors joined one below the other."""
    return np.vstack(list(tensors))


alias("row_stack", vstack)


@function("CatBackward0", method=False)
def dstack(tensors: Any) -> Any:
    """Return tensors joined along their third axis."""
    return np.dstack(list(tensors))


@function("CatBackward0", method=False)
def column_stack(tensors: Any) -> Any:
    """Return tensors as the columns of a matrix."""
    return np.column_stack(list(tensors))


@function("BlockDiagBackward0", method=False)
def block_diag(*tensors: Any) -> Any:
    """Return a matrix with matrices along its diagonal."""
    blocks = [np.reshape(t, (1, -1)) if aval_of(t).ndim < 2 else t for t in tensors]
    widths = [aval_of(block).shape[1] for block in blocks]
    rows = []
    for place, block in enumerate(blocks):
        before, after = sum(widths[:place]), sum(widths[place + 1 :])
        rows.append(np.pad(block, ((0, 0), (before, after))))
    return np.concatenate(rows, axis=0)


@function("ExpandBackward0", method=False)
def meshgrid(*tensors: Any, indexing: str = "ij") -> Any:
    """Return grids of coordinates, one for each vector."""
    listed = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    for tensor in listed:
        if aval_of(tensor).ndim > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                f"{list(aval_of(tensor).shape)}"
            )
    return tuple(FUNCTIONS[np.meshgrid](*listed, indexing=indexing))


@function("StackBackward0", method=False)
def cartesian_prod(*tensors: Any) -> Any:
    """Return all tuples of elements of vectors, a row each."""
    grids = np.meshgrid(*tensors, indexing="ij")
    flat = [np.reshape(grid, -1) for grid in grids]
    return flat[0] if len(flat) == 1 else np.stack(flat, axis=-1)


@function("StackBackward0", method=False)
def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """Return all choices of r elements, a row each."""
    import itertools

    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(aval_of(input).shape[0]), r))
    return np.take(input, np.asarray(rows, np.int64).reshape(-1, r), axis=0)


def _triangle(row: int, col: int, offset: int, find: Any) -> Any:
    return np.stack(find(row, offset, col)).astype(np.int64)


@function("TrilIndicesBackward0", method=False)
def tril_indices(row: int, col: int, offset: int = 0) -> Any:
    """Return the indices of a matrix's lower triangle: rows above columns."""
    return _triangle(row, col, offset, np.tril_indices)


@function("TriuIndicesBackward0", method=False)
def triu_indices(row: int, col: int, offset: int = 0) -> Any:
    """Return the indices of a matrix's upper triangle: rows above columns."""
    return _triangle(row, col, offset, np.triu_indices)


@function("VanderBackward0", method=False)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Return a matrix of powers of a vector."""
    return np.vander(x, N, increasing)


@function("ConstantPadNdBackward0", method=False)
def constant_pad_nd(input: Any, pad: Any, value: Any = 0) -> Any:
    """Return the tensor with numbers around it, or less of it: pairs from the last axis on."""
    widths, ndim = integers((pad,)), aval_of(input).ndim
    around = [(0, 0)] * ndim
    cut: list[Any] = [slice(None)] * ndim
    for place in range(len(widths) // 2):
        before, after = widths[2 * place : 2 * place + 2]
        axis = ndim - 1 - place
        around[axis] = (max(before, 0), max(after, 0))
        end = aval_of(input).shape[axis] + min(after, 0)
        cut[axis] = slice(max(-before, 0), end)
    return np.pad(input[tuple(cut)], around, constant_values=numbers(value))
