"""scipy.linalg's solvers and factorizations, with SciPy's arguments.

Options that only say how to compute (overwrite_a, check_finite, a LAPACK driver) are accepted and
make no difference.
"""

from collections.abc import Sequence
from typing import Any

from stagrad.errors import ShapeError, UnsupportedError
from stagrad.ir import aval_of
from stagrad.ops.contraction import matmul, matrix_transpose
from stagrad.ops.convert import as_value
from stagrad.ops.define import implements_scipy
from stagrad.ops.linalg.common import (
    adjoint,
    columns,
    conj,
    identity_like,
    lapack_dtype,
    matrix_operand,
    offsets,
)
from stagrad.ops.linalg.determinant import det
from stagrad.ops.linalg.eigen import eig, eigh, eigvals, eigvalsh
from stagrad.ops.linalg.factorization import cholesky, qr
from stagrad.ops.linalg.least_squares import lstsq, pinv
from stagrad.ops.linalg.norms import norm
from stagrad.ops.linalg.singular import svd, svdvals
from stagrad.ops.linalg.solving import inv, solve, triangular_solution
from stagrad.ops.movement import astype, reshape
from stagrad.ops.selection import select


def _systems(name: str, a: Any, b: Any) -> tuple[Any, Any, bool]:
    """Return a matrix and right-hand sides of one dtype, and whether these were one vector."""
    a, b = matrix_operand(name, a, square=True), as_value(b)
    is_vector = aval_of(b).ndim == 1
    if is_vector:
        b = reshape(b, (*aval_of(b).shape, 1))
    if aval_of(b).ndim < 2 or aval_of(b).shape[-2] != aval_of(a).shape[-1]:
        raise ShapeError(f"{name}: incompatible dimensions: a is {aval_of(a)}, b is {aval_of(b)}")
    dtype = lapack_dtype(name, aval_of(a).dtype, aval_of(b).dtype)
    return astype(a, dtype), astype(b, dtype), is_vector


def _vector_again(x: Any, is_vector: bool) -> Any:
    return reshape(x, aval_of(x).shape[:-1]) if is_vector else x


def _mirrored(a: Any, lower: bool, hermitian: bool) -> Any:
    """Return the symmetric or Hermitian matrix of which one triangle is given."""
    other = adjoint(a) if hermitian else matrix_transpose(a)
    return select(offsets(a) <= 0 if lower else offsets(a) >= 0, a, other)


@implements_scipy("scipy.linalg.solve")
def solve_general(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: str | None = None,
    transposed: bool = False,
) -> Any:
    """Solve a x = b, as `scipy.linalg.solve`, by what is assumed of the matrix."""
    a, b, is_vector = _systems("solve", a, b)
    kind = assume_a or "general"
    if transposed:
        a, lower = matrix_transpose(a), not lower
    if kind in ("lower triangular", "upper triangular"):
        result = triangular_solution(a, b, (kind == "lower triangular") != transposed)
    elif kind in ("pos", "positive definite"):
        result = cho_solve((cholesky(a, upper=not lower), lower), b)
    elif kind in ("sym", "symmetric"):
        result = solve(_mirrored(a, lower, hermitian=False), b)
    elif kind in ("her", "hermitian"):
        result = solve(_mirrored(a, lower, hermitian=True), b)
    else:
        result = solve(a, b)
    return _vector_again(result, is_vector)


@implements_scipy("scipy.linalg.solve_triangular")
def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """Solve a x = b for a triangular matrix, as `scipy.linalg.solve_triangular`."""
    a, b, is_vector = _systems("solve_triangular", a, b)
    if trans in (1, "T"):
        a, lower = matrix_transpose(a), not lower
    elif trans in (2, "C"):
        a, lower = adjoint(a), not lower
    elif trans not in (0, "N"):
        raise ValueError(f"solve_triangular: trans is {trans!r}; it is 0, 1, 2, 'N', 'T' or 'C'")
    result = triangular_solution(a, b, bool(lower), bool(unit_diagonal))
    return _vector_again(result, is_vector)


@implements_scipy("scipy.linalg.inv")
def inverse(
    a: Any,
    overwrite_a: bool = False,
    check_finite: bool = True,
    *,
    assume_a: str | None = None,
    lower: bool = False,
) -> Any:
    """Inverse of a square matrix, as `scipy.linalg.inv`."""
    if assume_a in ("pos", "positive definite", "her", "hermitian", "sym", "symmetric"):
        a = matrix_operand("inv", a, square=True)
        return inv(_mirrored(a, lower, assume_a not in ("sym", "symmetric")))
    return inv(a)


@implements_scipy("scipy.linalg.det")
def determinant(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Determinant of a square matrix, as `scipy.linalg.det`."""
    return det(a)


@implements_scipy("scipy.linalg.cholesky")
def cholesky_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """Cholesky factor, the upper one by default, as `scipy.linalg.cholesky`."""
    return cholesky(a, upper=not lower)


@implements_scipy("scipy.linalg.cho_factor")
def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Any, bool]:
    """Cholesky factor for `cho_solve`; where SciPy leaves other numbers, there are zeros."""
    return cholesky(a, upper=not lower), lower


@implements_scipy("scipy.linalg.cho_solve")
def cho_solve(
    c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """Solve a x = b by a Cholesky factor of a, as `scipy.linalg.cho_solve`."""
    factor, lower = c_and_lower
    factor, b, is_vector = _systems("cho_solve", factor, b)
    other = adjoint(factor)
    first, second = (factor, other) if lower else (other, factor)
    result = triangular_solution(second, triangular_solution(first, b, True), False)
    return _vector_again(result, is_vector)


@implements_scipy("scipy.linalg.qr")
def qr_factors(
    a: Any,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> Any:
    """QR factorization, as `scipy.linalg.qr`; its derivative needs full rank and a reduced q."""
    if pivoting or mode == "raw":
        raise UnsupportedError("qr: pivoting=True and mode='raw' have no meaning inside a trace")
    if mode == "r":
        *_, m, n = aval_of(as_value(a)).shape
        factor = qr(a, "reduced")[1]
        return (factor if m <= n else qr(a, "complete")[1],)
    return tuple(qr(a, "reduced" if mode == "economic" else "complete"))


@implements_scipy("scipy.linalg.svd")
def singular_decomposition(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """Singular value decomposition, as `scipy.linalg.svd`."""
    return tuple(svd(a, full_matrices)) if compute_uv else svdvals(a)


@implements_scipy("scipy.linalg.svdvals")
def singular_values(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Singular values in descending order, as `scipy.linalg.svdvals`."""
    return svdvals(a)


def _standard_problem(name: str, a: Any, b: Any, lower: bool) -> tuple[Any, Any]:
    """Return l⁻¹ a l⁻ᴴ and the Cholesky factor l of b: a x = w b x becomes an ordinary problem."""
    a = matrix_operand(name, a, square=True)
    if b is None:
        return a, None
    b = matrix_operand(name, b, square=True)
    dtype = lapack_dtype(name, aval_of(a).dtype, aval_of(b).dtype)
    a, b = astype(a, dtype), astype(b, dtype)
    factor = cholesky(b if lower else adjoint(b))
    left = triangular_solution(factor, _mirrored(a, lower, hermitian=True), True)
    return adjoint(triangular_solution(factor, adjoint(left), True)), factor


def _refuse_selection(name: str, **options: Any) -> None:
    for option, value in options.items():
        if value is not None:
            raise UnsupportedError(
                f"{name}: {option}={value!r} makes the shape of the result depend on numbers, or "
                "is not supported; slice the result instead"
            )


def _chosen(subset_by_index: Sequence[int] | None) -> slice:
    if subset_by_index is None:
        return slice(None)
    first, last = subset_by_index
    return slice(int(first), int(last) + 1)


@implements_scipy("scipy.linalg.eigh")
def hermitian_eigenproblem(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: str | None = None,
) -> Any:
    """Eigenvalues and eigenvectors of a Hermitian matrix or pair, as `scipy.linalg.eigh`."""
    _refuse_selection("eigh", subset_by_value=subset_by_value)
    if b is not None and type != 1:
        raise UnsupportedError(f"eigh: type={type} is not supported inside a trace; use type=1")
    matrix, factor = _standard_problem("eigh", a, b, lower)
    chosen = _chosen(subset_by_index)
    triangle = "L" if lower or factor is not None else "U"
    if eigvals_only:
        return eigvalsh(matrix, triangle)[..., chosen]
    w, v = eigh(matrix, triangle)
    if factor is not None:
        v = triangular_solution(adjoint(factor), v, False)
    return w[..., chosen], v[..., chosen]


@implements_scipy("scipy.linalg.eigvalsh")
def hermitian_eigenvalues(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: str | None = None,
) -> Any:
    """Eigenvalues of a Hermitian matrix or pair, as `scipy.linalg.eigvalsh`."""
    return hermitian_eigenproblem(
        a,
        b,
        lower=lower,
        eigvals_only=True,
        type=type,
        subset_by_index=subset_by_index,
        subset_by_value=subset_by_value,
    )


@implements_scipy("scipy.linalg.eig")
def eigenproblem(
    a: Any,
    b: Any = None,
    left: bool = False,
    right: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Any:
    """Eigenvalues and right eigenvectors of a square matrix, as `scipy.linalg.eig`."""
    _refuse_selection(
        "eig", b=b, left=left or None, homogeneous_eigvals=homogeneous_eigvals or None
    )
    return tuple(eig(a)) if right else eigvals(a)


@implements_scipy("scipy.linalg.eigvals")
def eigenvalues(
    a: Any,
    b: Any = None,
    overwrite_a: bool = False,
    check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Any:
    """Eigenvalues of a square matrix, as `scipy.linalg.eigvals`."""
    return eigenproblem(a, b, right=False, homogeneous_eigvals=homogeneous_eigvals)


@implements_scipy("scipy.linalg.lstsq")
def least_squares_solution(
    a: Any,
    b: Any,
    cond: Any = None,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    lapack_driver: str | None = None,
) -> Any:
    """Least squares, as `scipy.linalg.lstsq`: solution, residuals, rank, singular values."""
    x, residuals, rank, s = lstsq(a, b, -1 if cond is None else cond)
    if aval_of(as_value(b)).ndim == 1 and aval_of(residuals).size:
        residuals = residuals[0]
    return x, residuals, rank, s


@implements_scipy("scipy.linalg.pinv")
def pseudo_inverse(
    a: Any,
    *,
    atol: Any = None,
    rtol: Any = None,
    return_rank: bool = False,
    check_finite: bool = True,
) -> Any:
    """Pseudo-inverse, as `scipy.linalg.pinv`."""
    _refuse_selection("pinv", atol=atol, return_rank=return_rank or None)
    return pinv(a, rtol=rtol)


@implements_scipy("scipy.linalg.pinvh")
def hermitian_pseudo_inverse(
    a: Any,
    atol: Any = None,
    rtol: Any = None,
    lower: bool = True,
    return_rank: bool = False,
    check_finite: bool = True,
) -> Any:
    """Pseudo-inverse of a Hermitian matrix, as `scipy.linalg.pinvh`."""
    _refuse_selection("pinvh", atol=atol, return_rank=return_rank or None)
    a = matrix_operand("pinvh", a, square=True)
    return pinv(_mirrored(a, lower, hermitian=True), rtol=rtol)


@implements_scipy("scipy.linalg.norm")
def matrix_or_vector_norm(
    a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True
) -> Any:
    """Norm of a vector or matrix, as `scipy.linalg.norm`."""
    return norm(a, ord, axis, keepdims)


@implements_scipy("scipy.linalg.polar")
def polar(a: Any, side: str = "right") -> tuple[Any, Any]:
    """Polar decomposition, as `scipy.linalg.polar`."""
    u, s, vh = svd(a, full_matrices=False)
    if side == "right":
        return matmul(u, vh), matmul(adjoint(vh) * columns(s), vh)
    if side == "left":
        return matmul(u, vh), matmul(u * columns(s), adjoint(u))
    raise ValueError(f"polar: side is {side!r}; it is 'right' or 'left'")


@implements_scipy("scipy.linalg.solve_discrete_lyapunov")
def solve_discrete_lyapunov(a: Any, q: Any, method: Any = None) -> Any:
    """Solve a x aᴴ - x + q = 0, as `scipy.linalg.solve_discrete_lyapunov`."""
    a = matrix_operand("solve_discrete_lyapunov", a, square=True)
    q = matrix_operand("solve_discrete_lyapunov", q, square=True)
    n = aval_of(a).shape[-1]
    pairs = reshape(a, (n, 1, n, 1)) * reshape(conj(a), (1, n, 1, n))
    system = reshape(pairs, (n * n, n * n))
    return reshape(solve(identity_like(system) - system, reshape(q, (n * n,))), (n, n))
