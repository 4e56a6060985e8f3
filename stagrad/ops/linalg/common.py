"""What the linear algebra modules share: checked operands, masks and small matrix expressions."""

from typing import Any

import numpy as np

from stagrad.ir import Aval, Params, aval_of
from stagrad.ops.complex import conjugate
from stagrad.ops.contraction import matmul, matrix_transpose
from stagrad.ops.convert import as_value
from stagrad.ops.movement import astype, broadcast_to, constant, reshape
from stagrad.ops.promote import broadcast_shape
from stagrad.ops.selection import select

LinAlgError = np.linalg.LinAlgError


def matrix_operand(name: str, a: Any, *, square: bool = False) -> Any:
    """Return an array-like as a stack of matrices in a dtype that LAPACK computes in.

    Raises numpy.linalg.LinAlgError as NumPy does, naming the operation and the shape.
    """
    a = as_value(a)
    shape = aval_of(a).shape
    if len(shape) < 2:
        raise LinAlgError(
            f"{name}: {len(shape)}-dimensional array given (shape {shape}). "
            "Array must be at least two-dimensional"
        )
    if square and shape[-1] != shape[-2]:
        raise LinAlgError(f"{name}: last 2 dimensions of the array must be square, not {shape}")
    return astype(a, lapack_dtype(name, aval_of(a).dtype))


def lapack_dtype(name: str, *dtypes: np.dtype) -> np.dtype:
    """Return the dtype LAPACK computes in for operands of these: integers become float64."""
    if np.dtype(np.float16) in dtypes:
        raise TypeError(f"{name}: array type float16 is unsupported in linalg; use float32")
    return np.result_type(*(dtype if dtype.kind in "fc" else np.float64 for dtype in dtypes))


def real_dtype(dtype: np.dtype) -> np.dtype:
    """Return the dtype of the real numbers that a dtype's numbers are made of."""
    return np.zeros(0, dtype).real.dtype


def conj(x: Any) -> Any:
    """Conjugate complex numbers; real ones come back as they are, without an operation."""
    return conjugate(x) if aval_of(x).dtype.kind == "c" else x


def adjoint(x: Any) -> Any:
    """Transpose and conjugate the last two axes."""
    return conj(matrix_transpose(x))


def chain(*factors: Any) -> Any:
    """Multiply matrices from left to right."""
    result = factors[0]
    for factor in factors[1:]:
        result = matmul(result, factor)
    return result


def columns(x: Any) -> Any:
    """Turn vectors in the last axis into factors of matrix columns: shape (…, 1, n)."""
    shape = aval_of(x).shape
    return reshape(x, (*shape[:-1], 1, shape[-1]))


def rows(x: Any) -> Any:
    """Turn vectors in the last axis into factors of matrix rows: shape (…, n, 1)."""
    return reshape(x, (*aval_of(x).shape, 1))


def offsets(x: Any) -> Any:
    """Return column number minus row number for every place of a matrix, shape (m, n).

    Built from two short constants, so that emitted source holds no large literal.
    """
    m, n = aval_of(x).shape[-2:]
    across = constant(np.arange(n).reshape(1, n), like=x)
    return across - constant(np.arange(m).reshape(m, 1), like=x)


def keep_diagonal(x: Any) -> Any:
    """Return matrices with everything off the diagonal replaced by zero."""
    return select(offsets(x) == 0, x, 0)


def keep_off_diagonal(x: Any) -> Any:
    """Return matrices with the diagonal replaced by zero."""
    return select(offsets(x) == 0, 0, x)


def keep_lower(x: Any) -> Any:
    """Return matrices with everything above the diagonal replaced by zero."""
    return select(offsets(x) <= 0, x, 0)


def keep_upper(x: Any) -> Any:
    """Return matrices with everything below the diagonal replaced by zero."""
    return select(offsets(x) >= 0, x, 0)


def diagonal_of(x: Any) -> Any:
    """Return the diagonals of square matrices."""
    from stagrad.ops.reduction import sum as sum_

    return sum_(keep_diagonal(x), axis=-1)


def identity_like(x: Any) -> Any:
    """Return one identity matrix of the size and dtype of square matrices."""
    return astype(offsets(x) == 0, aval_of(x).dtype)


def hermitian_part(x: Any) -> Any:
    """Return (x + xᴴ) / 2."""
    return (x + adjoint(x)) * 0.5


def skew_part(x: Any) -> Any:
    """Return (x - xᴴ) / 2."""
    return (x - adjoint(x)) * 0.5


def largest_size(size: Any, axes: Any, keepdims: bool = True) -> Any:
    """Return the largest of numbers that are not negative, zero where there are none."""
    from stagrad.ops.reduction import max as max_

    if aval_of(size).size:
        return max_(size, axis=axes, keepdims=keepdims)
    return max_(size, axis=axes, keepdims=keepdims, initial=0)


def same_aval(avals: tuple[Aval, ...], params: Params) -> Aval:
    """Type rule of an operation whose result is like its first operand."""
    return Aval(avals[0].shape, avals[0].dtype)


def batch_stacked(function: Any) -> Any:
    """Return the batcher of an operation whose matrices stack along any leading axes.

    `function` applies it to stacks of different batch shapes.
    """

    def batcher(size: int, batched: Any, operands: Any, **params: Any) -> Any:
        ndim = max(
            aval_of(operand).ndim - is_batched
            for operand, is_batched in zip(operands, batched, strict=True)
        )
        stacked = (
            _with_axes(operand, ndim) if is_batched else operand
            for operand, is_batched in zip(operands, batched, strict=True)
        )
        return function(*stacked, **params)

    return batcher


def broadcast_stacks(*operands: Any) -> tuple[Any, ...]:
    """Give stacks of matrices one batch shape."""
    shapes = [aval_of(operand).shape for operand in operands]
    batch = broadcast_shape("stacks of matrices", [shape[:-2] for shape in shapes])
    return tuple(
        broadcast_to(operand, (*batch, *shape[-2:]))
        for operand, shape in zip(operands, shapes, strict=True)
    )


def _with_axes(x: Any, ndim: int) -> Any:
    """Insert axes after the first, the batch axis, so that `ndim` follow it."""
    shape = aval_of(x).shape
    return reshape(x, (shape[0], *(1,) * (ndim + 1 - len(shape)), *shape[1:]))
