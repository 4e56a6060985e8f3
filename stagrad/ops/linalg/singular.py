"""Singular values and vectors."""

from typing import Any

import numpy as np

from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.complex import absolute, real, sign
from stagrad.ops.contraction import matmul, matrix_transpose
from stagrad.ops.define import FUNCTIONS, implements
from stagrad.ops.linalg.common import (
    adjoint,
    batch_stacked,
    chain,
    columns,
    conj,
    diagonal_of,
    hermitian_part,
    identity_like,
    keep_off_diagonal,
    matrix_operand,
    real_dtype,
    rows,
    skew_part,
)
from stagrad.ops.linalg.eigen import eigh, eigvalsh
from stagrad.ops.linalg.gaps import differences, largest, over_gaps
from stagrad.ops.linalg.results import SVDResult
from stagrad.ops.movement import astype


def _svd_avals(avals: tuple[Aval, ...], params: Params) -> tuple[Aval, Aval, Aval]:
    *batch, m, n = avals[0].shape
    dtype, k = avals[0].dtype, min(m, n)
    left, right = (m, n) if params["full"] else (k, k)
    return (
        Aval((*batch, m, left), dtype),
        Aval((*batch, k), real_dtype(dtype)),
        Aval((*batch, right, n), dtype),
    )


# With a = u s vᴴ and uᴴ da v = dp, the turns x = uᴴ du and y = vᴴ dv solve
#   x + y = (dp + dpᴴ) / (s_j - s_i),   x - y = (dp - dpᴴ) / (s_j + s_i),
# of which only the first has gaps that close. The squares s_j² - s_i² are never formed.
# What leaves the span of u moves by (da v - u dp) / s, and v likewise. The further columns of full
# matrices may be any basis of the rest: they are moved just so far as to stay orthogonal.
def _svd_rule(ct: Any, out: Any, a: Any, *, full: bool, spectral: bool) -> Any:
    (ct_u, ct_s, ct_vh), (u, s, vh) = ct, out
    k = aval_of(s).shape[-1]
    u1, vh1 = u[..., :k], vh[..., :k, :]
    turned_u = None if ct_u is None else matmul(matrix_transpose(u1), ct_u[..., :k])
    turned_v = None if ct_vh is None else matmul(conj(vh1), adjoint(ct_vh[..., :k, :]))
    inner = None
    if ct_s is not None:
        inner = _values_on_diagonal(ct_s, s, u)
    if turned_u is not None or turned_v is not None:
        term = _pull_turns(turned_u, turned_v, s, spectral or ct_s is not None)
        inner = term if inner is None else inner + term
    pulled = chain(conj(u1), inner, conj(vh1))
    m, n = aval_of(a).shape[-2:]
    if m > k and ct_u is not None:
        side = ct_u[..., :k] - matmul(conj(u1), turned_u)
        if full:
            mixed = matmul(matrix_transpose(u1), ct_u[..., k:])
            side = side - matmul(conj(u[..., k:]), adjoint(mixed))
        pulled = pulled + matmul(_over_values(side, columns(s), ct_u), conj(vh1))
    if n > k and ct_vh is not None:
        side = ct_vh[..., :k, :] - matmul(adjoint(turned_v), conj(vh1))
        if full:
            mixed = matmul(conj(vh1), adjoint(ct_vh[..., k:, :]))
            side = side - matmul(mixed, conj(vh[..., k:, :]))
        pulled = pulled + matmul(conj(u1), _over_values(side, rows(s), ct_vh))
    return pulled


def _values_on_diagonal(ct: Any, s: Any, u: Any) -> Any:
    """Return the cotangent of singular values as diagonal matrices, zero for a value of zero.

    A singular value at zero has the kink of a modulus, whose slope is zero by convention.
    """
    square = s[..., None] * s[..., None, :]
    return astype(columns(ct * sign(s)), aval_of(u).dtype) * identity_like(square)


def _pull_turns(turned_u: Any, turned_v: Any, s: Any, ambiguous: bool) -> Any:
    if turned_v is None:
        total, difference = turned_u, turned_u
    elif turned_u is None:
        total, difference = turned_v, -turned_v
    else:
        total, difference = turned_u + turned_v, turned_u - turned_v
    size = largest(columns(s))
    evidence = keep_off_diagonal(hermitian_part(total))
    across = over_gaps(
        keep_off_diagonal(skew_part(total)), differences(s), size, evidence, ambiguous=ambiguous
    )
    sums = rows(s) + columns(s)
    return across + over_gaps(skew_part(difference), sums, size, total, ambiguous=False)


def _over_values(side: Any, s: Any, evidence: Any) -> Any:
    return over_gaps(side, s, largest(s), evidence, ambiguous=False)


def _svd_jvp(primals: Any, tangents: Any, out: Any, *, full: bool, spectral: bool) -> Any:
    (da,), (u, s, vh) = tangents, out
    k = aval_of(s).shape[-1]
    u1, v1 = u[..., :k], adjoint(vh[..., :k, :])
    change = chain(adjoint(u1), da, v1)
    size = largest(columns(s))
    total = keep_off_diagonal(hermitian_part(change))
    across = over_gaps(total, differences(s), size, change, ambiguous=False)
    sums = rows(s) + columns(s)
    along = over_gaps(skew_part(change), sums, size, change, ambiguous=False)
    du, dv = matmul(u1, across + along), matmul(v1, across - along)
    m, n = aval_of(primals[0]).shape[-2:]
    if m > k:
        du = du + _over_values(matmul(da, v1) - matmul(u1, change), columns(s), change)
    if n > k:
        side = matmul(adjoint(da), u1) - matmul(v1, adjoint(change))
        dv = dv + _over_values(side, columns(s), change)
    ds = real(diagonal_of(change)) * sign(s)
    if full and m > k:
        rest = -chain(u1, adjoint(du), u[..., k:])
        du = FUNCTIONS[np.concatenate]([du, rest], axis=-1)
    dvh = adjoint(dv)
    if full and n > k:
        rest = -chain(vh[..., k:, :], dv, adjoint(v1))
        dvh = FUNCTIONS[np.concatenate]([dvh, rest], axis=-2)
    return du, ds, dvh


svd_p: Primitive = register(
    Primitive(
        name="svd",
        kind=Kind.LIBRARY,
        dtypes="fc",
        multiple=True,
        abstract_eval=_svd_avals,
        py=lambda params, arity: (
            f"xp.linalg.svd({{0}}{'' if params['full'] else ', full_matrices=False'})"
        ),
        vjps=(_svd_rule,),
        jvp=_svd_jvp,
        batcher=batch_stacked(lambda a, **params: bind(svd_p, a, **params)),
        doc="Left singular vectors, singular values in descending order, right singular vectors.",
    )
)


def _svdvals_rule(ct: Any, out: Any, a: Any) -> Any:
    u, s, vh = bind(svd_p, a, full=False, spectral=True)
    weighted = conj(u) * astype(columns(ct * sign(s)), aval_of(u).dtype)
    return matmul(weighted, conj(vh))


def _svdvals_jvp(primals: Any, tangents: Any, out: Any) -> Any:
    u, s, vh = bind(svd_p, primals[0], full=False, spectral=True)
    return real(diagonal_of(chain(adjoint(u), tangents[0], adjoint(vh)))) * sign(s)


svdvals_p: Primitive = register(
    Primitive(
        name="svdvals",
        kind=Kind.LIBRARY,
        dtypes="fc",
        abstract_eval=lambda avals, params: _svd_avals(avals, {"full": False})[1],
        py="xp.linalg.svd({0}, compute_uv=False)",
        vjps=(_svdvals_rule,),
        jvp=_svdvals_jvp,
        batcher=batch_stacked(lambda a: bind(svdvals_p, a)),
        doc="Singular values in descending order.",
    )
)


@implements(np.linalg.svd)
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Singular value decomposition, as `numpy.linalg.svd`."""
    if hermitian:
        return _hermitian_svd(a, compute_uv)
    a = matrix_operand("svd", a)
    if not compute_uv:
        return bind(svdvals_p, a)
    m, n = aval_of(a).shape[-2:]
    return SVDResult(*bind(svd_p, a, full=bool(full_matrices) and m != n, spectral=False))


def _hermitian_svd(a: Any, compute_uv: bool) -> Any:
    """Return singular values, and vectors, of Hermitian matrices from their eigenvalues."""
    if not compute_uv:
        return FUNCTIONS[np.sort](absolute(eigvalsh(a)), axis=-1)[..., ::-1]
    w, v = eigh(a)
    order = FUNCTIONS[np.argsort](absolute(w))[..., ::-1]
    take = FUNCTIONS[np.take_along_axis]
    w = take(w, order, axis=-1)
    u = take(v, order[..., None, :], axis=-1)
    return SVDResult(u, absolute(w), adjoint(u * columns(sign(w))))


@implements(np.linalg.svdvals)
def svdvals(x: Any, /) -> Any:
    """Singular values in descending order, as `numpy.linalg.svdvals`."""
    return bind(svdvals_p, matrix_operand("svdvals", x))
