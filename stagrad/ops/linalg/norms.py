"""Norms of vectors and matrices of every order, and what is made of them.

Where a norm has a kink its slope is zero, or shared evenly: the length of a zero vector, a zero
entry of any p-norm, a zero singular value; tied entries of the largest.
"""

import math
from typing import Any

import numpy as np

from stagrad.ir import aval_of, bind
from stagrad.ops.complex import absolute, imag, real
from stagrad.ops.convert import as_value, is_traced
from stagrad.ops.define import FUNCTIONS, UFUNCS, implements, normalize_axes
from stagrad.ops.linalg.common import identity_like, largest_size, matrix_operand, real_dtype
from stagrad.ops.linalg.determinant import slogdet_p, spread
from stagrad.ops.linalg.singular import svdvals
from stagrad.ops.linalg.solving import inv
from stagrad.ops.movement import astype, reshape
from stagrad.ops.reduction import min as min_
from stagrad.ops.reduction import sum as sum_
from stagrad.ops.selection import select
from stagrad.ops.statistics import root


def _inexact(x: Any) -> Any:
    x = as_value(x)
    return x if aval_of(x).dtype.kind in "fc" else astype(x, np.float64)


def _squared_modulus(x: Any) -> Any:
    if aval_of(x).dtype.kind != "c":
        return x * x
    return real(x) ** 2 + imag(x) ** 2


def _length(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return square roots of sums of squared moduli; the slope at zero is zero."""
    return root(sum_(_squared_modulus(x), axis=axes, keepdims=keepdims))


def _vector_norm(x: Any, order: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if order is None or order == 2:
        return _length(x, axes, keepdims)
    if isinstance(order, str) or is_traced(order):
        raise ValueError(
            f"norm: invalid norm order {order!r} for vectors: it is a number, known while tracing"
        )
    if order == 0:
        return sum_(astype(x != 0, real_dtype(aval_of(x).dtype)), axis=axes, keepdims=keepdims)
    size = absolute(x)
    if order == 1:
        return sum_(size, axis=axes, keepdims=keepdims)
    if order == math.inf:
        return largest_size(size, axes, keepdims)
    if order == -math.inf:
        return min_(size, axis=axes, keepdims=keepdims)
    return _power_norm(size, float(order), axes, keepdims)


def _power_norm(size: Any, order: float, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return (sum size**p) ** (1/p). A zero entry has slope zero, and so has a norm of zero."""
    power = UFUNCS["power"]
    zero = size == 0
    terms = select(zero, 0 if order > 0 else math.inf, power(select(zero, 1, size), order))
    total = sum_(terms, axis=axes, keepdims=keepdims)
    vanishing = total == (0 if order > 0 else math.inf)
    return select(vanishing, 0, power(select(vanishing, 1, total), 1 / order))


def _matrix_norm(x: Any, order: Any, axes: tuple[int, int], keepdims: bool) -> Any:
    row_axis, column_axis = axes
    if order in (None, "fro", "f"):
        return _length(x, axes, keepdims)
    if order in (2, -2, "nuc"):
        values = svdvals(FUNCTIONS[np.moveaxis](x, axes, (-2, -1)))
        if order == "nuc":
            result = sum_(values, axis=-1)
        else:
            result = largest_size(values, -1, False) if order == 2 else min_(values, axis=-1)
    elif order in (1, -1, math.inf, -math.inf):
        summed, compared = (row_axis, column_axis) if abs(order) == 1 else (column_axis, row_axis)
        sums = sum_(absolute(x), axis=summed, keepdims=True)
        if order > 0:
            result = largest_size(sums, compared)
        else:
            result = min_(sums, axis=compared, keepdims=True)
    else:
        raise ValueError(f"norm: invalid norm order {order!r} for matrices")
    shape = aval_of(x).shape
    kept = tuple(1 if axis in axes else extent for axis, extent in enumerate(shape))
    rest = tuple(extent for axis, extent in enumerate(shape) if axis not in axes)
    return reshape(result, kept if keepdims else rest)


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Norms of vectors and matrices, as `numpy.linalg.norm`."""
    x = _inexact(x)
    ndim = aval_of(x).ndim
    if axis is None and ord is None:
        return _length(x, tuple(range(ndim)), keepdims)
    axes = _ordered_axes(tuple(range(ndim)) if axis is None else axis, ndim)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise ValueError(
        f"norm: improper number of dimensions to norm: ord={ord!r} is for one or two axes, "
        f"not {len(axes)} of {aval_of(x)}; give axis="
    )


def _ordered_axes(axis: Any, ndim: int) -> Any:
    axes = axis if isinstance(axis, tuple) else (axis,)
    return np.lib.array_utils.normalize_axis_tuple(axes, ndim, "norm")


@implements(np.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Norms of vectors, over one or several axes, as `numpy.linalg.vector_norm`."""
    x = _inexact(x)
    return _vector_norm(x, ord, normalize_axes(axis, aval_of(x).ndim, "vector_norm"), keepdims)


@implements(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Norms of the matrices in the last two axes, as `numpy.linalg.matrix_norm`."""
    return norm(x, ord, (-2, -1), keepdims)


@implements(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    """Condition numbers of matrices, as `numpy.linalg.cond`."""
    x = matrix_operand("cond", x, square=p not in (None, 2, -2))
    if p in (None, 2, -2):
        values = svdvals(x)
        first, last = values[..., 0], values[..., -1]
        result = last / first if p == -2 else first / last
    else:
        # Of a singular matrix, whose inverse would raise, the condition number is infinite.
        singular = bind(slogdet_p, x)[0] == 0
        regular = select(spread(singular), identity_like(x), x)
        result = norm(x, p, (-2, -1)) * norm(inv(regular), p, (-2, -1))
        result = select(singular, math.inf, result)
    is_known = FUNCTIONS[np.all](x == x, axis=(-2, -1))
    return select((result != result) & is_known, math.inf, result)


@implements(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """Ranks of matrices by their singular values, as `numpy.linalg.matrix_rank`."""
    if rtol is not None and tol is not None:
        raise ValueError("matrix_rank: `tol` and `rtol` can't be both set")
    A = as_value(A)
    if aval_of(A).ndim < 2:
        return astype(FUNCTIONS[np.any](A != 0), np.int64)
    values = FUNCTIONS[np.linalg.svd](A, compute_uv=False, hermitian=hermitian)
    if tol is None:
        if rtol is None:
            eps = float(np.finfo(aval_of(values).dtype).eps)
            rtol = max(aval_of(A).shape[-2:]) * eps
        else:
            rtol = _stretched(rtol)
        tol = largest_size(values, -1) * rtol
    else:
        tol = _stretched(tol)
    return sum_(values > tol, axis=-1)


def _stretched(tolerance: Any) -> Any:
    tolerance = as_value(tolerance)
    return reshape(tolerance, (*aval_of(tolerance).shape, 1))
