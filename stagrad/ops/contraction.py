"""Contractions: products that sum over shared axes. All of them are matrix products in the end.

There is one primitive, `matmul`, over stacks of matrices of equal batch shape. Everything else is
transposed and reshaped into it, so that BLAS does the work and one rule differentiates all.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from stagrad.errors import ShapeError, UnsupportedError
from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ir.native import NativeCall
from stagrad.ops.convert import as_value
from stagrad.ops.define import implements
from stagrad.ops.movement import astype, broadcast_to, reshape, transpose
from stagrad.ops.promote import broadcast_shape, loop_types, ufunc_loop


def matrix_transpose(x: Any) -> Any:
    """Swap the last two axes."""
    order = list(range(aval_of(x).ndim))
    order[-2:] = order[-1], order[-2]
    return transpose(x, tuple(order))


def _product_aval(avals: tuple[Aval, ...], params: Params) -> Aval:
    a, b = avals
    fits = a.ndim >= 2 and a.shape[:-2] == b.shape[:-2] and a.shape[-1] == b.shape[-2]
    if not fits or a.dtype != b.dtype:
        raise ShapeError(f"matmul: {a} and {b} are not stacks of matrices that multiply")
    return Aval((*a.shape[:-1], b.shape[-1]), ufunc_loop(np.matmul, (a.dtype, b.dtype))[1])


def _product_jvp(primals: Any, tangents: Any, out: Any) -> Any:
    a, b = primals
    da, db = tangents
    if db is None:
        return product(da, b)
    return product(a, db) if da is None else product(da, b) + product(a, db)


def _product_batcher(size: int, batched: Sequence[bool], operands: Sequence[Any]) -> Any:
    stacks = (
        operand if is_batched else reshape(operand, (1, *aval_of(operand).shape))
        for operand, is_batched in zip(operands, batched, strict=True)
    )
    return _multiply_stacks(*stacks)


def _lies_in_rows(aval: Aval, strides: tuple[int, ...]) -> bool:
    """Say whether rows or columns of matrices are contiguous, as BLAS wants them."""
    row, column = strides[-2:]
    return 1 in (row, column) or (0 not in (row, column) and 1 in aval.shape[-2:])


def _accepted(aval: Aval, strides: tuple[int, ...]) -> bool:
    """Say whether a stack of matrices can be multiplied where it lies."""
    fits = len(strides) <= 4 or _is_even(aval, strides)
    return aval.dtype in BLAS_TYPES and fits and _lies_in_rows(aval, strides)


def _is_even(aval: Aval, strides: tuple[int, ...]) -> bool:
    """Say whether the matrices of a stack lie at one distance from each other."""
    return all(
        strides[axis] == strides[axis + 1] * aval.shape[axis + 1] for axis in range(aval.ndim - 3)
    )


def _native_product(call: NativeCall) -> str | None:
    """Return the call of a product of stacks of matrices, whose panels run on several threads."""
    kind = BLAS_TYPES.get(call.results[0].dtype)
    if kind is None:
        return None
    letter, name = kind
    *batch, rows, columns = call.results[0].shape
    outer, inner = (batch[0], batch[1]) if len(batch) == 2 else (1, math.prod(batch))
    functions = [call.symbol(f"{letter}{routine}") for routine in ("gemm", "gemv")]
    stacks = []
    for pointer, steps in zip(call.pointers, call.strides, strict=True):
        above, below = steps[:2] if len(batch) == 2 else (0, steps[-3] if batch else 0)
        numbers = ", ".join(map(call.size, (above, below, *steps[-2:])))
        stacks.append(f"    (sg_stack){{{pointer}, {numbers}}}")
    sizes = ", ".join(map(call.size, (outer, inner, rows, columns, call.operands[0].shape[-1])))
    arguments = ",\n".join([f"    (sg_extents){{{sizes}}}", *stacks])
    return f"sg_product_{name}(rt, {', '.join(functions)},\n{arguments});"


BLAS_TYPES = {
    np.dtype(np.float32): ("s", "float"),
    np.dtype(np.float64): ("d", "double"),
    np.dtype(np.complex64): ("c", "complex_float"),
    np.dtype(np.complex128): ("z", "complex_double"),
}
"""BLAS's letter for a dtype, and the end of the name of the product that emitted C calls."""


matmul_p = register(
    Primitive(
        name="matmul",
        kind=Kind.CONTRACTION,
        abstract_eval=_product_aval,
        py="xp.matmul({0}, {1})",
        infix="@",
        native=_native_product,
        strided=_accepted,
        vjps=(
            lambda ct, out, a, b: product(ct, matrix_transpose(b)),
            lambda ct, out, a, b: product(matrix_transpose(a), ct),
        ),
        jvp=_product_jvp,
        batcher=_product_batcher,
        doc="Product of matrices, or of stacks of matrices of one batch shape.",
    )
)


def product(a: Any, b: Any) -> Any:
    """Multiply stacks of matrices of one batch shape and one dtype."""
    return bind(matmul_p, a, b)


def common_operands(name: str, ufunc: np.ufunc, *operands: Any) -> list[Any]:
    """Return array-likes as values, cast to the dtype NumPy's `ufunc` computes in."""
    values = [as_value(operand) for operand in operands]
    dtypes, _ = ufunc_loop(ufunc, loop_types([aval_of(value) for value in values]))
    return [astype(value, dtype) for value, dtype in zip(values, dtypes, strict=True)]


@implements(np.matmul, np.linalg.matmul)
def matmul(a: Any, b: Any, **unsupported: Any) -> Any:
    """Matrix product over the last two axes, as `numpy.matmul`; a 1-d operand is a vector."""
    if unsupported:
        raise UnsupportedError(
            f"matmul: {', '.join(unsupported)} cannot be given for traced values; move the axes "
            "with np.moveaxis first"
        )
    a, b = common_operands("matmul", np.matmul, a, b)
    shape_a, shape_b = aval_of(a).shape, aval_of(b).shape
    if not shape_a or not shape_b:
        raise ShapeError(f"matmul: operands of shapes {shape_a} and {shape_b}: use * for a scalar")
    if shape_a[-1] != shape_b[-2 if len(shape_b) > 1 else 0]:
        raise ShapeError(
            f"matmul: shapes {shape_a} and {shape_b} do not fit: the last axis of the first has "
            f"{shape_a[-1]} elements, the rows of the second are {shape_b[-2:][0]}"
        )
    rows = reshape(a, (1, *shape_a)) if len(shape_a) == 1 else a
    columns = reshape(b, (*shape_b, 1)) if len(shape_b) == 1 else b
    result = _multiply_stacks(rows, columns)
    shape = aval_of(result).shape
    if len(shape_a) == 1:
        shape = (*shape[:-2], *shape[-1:])
    return reshape(result, shape[:-1] if len(shape_b) == 1 else shape)


FEW_ROWS = 8
"""Below this many rows, copying the other operand into one wide matrix costs more than it saves."""


def _multiply_stacks(a: Any, b: Any) -> Any:
    """Multiply stacks of matrices whose batch shapes broadcast."""
    batch_a, batch_b = aval_of(a).shape[:-2], aval_of(b).shape[:-2]
    if batch_a == batch_b:
        return product(a, b)
    batch = broadcast_shape("matmul", [batch_a, batch_b])
    (rows, inner), columns = aval_of(a).shape[-2:], aval_of(b).shape[-1]
    count = math.prod(batch)
    if math.prod(batch_b) == 1 and batch_a == batch:
        flat = product(reshape(a, (count * rows, inner)), reshape(b, (inner, columns)))
        return reshape(flat, (*batch, rows, columns))
    if math.prod(batch_a) == 1 and batch_b == batch and rows >= FEW_ROWS:
        wide = reshape(_bring_first(b, len(batch)), (inner, count * columns))
        flat = reshape(product(reshape(a, (rows, inner)), wide), (rows, *batch, columns))
        return transpose(flat, (*range(1, len(batch) + 1), 0, len(batch) + 1))
    return product(
        broadcast_to(a, (*batch, rows, inner)), broadcast_to(b, (*batch, inner, columns))
    )


def _bring_first(x: Any, axis: int) -> Any:
    order = [position for position in range(aval_of(x).ndim) if position != axis]
    return transpose(x, (axis, *order))


def arrange(x: Any, labels: Sequence[Any], order: Sequence[Any]) -> Any:
    """Transpose `x`, whose axes are labelled, to another order of its labels."""
    return transpose(x, tuple(labels.index(label) for label in order))


def contract(
    a: Any, labels_a: Sequence[Any], b: Any, labels_b: Sequence[Any], kept: Sequence[Any]
) -> tuple[Any, list[Any]]:
    """Multiply two values with labelled axes and sum over the shared labels not in `kept`.

    Shared labels have equal extents, and each value's own labels are all kept. Returns the product
    and the labels of its axes.
    """
    shared = [label for label in labels_a if label in labels_b]
    summed = [label for label in shared if label not in kept]
    batch = [label for label in kept if label in shared]
    rows = [label for label in kept if label in labels_a and label not in shared]
    columns = [label for label in kept if label in labels_b and label not in shared]
    if not summed or (batch and not rows and not columns):
        return _multiply_labelled(a, labels_a, b, labels_b, batch, rows, columns, summed)
    extent = dict(zip(labels_a, aval_of(a).shape, strict=True))
    extent |= zip(labels_b, aval_of(b).shape, strict=True)

    def shape(*groups: Sequence[Any]) -> tuple[int, ...]:
        folded = (math.prod(extent[label] for label in group) for group in groups)
        return (*(extent[label] for label in batch), *folded)

    left = reshape(arrange(a, labels_a, [*batch, *rows, *summed]), shape(rows, summed))
    right = reshape(arrange(b, labels_b, [*batch, *summed, *columns]), shape(summed, columns))
    labels = [*batch, *rows, *columns]
    return reshape(product(left, right), tuple(extent[label] for label in labels)), labels


def _multiply_labelled(
    a: Any,
    labels_a: Sequence[Any],
    b: Any,
    labels_b: Sequence[Any],
    batch: list[Any],
    rows: list[Any],
    columns: list[Any],
    summed: list[Any],
) -> tuple[Any, list[Any]]:
    """Multiply elementwise where no matrix product is hidden, then sum."""
    from stagrad.ops.reduction import sum_p

    order = [*batch, *rows, *columns, *summed]
    result = _spread(a, labels_a, order) * _spread(b, labels_b, order)
    labels = order[: len(order) - len(summed)]
    if summed:
        result = bind(sum_p, result, axis=tuple(range(len(labels), len(order))))
    return result, labels


def _spread(x: Any, labels: Sequence[Any], order: Sequence[Any]) -> Any:
    """Return `x` with an axis for every label of `order`, of extent one where it has none."""
    present = [label for label in order if label in labels]
    x = arrange(x, labels, present)
    extent = dict(zip(present, aval_of(x).shape, strict=True))
    return reshape(x, tuple(extent.get(label, 1) for label in order))
