"""Pseudo-inverses and least squares, differentiable wherever the rank is locally constant."""

from typing import Any

import numpy as np
import numpy as xp

from stagrad.errors import UnsupportedError
from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.complex import absolute, real
from stagrad.ops.contraction import matmul, matrix_transpose
from stagrad.ops.convert import as_value, is_traced
from stagrad.ops.define import implements
from stagrad.ops.linalg.common import (
    LinAlgError,
    adjoint,
    batch_stacked,
    broadcast_stacks,
    chain,
    columns,
    conj,
    lapack_dtype,
    largest_size,
    matrix_operand,
    real_dtype,
)
from stagrad.ops.linalg.eigen import eigh
from stagrad.ops.linalg.singular import svdvals
from stagrad.ops.linalg.solving import each_matrix
from stagrad.ops.movement import astype, reshape, zeros
from stagrad.ops.reduction import sum as sum_
from stagrad.ops.selection import select


def _pinv_aval(avals: tuple[Aval, ...], params: Params) -> Aval:
    *batch, m, n = avals[0].shape
    return Aval((*batch, n, m), avals[0].dtype)


# Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems
# whose variables separate", 1973: no singular vectors, so repeated singular values are no harm.
#   dp = -p da p + p pᴴ daᴴ (1 - a p) + (1 - p a) daᴴ pᴴ p
def _pinv_rule(ct: Any, out: Any, a: Any, *, rcond: float | None) -> Any:
    p, a, ct_h = conj(out), conj(a), adjoint(ct)
    turned = matrix_transpose(out)
    right = chain(ct_h, p, turned)
    left = chain(turned, p, ct_h)
    return right - chain(a, p, right) + left - chain(left, p, a) - chain(turned, ct, turned)


def _pinv_jvp(primals: Any, tangents: Any, out: Any, *, rcond: float | None) -> Any:
    (a,), (da,), p = primals, tangents, out
    right = chain(p, adjoint(p), adjoint(da))
    left = chain(adjoint(da), adjoint(p), p)
    moved = -chain(p, da, p)
    return moved + right - chain(right, a, p) + left - chain(p, a, left)


pinv_p: Primitive = register(
    Primitive(
        name="pinv",
        kind=Kind.LIBRARY,
        dtypes="fc",
        abstract_eval=_pinv_aval,
        py=lambda params, arity: (
            f"xp.linalg.pinv({{0}}{', {rcond}' if params['rcond'] is not None else ''})"
        ),
        vjps=(_pinv_rule,),
        jvp=_pinv_jvp,
        batcher=batch_stacked(lambda a, *, rcond: bind(pinv_p, a, rcond=rcond)),
        doc="Moore-Penrose pseudo-inverses.",
    )
)


def _cutoff(name: str, rcond: Any) -> float | None:
    """Return a relative cutoff as a number: it decides a rank, which cannot be traced."""
    if rcond is None:
        return None
    if is_traced(rcond) or np.ndim(rcond):
        raise UnsupportedError(
            f"{name}: the cutoff rcond/rtol must be one number known while the function is traced"
        )
    return float(rcond)


@implements(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> Any:
    """Pseudo-inverse, as `numpy.linalg.pinv`."""
    a = matrix_operand("pinv", a)
    dtype = real_dtype(aval_of(a).dtype)
    if rtol is None:
        rcond = max(aval_of(a).shape[-2:]) * float(np.finfo(dtype).eps)
    elif rtol is not np._NoValue:
        rcond = rtol
    rcond = _cutoff("pinv", rcond)
    if not hermitian:
        return bind(pinv_p, a, rcond=rcond)
    w, v = eigh(a)
    size = absolute(w)
    cutoff = (1e-15 if rcond is None else rcond) * largest_size(size, -1)
    inverse = select(size > cutoff, 1 / select(size > cutoff, w, 1), 0)
    return matmul(v * columns(inverse), adjoint(v))


def least_squares(a, b, rcond):  # type: ignore[no-untyped-def]
    """Return the least-squares solution of smallest norm."""

    def solve_one(a, b):  # type: ignore[no-untyped-def]
        return xp.linalg.lstsq(a, b, rcond)[0]

    return each_matrix(solve_one, a, b)  # type: ignore[no-untyped-call]


def _lstsq_aval(avals: tuple[Aval, ...], params: Params) -> Aval:
    a, b = avals
    return Aval((*a.shape[:-2], a.shape[-1], b.shape[-1]), a.dtype)


def _lstsq_sides(ct: Any, a: Any, rcond: float | None) -> tuple[Any, Any]:
    """Return conj(a⁺) and the cotangent of b, a⁺ᵀ ct."""
    inverse = _pinv_for_lstsq(a, rcond)
    return conj(inverse), matmul(matrix_transpose(inverse), ct)


def _pinv_for_lstsq(a: Any, rcond: float | None) -> Any:
    eps = float(np.finfo(real_dtype(aval_of(a).dtype)).eps)
    if rcond is None:
        rcond = max(aval_of(a).shape[-2:]) * eps
    return bind(pinv_p, a, rcond=eps if rcond < 0 else rcond)


# x = a⁺ b, so the derivative is that of the pseudo-inverse applied to b.
def _lstsq_matrix_rule(ct: Any, out: Any, a: Any, b: Any, *, rcond: float | None) -> Any:
    p, side = _lstsq_sides(ct, a, rcond)
    residual = b - matmul(a, out)
    pulled = -matmul(side, matrix_transpose(out))
    pulled = pulled + matmul(conj(residual), matrix_transpose(matmul(conj(p), conj(side))))
    rest = adjoint(ct) - chain(adjoint(ct), p, conj(a))
    return pulled + chain(matrix_transpose(conj(p)), conj(out), rest)


def _lstsq_jvp(primals: Any, tangents: Any, out: Any, *, rcond: float | None) -> Any:
    (a, b), (da, db) = primals, tangents
    p = _pinv_for_lstsq(a, rcond)
    moved = None if db is None else matmul(p, db)
    if da is None:
        return moved
    residual = b - matmul(a, out)
    left = chain(adjoint(da), adjoint(p), out)
    turned = -chain(p, da, out) + chain(p, adjoint(p), adjoint(da), residual)
    turned = turned + left - chain(p, a, left)
    return turned if moved is None else moved + turned


lstsq_p: Primitive = register(
    Primitive(
        name="lstsq",
        kind=Kind.LIBRARY,
        dtypes="fc",
        abstract_eval=_lstsq_aval,
        py="least_squares({0}, {1}, {rcond})",
        helpers=(each_matrix, least_squares),
        vjps=(
            _lstsq_matrix_rule,
            lambda ct, out, a, b, *, rcond: _lstsq_sides(ct, a, rcond)[1],
        ),
        jvp=_lstsq_jvp,
        batcher=batch_stacked(
            lambda a, b, *, rcond: bind(lstsq_p, *broadcast_stacks(a, b), rcond=rcond)
        ),
        doc="Least-squares solutions of smallest norm.",
    )
)


@implements(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """Least squares, as `numpy.linalg.lstsq`.

    The residuals are given whenever there are more equations than unknowns: that they be empty for
    a matrix of deficient rank would make their shape depend on numbers.
    """
    a, b = matrix_operand("lstsq", a), as_value(b)
    shape_a, shape_b = aval_of(a).shape, aval_of(b).shape
    if len(shape_a) != 2 or len(shape_b) not in (1, 2):
        raise LinAlgError(f"lstsq: a must be 2-d and b 1-d or 2-d, not {shape_a} and {shape_b}")
    (m, n), is_vector = shape_a, len(shape_b) == 1
    if shape_b[0] != m:
        raise LinAlgError(
            f"lstsq: incompatible dimensions: a is {m} x {n}, b has {shape_b[0]} rows"
        )
    dtype = lapack_dtype("lstsq", aval_of(a).dtype, aval_of(b).dtype)
    a, side = astype(a, dtype), astype(reshape(b, (m, 1)) if is_vector else b, dtype)
    rcond = _cutoff("lstsq", rcond)
    x = bind(lstsq_p, a, side, rcond=rcond)
    s = svdvals(a)
    eps = float(np.finfo(real_dtype(dtype)).eps)
    cutoff = eps if rcond == -1 else max(m, n) * eps if rcond is None else rcond
    rank = sum_(s > cutoff * largest_size(s, -1), axis=-1, dtype=np.int32)
    if m > n:
        residuals = sum_(_squared_modulus(side - matmul(a, x)), axis=0)
    else:
        residuals = zeros((0,), real_dtype(dtype), like=x)
    return reshape(x, (n,)) if is_vector else x, residuals, rank, s


def _squared_modulus(x: Any) -> Any:
    return real(conj(x) * x)
