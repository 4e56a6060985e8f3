"""Eigenvalues and eigenvectors, of symmetric (Hermitian) and of general matrices."""

from typing import Any

import numpy as np
import numpy as xp

from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.complex import real
from stagrad.ops.contraction import matmul, matrix_transpose
from stagrad.ops.define import implements
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
    skew_part,
)
from stagrad.ops.linalg.gaps import differences, largest, over_gaps
from stagrad.ops.linalg.results import EighResult, EigResult
from stagrad.ops.linalg.solving import solve_p
from stagrad.ops.movement import astype


def _eigh_avals(avals: tuple[Aval, ...], params: Params) -> tuple[Aval, Aval]:
    aval = avals[0]
    return Aval(aval.shape[:-1], real_dtype(aval.dtype)), Aval(aval.shape, aval.dtype)


# The matrix is symmetric (Hermitian) by assumption, one triangle being read; the derivative is
# symmetrised. `spectral` says that the loss depends on the eigenvalues too, by another operation.
def _eigh_rule(ct: Any, out: Any, a: Any, *, uplo: str, spectral: bool) -> Any:
    (ct_w, ct_v), (w, v) = ct, out
    if ct_v is None:
        return _of_values(ct_w, v)
    turned = matmul(matrix_transpose(v), ct_v)
    numerator = keep_off_diagonal(skew_part(turned))
    evidence = keep_off_diagonal(hermitian_part(turned))
    size = largest(columns(w))
    ambiguous = spectral or ct_w is not None
    inner = over_gaps(numerator, differences(w), size, evidence, ambiguous=ambiguous)
    if ct_w is not None:
        inner = inner + _on_diagonal(ct_w, v)
    return chain(conj(v), inner, matrix_transpose(v))


def _of_values(ct: Any, v: Any) -> Any:
    """Return conj(v) diag(ct) vᵀ, as a product that `recognize` knows for a function of the matrix.

    So the second derivative of a function of the eigenvalues is right where they coincide.
    """
    return conj(matmul(v * columns(ct), adjoint(v)))


def _on_diagonal(w: Any, v: Any) -> Any:
    """Return the diagonal matrices of `w`, in the dtype of `v`."""
    return astype(columns(w), aval_of(v).dtype) * identity_like(v)


def _eigh_jvp(primals: Any, tangents: Any, out: Any, *, uplo: str, spectral: bool) -> Any:
    w, v = out
    change = chain(adjoint(v), hermitian_part(tangents[0]), v)
    numerator = keep_off_diagonal(change)
    size = largest(columns(w))
    turn = over_gaps(numerator, differences(w), size, change, ambiguous=False)
    return real(diagonal_of(change)), matmul(v, turn)


eigh_p: Primitive = register(
    Primitive(
        name="eigh",
        kind=Kind.LIBRARY,
        dtypes="fc",
        multiple=True,
        abstract_eval=_eigh_avals,
        py=lambda params, arity: _triangle_text("eigh", params),
        vjps=(_eigh_rule,),
        jvp=_eigh_jvp,
        batcher=batch_stacked(lambda a, **params: bind(eigh_p, a, **params)),
        doc="Eigenvalues, ascending, and eigenvectors of symmetric or Hermitian matrices.",
    )
)


def _triangle_text(name: str, params: Params) -> str:
    return f"xp.linalg.{name}({{0}}{', UPLO={uplo}' if params['uplo'] != 'L' else ''})"


def _eigvalsh_rule(ct: Any, out: Any, a: Any, *, uplo: str) -> Any:
    _, v = bind(eigh_p, a, uplo=uplo, spectral=True)
    return _of_values(ct, v)


def _eigvalsh_jvp(primals: Any, tangents: Any, out: Any, *, uplo: str) -> Any:
    _, v = bind(eigh_p, primals[0], uplo=uplo, spectral=True)
    return real(diagonal_of(chain(adjoint(v), hermitian_part(tangents[0]), v)))


eigvalsh_p: Primitive = register(
    Primitive(
        name="eigvalsh",
        kind=Kind.LIBRARY,
        dtypes="fc",
        abstract_eval=lambda avals, params: _eigh_avals(avals, params)[0],
        py=lambda params, arity: _triangle_text("eigvalsh", params),
        vjps=(_eigvalsh_rule,),
        jvp=_eigvalsh_jvp,
        batcher=batch_stacked(lambda a, **params: bind(eigvalsh_p, a, **params)),
        doc="Eigenvalues, ascending, of symmetric or Hermitian matrices.",
    )
)


def _triangle(name: str, uplo: str) -> str:
    if uplo.upper() not in ("L", "U"):
        raise ValueError(f"{name}: UPLO argument must be 'L' or 'U', not {uplo!r}")
    return uplo.upper()


@implements(np.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues and eigenvectors of Hermitian matrices, as `numpy.linalg.eigh`."""
    a = matrix_operand("eigh", a, square=True)
    return EighResult(*bind(eigh_p, a, uplo=_triangle("eigh", UPLO), spectral=False))


@implements(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues of Hermitian matrices, as `numpy.linalg.eigvalsh`."""
    a = matrix_operand("eigvalsh", a, square=True)
    return bind(eigvalsh_p, a, uplo=_triangle("eigvalsh", UPLO))


# NumPy answers with real eigenvalues when all of them happen to be real. A dtype cannot depend on
# numbers while a function is traced, so these are always complex.
def complex_eig(a):  # type: ignore[no-untyped-def]
    """Return eigenvalues and eigenvectors in a complex dtype, whatever the numbers are."""
    w, v = xp.linalg.eig(a)
    dtype = xp.result_type(a, xp.complex64)
    return w.astype(dtype), v.astype(dtype)


def complex_eigvals(a):  # type: ignore[no-untyped-def]
    """Return eigenvalues in a complex dtype, whatever the numbers are."""
    return xp.linalg.eigvals(a).astype(xp.result_type(a, xp.complex64))


def _complex_of(dtype: np.dtype) -> np.dtype:
    return np.result_type(dtype, np.complex64)


def _eig_avals(avals: tuple[Aval, ...], params: Params) -> tuple[Aval, Aval]:
    aval, dtype = avals[0], _complex_of(avals[0].dtype)
    return Aval(aval.shape[:-1], dtype), Aval(aval.shape, dtype)


def _similar(inner: Any, v: Any, a: Any) -> Any:
    """Return v⁻ᵀ inner vᵀ, in the dtype of the matrix `a` that v belongs to."""
    pulled = bind(solve_p, matrix_transpose(v), matmul(inner, matrix_transpose(v)))
    return pulled if aval_of(a).dtype.kind == "c" else real(pulled)


def _eig_rule(ct: Any, out: Any, a: Any) -> Any:
    (ct_w, ct_v), (w, v) = ct, out
    inner = None if ct_w is None else columns(ct_w) * identity_like(v)
    if ct_v is not None:
        turned = matmul(matrix_transpose(v), ct_v)
        # Columns of v have norm one: what would stretch them is taken out.
        lengths = astype(columns(real(diagonal_of(turned))), aval_of(v).dtype)
        stretch = matmul(matrix_transpose(v), conj(v)) * lengths
        numerator = keep_off_diagonal(turned - stretch)
        size = largest(columns(w))
        term = over_gaps(numerator, differences(w), size, turned, ambiguous=False)
        inner = term if inner is None else inner + term
    return _similar(inner, v, a)


def _eig_jvp(primals: Any, tangents: Any, out: Any) -> Any:
    w, v = out
    moved = astype(tangents[0], aval_of(v).dtype)
    change = bind(solve_p, v, matmul(moved, v))
    numerator = keep_off_diagonal(change)
    size = largest(columns(w))
    turned = matmul(v, over_gaps(numerator, differences(w), size, change, ambiguous=False))
    lengths = astype(real(diagonal_of(matmul(adjoint(v), turned))), aval_of(v).dtype)
    return diagonal_of(change), turned - v * columns(lengths)


eig_p: Primitive = register(
    Primitive(
        name="eig",
        kind=Kind.LIBRARY,
        dtypes="fc",
        multiple=True,
        abstract_eval=_eig_avals,
        py="complex_eig({0})",
        helpers=(complex_eig,),
        vjps=(_eig_rule,),
        jvp=_eig_jvp,
        batcher=batch_stacked(lambda a: bind(eig_p, a)),
        doc="Eigenvalues and eigenvectors of general matrices, always complex.",
    )
)


def _eigvals_rule(ct: Any, out: Any, a: Any) -> Any:
    _, v = bind(eig_p, a)
    return _similar(columns(ct) * identity_like(v), v, a)


def _eigvals_jvp(primals: Any, tangents: Any, out: Any) -> Any:
    _, v = bind(eig_p, primals[0])
    moved = astype(tangents[0], aval_of(v).dtype)
    return diagonal_of(bind(solve_p, v, matmul(moved, v)))


eigvals_p: Primitive = register(
    Primitive(
        name="eigvals",
        kind=Kind.LIBRARY,
        dtypes="fc",
        abstract_eval=lambda avals, params: _eig_avals(avals, params)[0],
        py="complex_eigvals({0})",
        helpers=(complex_eigvals,),
        vjps=(_eigvals_rule,),
        jvp=_eigvals_jvp,
        batcher=batch_stacked(lambda a: bind(eigvals_p, a)),
        doc="Eigenvalues of general matrices, always complex.",
    )
)


@implements(np.linalg.eig)
def eig(a: Any) -> Any:
    """Eigenvalues and eigenvectors, as `numpy.linalg.eig`, but complex even where all are real."""
    return EigResult(*bind(eig_p, matrix_operand("eig", a, square=True)))


@implements(np.linalg.eigvals)
def eigvals(a: Any) -> Any:
    """Eigenvalues, as `numpy.linalg.eigvals`, but complex even where all are real."""
    return bind(eigvals_p, matrix_operand("eigvals", a, square=True))
