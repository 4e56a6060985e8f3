"""Determinants, right at singular matrices too: their derivative is the matrix of cofactors."""

from typing import Any

import numpy as np
import numpy as xp

from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.complex import imag, make_complex, real
from stagrad.ops.contraction import matmul, matrix_transpose
from stagrad.ops.define import implements
from stagrad.ops.linalg.common import (
    batch_stacked,
    broadcast_stacks,
    columns,
    keep_diagonal,
    matrix_operand,
    real_dtype,
    rows,
    same_aval,
)
from stagrad.ops.linalg.results import SlogdetResult
from stagrad.ops.linalg.solving import inv_p
from stagrad.ops.movement import astype
from stagrad.ops.reduction import sum as sum_


def _scalars(avals: tuple[Aval, ...], params: Params) -> Aval:
    return Aval(avals[0].shape[:-2], avals[0].dtype)


def _sum_of_products(a: Any, b: Any) -> Any:
    """Return the trace of a bᵀ, one number per matrix."""
    return sum_(a * b, axis=(-2, -1))


def _trace_of_product(a: Any, b: Any) -> Any:
    """Return the trace of a b, one number per matrix."""
    return _sum_of_products(a, matrix_transpose(b))


def spread(x: Any) -> Any:
    """Turn one number per matrix into a factor of the matrices: shape (…, 1, 1)."""
    return columns(rows(x))


det_p: Primitive = register(
    Primitive(
        name="det",
        kind=Kind.LIBRARY,
        dtypes="fc",
        abstract_eval=_scalars,
        py="xp.linalg.det({0})",
        vjps=(lambda ct, out, a: spread(ct) * bind(cofactors_p, a),),
        jvp=lambda primals, tangents, out: _sum_of_products(
            tangents[0], bind(cofactors_p, primals[0])
        ),
        batcher=batch_stacked(lambda a: bind(det_p, a)),
        doc="Determinants of square matrices.",
    )
)


@implements(np.linalg.det)
def det(a: Any) -> Any:
    """Determinants of square matrices, as `numpy.linalg.det`."""
    return bind(det_p, matrix_operand("det", a, square=True))


# With a = u s vᴴ, the determinant is det(u) det(vᴴ) times the product of s, and its derivatives are
# sums over products of the other singular values: no division, so singular matrices are no harm.
def cofactor_matrices(a):  # type: ignore[no-untyped-def]
    """Return the matrices of cofactors of square matrices."""
    u, s, vh = xp.linalg.svd(a)
    others = xp.ones_like(s)
    for place in range(s.shape[-1]):
        others[..., :place] *= s[..., place, None]
        others[..., place + 1 :] *= s[..., place, None]
    turn = xp.linalg.det(u) * xp.linalg.det(vh)
    return turn[..., None, None] * xp.matmul(u.conj() * others[..., None, :], vh.conj())


cofactors_p: Primitive = register(
    Primitive(
        name="cofactors",
        kind=Kind.LIBRARY,
        dtypes="fc",
        abstract_eval=same_aval,
        py="cofactor_matrices({0})",
        helpers=(cofactor_matrices,),
        vjps=(lambda ct, out, a: bind(cofactor_change_p, a, ct),),
        jvp=lambda primals, tangents, out: bind(cofactor_change_p, primals[0], tangents[0]),
        batcher=batch_stacked(lambda a: bind(cofactors_p, a)),
        doc="Matrices of cofactors, the derivative of det: det(a) inv(a)ᵀ where a is regular.",
    )
)


def change_of_cofactors(a, e):  # type: ignore[no-untyped-def]
    """Return the derivative of the matrices of cofactors of `a` in direction `e`."""
    u, s, vh = xp.linalg.svd(a)
    n = s.shape[-1]
    others = xp.ones((*s.shape, n), s.dtype) - xp.eye(n, dtype=s.dtype)
    for place in range(n):
        factor = s[..., place, None, None]
        for across in (slice(place), slice(place + 1, n)):
            others[..., :place, across] *= factor
            others[..., place + 1 :, across] *= factor
    v = xp.swapaxes(vh.conj(), -1, -2)
    turned = xp.matmul(xp.matmul(xp.swapaxes(u.conj(), -1, -2), e), v)
    diagonal = xp.matmul(others, xp.diagonal(turned, 0, -2, -1)[..., None])
    change = xp.eye(n, dtype=s.dtype) * diagonal - xp.swapaxes(others * turned, -1, -2)
    turn = xp.linalg.det(u) * xp.linalg.det(vh)
    return turn[..., None, None] * xp.matmul(xp.matmul(u.conj(), change), vh.conj())


def _third_derivative(ct: Any, out: Any, a: Any, e: Any) -> Any:
    """Return the third derivative of det in directions `e` and `ct`; `a` must be regular."""
    inverse = bind(inv_p, a)
    x, y = matmul(inverse, e), matmul(inverse, ct)
    trace_x, trace_y = sum_diagonal(x), sum_diagonal(y)
    scale = trace_x * trace_y - _trace_of_product(x, y)
    inner = matmul(x, y) + matmul(y, x) - spread(trace_x) * y - spread(trace_y) * x
    pulled = spread(scale) * inverse + matmul(inner, inverse)
    return matrix_transpose(spread(bind(det_p, a)) * pulled)


def sum_diagonal(x: Any) -> Any:
    """Return the traces of square matrices."""
    return sum_(keep_diagonal(x), axis=(-2, -1))


# Symmetric in its two directions, being a second derivative.
cofactor_change_p: Primitive = register(
    Primitive(
        name="cofactor_change",
        kind=Kind.LIBRARY,
        dtypes="fc",
        abstract_eval=same_aval,
        py="change_of_cofactors({0}, {1})",
        helpers=(change_of_cofactors,),
        vjps=(_third_derivative, lambda ct, out, a, e: bind(cofactor_change_p, a, ct)),
        batcher=batch_stacked(lambda a, e: bind(cofactor_change_p, *broadcast_stacks(a, e))),
        doc="Derivative of the matrices of cofactors in a direction: second derivative of det.",
    )
)


def _slogdet_avals(avals: tuple[Aval, ...], params: Params) -> tuple[Aval, Aval]:
    shape, dtype = avals[0].shape[:-2], avals[0].dtype
    return Aval(shape, dtype), Aval(shape, real_dtype(dtype))


def _slogdet_rule(ct: Any, out: Any, a: Any) -> Any:
    """With w = tr(inv(a) da): the logarithm moves by Re w, the sign s by i s Im w."""
    ct_sign, ct_log = ct
    dtype = aval_of(a).dtype
    factor = None if ct_log is None else astype(ct_log, dtype)
    if dtype.kind == "c" and ct_sign is not None:
        turn = make_complex(0.0, imag(ct_sign * out[0]))
        factor = turn if factor is None else factor + turn
    if factor is None:
        return None
    return spread(factor) * matrix_transpose(bind(inv_p, a))


def _slogdet_jvp(primals: Any, tangents: Any, out: Any) -> Any:
    change = _trace_of_product(bind(inv_p, primals[0]), tangents[0])
    if aval_of(change).dtype.kind != "c":
        return None, change
    return make_complex(0.0, imag(change)) * out[0], real(change)


slogdet_p: Primitive = register(
    Primitive(
        name="slogdet",
        kind=Kind.LIBRARY,
        dtypes="fc",
        multiple=True,
        abstract_eval=_slogdet_avals,
        py="xp.linalg.slogdet({0})",
        vjps=(_slogdet_rule,),
        jvp=_slogdet_jvp,
        batcher=batch_stacked(lambda a: bind(slogdet_p, a)),
        doc="Signs and logarithms of the absolute values of determinants.",
    )
)


@implements(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    """Sign and logarithm of determinants, as `numpy.linalg.slogdet`."""
    return SlogdetResult(*bind(slogdet_p, matrix_operand("slogdet", a, square=True)))
