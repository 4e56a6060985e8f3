"""Cholesky and QR factorizations."""

from typing import Any

import numpy as np

from stagrad.errors import DerivativeError, UnsupportedError
from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.complex import make_complex, real
from stagrad.ops.contraction import matmul, matrix_transpose
from stagrad.ops.define import FUNCTIONS, implements
from stagrad.ops.linalg.common import (
    adjoint,
    batch_stacked,
    conj,
    hermitian_part,
    keep_diagonal,
    keep_lower,
    matrix_operand,
    offsets,
    same_aval,
)
from stagrad.ops.linalg.results import QRResult
from stagrad.ops.linalg.solving import triangular_solution
from stagrad.ops.movement import zeros
from stagrad.ops.selection import select


# Only one triangle of the matrix is read, which says that it is symmetric (Hermitian): the
# derivative is taken among such matrices and comes back symmetrised.
def _cholesky_rule(ct: Any, out: Any, a: Any, *, upper: bool) -> Any:
    if upper:
        out, ct = adjoint(out), adjoint(ct)
    scaled = _halved_triangle(matmul(matrix_transpose(out), ct))
    right = adjoint(out)
    left = triangular_solution(matrix_transpose(out), scaled, lower=False)
    pulled = triangular_solution(right, matrix_transpose(left), lower=False)
    return hermitian_part(matrix_transpose(pulled))


def _halved_triangle(x: Any) -> Any:
    """Return the lower triangle with half of the diagonal."""
    return keep_lower(x) - 0.5 * keep_diagonal(x)


def _cholesky_jvp(primals: Any, tangents: Any, out: Any, *, upper: bool) -> Any:
    factor = adjoint(out) if upper else out
    moved = hermitian_part(tangents[0])
    left = triangular_solution(factor, moved, lower=True)
    inner = adjoint(triangular_solution(factor, adjoint(left), lower=True))
    tangent = matmul(factor, _halved_triangle(inner))
    return adjoint(tangent) if upper else tangent


cholesky_p: Primitive = register(
    Primitive(
        name="cholesky",
        kind=Kind.LIBRARY,
        dtypes="fc",
        abstract_eval=same_aval,
        py=lambda params, arity: (
            f"xp.linalg.cholesky({{0}}{', upper=True' if params['upper'] else ''})"
        ),
        vjps=(_cholesky_rule,),
        jvp=_cholesky_jvp,
        batcher=batch_stacked(lambda a, *, upper: bind(cholesky_p, a, upper=upper)),
        doc="Triangular factors of positive definite matrices, of which one triangle is read.",
    )
)


@implements(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """Cholesky factors, as `numpy.linalg.cholesky`; the derivative is symmetrised."""
    return bind(cholesky_p, matrix_operand("cholesky", a, square=True), upper=bool(upper))


def _qr_avals(avals: tuple[Aval, ...], params: Params) -> tuple[Aval, Aval]:
    *batch, m, n = avals[0].shape
    inner = m if params["mode"] == "complete" else min(m, n)
    dtype = avals[0].dtype
    return Aval((*batch, m, inner), dtype), Aval((*batch, inner, n), dtype)


def _qr_rule(ct: Any, out: Any, a: Any, *, mode: str) -> Any:
    (ct_q, ct_r), (q, r) = ct, out
    m, n = aval_of(a).shape[-2:]
    if mode == "complete" and m > n:
        raise DerivativeError(
            f"qr(mode='complete') of a {m} x {n} matrix has no derivative: the last {m - n} "
            "columns of q may be any basis of what is orthogonal to the others; use mode='reduced'"
        )
    if m >= n:
        return _pull_tall(ct_q, ct_r, q, r)
    # The first m columns make q and a triangle; the others are turned by q alone: r₂ = qᴴ a₂.
    first, rest = (..., slice(None, m)), (..., slice(m, None))
    if ct_r is None:
        pulled_rest = None
    else:
        turned = conj(matmul(a[rest], matrix_transpose(ct_r[rest])))
        ct_q = turned if ct_q is None else ct_q + turned
        pulled_rest = matmul(conj(q), ct_r[rest])
    pulled = _pull_tall(ct_q, None if ct_r is None else ct_r[first], q, r[first])
    if pulled_rest is None:
        aval = aval_of(a)
        pulled_rest = zeros((*aval.shape[:-1], n - m), aval.dtype, like=a)
    return FUNCTIONS[np.concatenate]([pulled, pulled_rest], axis=-1)


def _pull_tall(ct_q: Any, ct_r: Any, q: Any, r: Any) -> Any:
    """Pull cotangents through a factorization whose r is square."""
    inner = None if ct_r is None else matmul(ct_r, matrix_transpose(r))
    if ct_q is not None:
        turned = matmul(matrix_transpose(q), ct_q)
        inner = -turned if inner is None else inner - turned
    side = matmul(conj(q), _mirrored(inner))
    if ct_q is not None:
        side = side + ct_q
    return matrix_transpose(triangular_solution(r, matrix_transpose(side), lower=False))


def _mirrored(x: Any) -> Any:
    """Return the Hermitian matrix with this upper triangle, the diagonal made real."""
    mirrored = select(offsets(x) > 0, x, adjoint(x))
    if aval_of(x).dtype.kind != "c":
        return mirrored
    return select(offsets(x) == 0, make_complex(real(x), 0.0), mirrored)


qr_p: Primitive = register(
    Primitive(
        name="qr",
        kind=Kind.LIBRARY,
        dtypes="fc",
        multiple=True,
        abstract_eval=_qr_avals,
        py=lambda params, arity: (
            "xp.linalg.qr({0})" if params["mode"] == "reduced" else "xp.linalg.qr({0}, {mode})"
        ),
        vjps=(_qr_rule,),
        batcher=batch_stacked(lambda a, *, mode: bind(qr_p, a, mode=mode)),
        doc="Factors with orthonormal columns and upper triangular ones.",
    )
)


@implements(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    """QR factorization, as `numpy.linalg.qr`; its derivative needs a matrix of full rank."""
    if mode not in ("reduced", "complete", "r"):
        raise UnsupportedError(
            f"qr: mode={mode!r} has no meaning inside a trace; use 'reduced', 'complete' or 'r'"
        )
    a = matrix_operand("qr", a)
    m, n = aval_of(a).shape[-2:]
    is_complete = mode == "complete" and m > n
    q, r = bind(qr_p, a, mode="complete" if is_complete else "reduced")
    return r if mode == "r" else QRResult(q, r)
