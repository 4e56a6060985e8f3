"""NumPy's compositions of linear algebra: powers, traces and tensor equations."""

import operator
from typing import Any

import numpy as np

from stagrad.ir import aval_of
from stagrad.ops.contraction import matmul
from stagrad.ops.convert import as_value
from stagrad.ops.define import FUNCTIONS, implements
from stagrad.ops.linalg.common import (
    LinAlgError,
    identity_like,
)
from stagrad.ops.linalg.solving import inv, solve
from stagrad.ops.movement import broadcast_to, reshape, transpose


@implements(np.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Any:
    """Integer powers of square matrices, as `numpy.linalg.matrix_power`."""
    a = as_value(a)
    shape = aval_of(a).shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise LinAlgError(f"matrix_power: last 2 dimensions must be square, not {shape}")
    try:
        n = operator.index(n)
    except TypeError as error:
        raise TypeError(f"matrix_power: exponent must be an integer, not {n!r}") from error
    if n == 0:
        return broadcast_to(identity_like(a), shape)
    if n < 0:
        a, n = inv(a), -n
    result = None
    while n:
        n, bit = divmod(n, 2)
        if bit:
            result = a if result is None else matmul(result, a)
        if n:
            a = matmul(a, a)
    return result


@implements(np.trace)
def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None
) -> Any:
    """Sums along diagonals, as `numpy.trace`."""
    diagonals = FUNCTIONS[np.diagonal](as_value(a), offset, axis1, axis2)
    return FUNCTIONS[np.sum](diagonals, axis=-1, dtype=dtype)


@implements(np.linalg.trace)
def matrix_trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Sums along diagonals of matrices, as `numpy.linalg.trace`."""
    return trace(x, offset, -2, -1, dtype)


@implements(np.linalg.tensorinv)
def tensorinv(a: Any, ind: int = 2) -> Any:
    """Inverse for tensordot over `ind` axes, as `numpy.linalg.tensorinv`."""
    a = as_value(a)
    if ind <= 0:
        raise ValueError("tensorinv: invalid ind argument: it must be a positive integer")
    shape = aval_of(a).shape
    rows = int(np.prod(shape[ind:]))
    inverse = inv(reshape(a, (rows, aval_of(a).size // max(rows, 1))))
    return reshape(inverse, shape[ind:] + shape[:ind])


@implements(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """Solve tensordot(a, x) = b, as `numpy.linalg.tensorsolve`."""
    a, b = as_value(a), as_value(b)
    ndim = aval_of(a).ndim
    if axes is not None:
        moved = np.lib.array_utils.normalize_axis_tuple(axes, ndim, "tensorsolve")
        a = transpose(a, (*(axis for axis in range(ndim) if axis not in moved), *moved))
    unknowns = aval_of(a).shape[aval_of(b).ndim :]
    count = int(np.prod(unknowns))
    if aval_of(a).size != count * aval_of(b).size or count != aval_of(b).size:
        raise LinAlgError(
            "tensorsolve: input arrays must satisfy prod(a.shape[b.ndim:]) == "
            f"prod(a.shape[:b.ndim]); a is {aval_of(a)}, b is {aval_of(b)}"
        )
    return reshape(solve(reshape(a, (count, count)), reshape(b, (count,))), unknowns)
