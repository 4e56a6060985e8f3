"""NumPy's products of vectors, matrices and tensors, as compositions of the matrix product."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from stagrad.errors import ShapeError
from stagrad.ir import aval_of
from stagrad.ops.complex import conjugate
from stagrad.ops.contraction import common_operands, contract, matmul
from stagrad.ops.convert import as_value
from stagrad.ops.define import FUNCTIONS, implements
from stagrad.ops.movement import reshape


@implements(np.tensordot, np.linalg.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Sum of products over pairs of axes, as `numpy.tensordot`."""
    a, b = common_operands("tensordot", np.matmul, a, b)
    shape_a, shape_b = aval_of(a).shape, aval_of(b).shape
    axes_a, axes_b = _paired_axes(axes, len(shape_a), len(shape_b))
    extents = [shape_a[axis] for axis in axes_a], [shape_b[axis] for axis in axes_b]
    if extents[0] != extents[1]:
        raise ShapeError(
            f"tensordot: shape-mismatch for sum: axes {axes_a} of shape {shape_a} against axes "
            f"{axes_b} of shape {shape_b}"
        )
    labels_a: list[int] = list(range(len(shape_a)))
    labels_b: list[int] = list(range(len(shape_a), len(shape_a) + len(shape_b)))
    for axis_a, axis_b in zip(axes_a, axes_b, strict=True):
        labels_b[axis_b] = axis_a
    kept = [label for label in (*labels_a, *labels_b) if (label in labels_a) != (label in labels_b)]
    return contract(a, labels_a, b, labels_b, kept)[0]


def _paired_axes(axes: Any, ndim_a: int, ndim_b: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the axes to sum over, of either operand, from NumPy's `axes` argument."""
    try:
        pair = iter(axes)
    except TypeError:
        number = operator.index(axes)
        pair = iter((range(ndim_a - number, ndim_a), range(number)))
        if not 0 <= number <= min(ndim_a, ndim_b):
            raise ShapeError(
                f"tensordot: cannot sum over {number} axes of operands with {ndim_a} and {ndim_b}"
            ) from None
    axes_a, axes_b = (
        (side,) if isinstance(side, int | np.integer) else tuple(side) for side in pair
    )
    if len(axes_a) != len(axes_b):
        raise ShapeError(f"tensordot: shape-mismatch for sum: {len(axes_a)} and {len(axes_b)} axes")
    normalize = np.lib.array_utils.normalize_axis_tuple
    return normalize(axes_a, ndim_a, "tensordot"), normalize(axes_b, ndim_b, "tensordot")


@implements(np.dot)
def dot(a: Any, b: Any, out: None = None) -> Any:
    """Sum of products over the last axis of `a` and the second-to-last of `b`, as `numpy.dot`."""
    a, b = as_value(a), as_value(b)
    shape_a, shape_b = aval_of(a).shape, aval_of(b).shape
    if not shape_a or not shape_b:
        return a * b
    axis = -2 if len(shape_b) > 1 else -1
    if shape_a[-1] != shape_b[axis]:
        raise ShapeError(
            f"dot: shapes {shape_a} and {shape_b} not aligned: {shape_a[-1]} elements in the last "
            f"axis of the first, {shape_b[axis]} in axis {axis} of the second"
        )
    return tensordot(a, b, ((-1,), (axis,)))


@implements(np.inner)
def inner(a: Any, b: Any) -> Any:
    """Sum of products over the last axes, as `numpy.inner`."""
    a, b = as_value(a), as_value(b)
    if aval_of(a).ndim and aval_of(b).ndim:
        return tensordot(a, b, ((-1,), (-1,)))
    return a * b


@implements(np.vdot)
def vdot(a: Any, b: Any) -> Any:
    """Dot product of two flattened arrays, the first one conjugated, as `numpy.vdot`."""
    a, b = _flat(a), _flat(b)
    return dot(_conjugated(a), b)


@implements(np.outer)
def outer(a: Any, b: Any, out: None = None) -> Any:
    """Products of all elements of `a` with all of `b`, both flattened, as `numpy.outer`."""
    return reshape(_flat(a), (-1, 1)) * reshape(_flat(b), (1, -1))


@implements(np.linalg.outer)
def linalg_outer(x1: Any, x2: Any, /) -> Any:
    """Outer product of two vectors, as `numpy.linalg.outer`, which takes nothing else."""
    x1, x2 = as_value(x1), as_value(x2)
    if aval_of(x1).ndim != 1 or aval_of(x2).ndim != 1:
        raise ShapeError(
            f"outer: input arrays must be one-dimensional, not {aval_of(x1)} and {aval_of(x2)}; "
            "np.outer flattens"
        )
    return outer(x1, x2)


def _flat(x: Any) -> Any:
    x = as_value(x)
    return reshape(x, (aval_of(x).size,))


def _conjugated(x: Any) -> Any:
    return conjugate(x) if aval_of(x).dtype.kind == "c" else x


@implements(np.vecdot, np.linalg.vecdot)
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Dot products along an axis, the first operand conjugated, as `numpy.vecdot`."""
    x1, x2 = common_operands("vecdot", np.vecdot, x1, x2)
    if axis != -1:
        x1, x2 = (FUNCTIONS[np.moveaxis](x, axis, -1) for x in (x1, x2))
    shape_1, shape_2 = aval_of(x1).shape, aval_of(x2).shape
    if not shape_1 or not shape_2 or shape_1[-1] != shape_2[-1]:
        raise ShapeError(f"vecdot: shapes {shape_1} and {shape_2} do not share their last extent")
    if len(shape_1) == len(shape_2) == 1:
        return matmul(_conjugated(x1), x2)
    return FUNCTIONS[np.sum](_conjugated(x1) * x2, axis=-1)


@implements(np.matvec)
def matvec(x1: Any, x2: Any, /) -> Any:
    """Products of matrices with vectors, both of which may be stacked, as `numpy.matvec`."""
    x2 = as_value(x2)
    return matmul(x1, reshape(x2, (*aval_of(x2).shape, 1)))[..., 0]


@implements(np.vecmat)
def vecmat(x1: Any, x2: Any, /) -> Any:
    """Products of conjugated vectors with matrices, either stacked, as `numpy.vecmat`."""
    x1 = as_value(x1)
    shape = aval_of(x1).shape
    return matmul(reshape(_conjugated(x1), (*shape[:-1], 1, *shape[-1:])), x2)[..., 0, :]


@implements(np.cross)
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """Cross product of vectors of two or three components, as `numpy.cross`."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a = FUNCTIONS[np.moveaxis](as_value(a), axisa, -1)
    b = FUNCTIONS[np.moveaxis](as_value(b), axisb, -1)
    sizes = aval_of(a).shape[-1], aval_of(b).shape[-1]
    if not {2, 3}.issuperset(sizes):
        raise ShapeError(f"cross: vectors have 2 or 3 components, not {sizes[0]} and {sizes[1]}")
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2] if sizes[0] == 3 else None
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2] if sizes[1] == 3 else None
    z = a0 * b1 - a1 * b0
    if a2 is None and b2 is None:
        return z
    x = _difference(a1, b2, a2, b1)
    y = _difference(a2, b0, a0, b2)
    return FUNCTIONS[np.moveaxis](FUNCTIONS[np.stack]([x, y, z], axis=-1), -1, axisc)


def _difference(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return a·b − c·d, a factor that is None being zero."""
    if a is None or b is None:
        return -(c * d)
    return a * b if c is None or d is None else a * b - c * d


@implements(np.linalg.cross)
def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Cross product of vectors of three components, as `numpy.linalg.cross`."""
    x1, x2 = as_value(x1), as_value(x2)
    if aval_of(x1).shape[axis] != 3 or aval_of(x2).shape[axis] != 3:
        raise ShapeError(
            f"cross: both arrays must hold vectors of three components along axis {axis}, not "
            f"{aval_of(x1)} and {aval_of(x2)}"
        )
    return cross(x1, x2, axis=axis)


@implements(np.linalg.multi_dot)
def multi_dot(arrays: Sequence[Any], *, out: None = None) -> Any:
    """Product of a chain of matrices in the cheapest order, as `numpy.linalg.multi_dot`."""
    factors = [as_value(array) for array in arrays]
    if len(factors) < 2:
        raise ShapeError("multi_dot: Expecting at least two arrays.")
    for position, factor in enumerate(factors):
        inner_factor = 0 < position < len(factors) - 1
        if aval_of(factor).ndim != 2 and (inner_factor or aval_of(factor).ndim != 1):
            raise ShapeError(f"multi_dot: array {position} is {aval_of(factor)}; it must be 2-d")
    first, last = aval_of(factors[0]).shape, aval_of(factors[-1]).shape
    extents = [first[0] if len(first) == 2 else 1]
    extents += [aval_of(factor).shape[0] for factor in factors[1:]]
    extents.append(last[1] if len(last) == 2 else 1)
    return _chain(factors, _best_splits(extents), 0, len(factors) - 1)


def _best_splits(extents: list[int]) -> dict[tuple[int, int], int]:
    """Return where to split each part of the chain: the classic dynamic programme."""
    count = len(extents) - 1
    cost = {(start, start): 0 for start in range(count)}
    splits: dict[tuple[int, int], int] = {}
    for length in range(2, count + 1):
        for start in range(count - length + 1):
            end = start + length - 1

            def price(split: int, start: int = start, end: int = end) -> int:
                ends = extents[start] * extents[split + 1] * extents[end + 1]
                return cost[start, split] + cost[split + 1, end] + ends

            splits[start, end] = min(range(start, end), key=price)
            cost[start, end] = price(splits[start, end])
    return splits


def _chain(factors: list[Any], splits: dict[tuple[int, int], int], start: int, end: int) -> Any:
    if start == end:
        return factors[start]
    split = splits[start, end]
    return dot(_chain(factors, splits, start, split), _chain(factors, splits, split + 1, end))
