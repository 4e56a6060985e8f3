"""`stagrad.linalg`: decompositions, systems of equations and norms, with PyTorch's arguments."""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.eager.functions.products import matmul
from stagrad.eager.functions.registry import axes_of, function, returned
from stagrad.eager.translation import LinAlgError
from stagrad.ir import aval_of
from stagrad.ops.convert import cast
from stagrad.ops.define import FUNCTIONS, SCIPY

Eigh = returned("linalg_eigh", "eigenvalues", "eigenvectors")
Eig = returned("linalg_eig", "eigenvalues", "eigenvectors")
Svd = returned("linalg_svd", "U", "S", "Vh")
Qr = returned("linalg_qr", "Q", "R")
Slogdet = returned("linalg_slogdet", "sign", "logabsdet")
Lstsq = returned("linalg_lstsq", "solution", "residuals", "rank", "singular_values")


def linear(label: str) -> Callable[..., Any]:
    """Return the decorator for a function of this module alone."""
    return function(label, method=False, module=False)


def _same_name(name: str, implementation: Callable[..., Any], label: str, what: str) -> Any:
    def body(A: Any) -> Any:
        return implementation(A)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = f"Return {what}; matrices are the last two axes."
    return linear(label)(body)


inv = _same_name("inv", np.linalg.inv, "LinalgInvExBackward0", "the inverse")
det = _same_name("det", np.linalg.det, "LinalgDetBackward0", "the determinant")
svdvals = _same_name(
    "svdvals", np.linalg.svdvals, "LinalgSvdBackward0", "the singular values in descending order"
)
matrix_exp = _same_name(
    "matrix_exp", SCIPY["scipy.linalg.expm"], "LinalgMatrixExpBackward0", "the matrix exponential"
)


@linear("LinalgSlogdetBackward0")
def slogdet(A: Any) -> Any:
    """Return the sign of the determinant and the logarithm of its size."""
    return Slogdet(*np.linalg.slogdet(A))


@linear("LinalgCholeskyExBackward0")
def cholesky(A: Any, *, upper: bool = False) -> Any:
    """Return the triangular factor L of A = L L^H."""
    return np.linalg.cholesky(A, upper=upper)


@linear("LinalgQrBackward0")
def qr(A: Any, mode: str = "reduced") -> Any:
    """Return factors Q, orthogonal, and R, upper triangular."""
    return Qr(*FUNCTIONS[np.linalg.qr](A, mode))


@linear("LinalgEighBackward0")
def eigh(A: Any, UPLO: str = "L") -> Any:
    """Return eigenvalues in ascending order and eigenvectors of a Hermitian matrix."""
    return Eigh(*FUNCTIONS[np.linalg.eigh](A, UPLO))


@linear("LinalgEighBackward0")
def eigvalsh(A: Any, UPLO: str = "L") -> Any:
    """Return the eigenvalues of a Hermitian matrix in ascending order."""
    return FUNCTIONS[np.linalg.eigvalsh](A, UPLO)


@linear("LinalgEigBackward0")
def eig(A: Any) -> Any:
    """Return eigenvalues and eigenvectors, complex."""
    return Eig(*map(_as_complex, np.linalg.eig(A)))


@linear("LinalgEigBackward0")
def eigvals(A: Any) -> Any:
    """Return the eigenvalues, complex."""
    return _as_complex(np.linalg.eigvals(A))


def _as_complex(value: Any) -> Any:
    """Return a value as complex: NumPy's are real where all of them happen to be."""
    return cast(value, np.result_type(aval_of(value).dtype, np.complex64), copy=False)


@linear("LinalgSvdBackward0")
def svd(A: Any, full_matrices: bool = True, *, driver: Any = None) -> Any:
    """Return U, the singular values and V^H."""
    return Svd(*np.linalg.svd(A, full_matrices))


@linear("LinalgSolveExBackward0")
def solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """Return X with A X = B, or X A = B where `left` is False."""
    if not left:
        solved = np.linalg.solve(np.matrix_transpose(A), np.matrix_transpose(B))
        return np.matrix_transpose(solved)
    shape, other = aval_of(A).shape, aval_of(B).shape
    # PyTorch takes B for a batch of vectors where its shape is that of A without an axis.
    if len(other) == 1 or (len(other) == len(shape) - 1 and other == shape[:-1]):
        return np.squeeze(np.linalg.solve(A, np.expand_dims(B, -1)), -1)
    return np.linalg.solve(A, B)


@linear("LinalgSolveTriangularBackward0")
def solve_triangular(
    A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    """Return X with A X = B for a triangular A, or X A = B where `left` is False."""
    solved = SCIPY["scipy.linalg.solve_triangular"]
    options: Any = {"unit_diagonal": unitriangular}
    if left:
        return solved(A, B, lower=not upper, **options)
    turned = solved(np.matrix_transpose(A), np.matrix_transpose(B), lower=upper, **options)
    return np.matrix_transpose(turned)


@linear("LinalgLstsqBackward0")
def lstsq(A: Any, B: Any, rcond: Any = None, *, driver: Any = None) -> Any:
    """Return the X of least |A X - B|, with residuals, rank and singular values."""
    empty = np.zeros(0, aval_of(A).dtype)
    rows, columns = aval_of(A).shape[-2:]
    is_vector = aval_of(B).ndim < aval_of(A).ndim
    target = np.expand_dims(B, -1) if is_vector else B
    if aval_of(A).ndim == 2:
        solution = np.linalg.lstsq(A, target, rcond)[0]
    else:
        solution = np.matmul(np.linalg.pinv(A), target)
    residuals: Any = empty
    if rows > columns:
        residuals = np.sum(np.abs(np.matmul(A, solution) - target) ** 2, axis=-2)
    if is_vector:
        solution = np.squeeze(solution, -1)
    return Lstsq(solution, residuals, np.zeros(0, np.int64), empty)


@linear("LinalgPinvBackward0")
def pinv(A: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    """Return the pseudo-inverse; `rtol` is what singular values count from, of the largest."""
    return np.linalg.pinv(A, rtol, hermitian)


@linear("MmBackward0")
def matrix_power(A: Any, n: int) -> Any:
    """Return a matrix multiplied with itself n times."""
    return np.linalg.matrix_power(A, n)


@linear("LinalgMatrixRankBackward0")
def matrix_rank(A: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    """Return how many singular values are not negligible."""
    return np.asarray(np.linalg.matrix_rank(getattr(A, "_array", A), atol, hermitian, rtol=rtol))


@linear("LinalgMultiDotBackward0")
def multi_dot(tensors: Any) -> Any:
    """Return the product of several matrices."""
    return np.linalg.multi_dot(list(tensors))


@linear("LinalgCondBackward0")
def cond(A: Any, p: Any = None) -> Any:
    """Return the condition number."""
    return np.linalg.cond(A, p)


@linear("LinalgVectorNormBackward0")
def vector_norm(
    x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """Return the vector norm of order `ord` of all elements or along axes."""
    if dim is None:
        result = np.linalg.vector_norm(np.reshape(x, -1), ord=ord)
        return np.reshape(result, (1,) * aval_of(x).ndim) if keepdim else result
    return np.linalg.vector_norm(x, axis=axes_of(dim, x), ord=ord, keepdims=keepdim)


@linear("LinalgVectorNormBackward0")
def matrix_norm(
    A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """Return the matrix norm of order `ord` over two axes."""
    return np.linalg.norm(A, ord, axis=axes_of(dim, A), keepdims=keepdim)


@linear("LinalgVectorNormBackward0")
def norm(
    A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """Return a vector or a matrix norm, by how many axes there are."""
    axes = axes_of(dim, A)
    if ord is None:
        flat = axes is None
        result = np.linalg.vector_norm(A, axis=axes, keepdims=keepdim and not flat)
        return np.reshape(result, (1,) * aval_of(A).ndim) if flat and keepdim else result
    if axes is None and aval_of(A).ndim > 2:
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{aval_of(A).ndim}D."
        )
    return np.linalg.norm(A, ord, axis=axes, keepdims=keepdim)


@linear("LinalgVecdotBackward0")
def vecdot(x: Any, y: Any, *, dim: int = -1) -> Any:
    """Return sums of products along an axis, the first operand conjugated."""
    dtype = np.result_type(aval_of(x).dtype, aval_of(y).dtype)
    return cast(FUNCTIONS[np.linalg.vecdot](x, y, axis=dim), dtype, copy=False)


@linear("LinalgCrossBackward0")
def cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """Return the cross products of vectors along an axis of extent three."""
    return np.cross(input, other, axis=dim)


@linear("LinalgTensorinvBackward0")
def tensorinv(A: Any, ind: int = 2) -> Any:
    """Return the inverse of a tensor as a map between groups of axes."""
    return np.linalg.tensorinv(A, ind)


@linear("LinalgTensorsolveBackward0")
def tensorsolve(A: Any, B: Any, dims: Any = None) -> Any:
    """Return X with tensordot(A, X) = B."""
    return np.linalg.tensorsolve(A, B, dims)


@linear("LinalgVanderBackward0")
def vander(x: Any, N: int | None = None) -> Any:
    """Return matrices of rising powers of the last axis."""
    count = aval_of(x).shape[-1] if N is None else N
    columns = [np.ones(aval_of(x).shape, aval_of(x).dtype)]
    for _ in range(count - 1):
        columns.append(columns[-1] * x)
    return np.stack(columns, axis=-1)


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Return a view of the diagonals of matrices."""
    from stagrad.eager.functions.diagonals import diagonal as view

    return view(A, offset, dim1, dim2)


@function("WhereBackward0")
def logdet(input: Any) -> Any:
    """Return the logarithm of the determinant; NaN where that is negative."""
    sign, size = np.linalg.slogdet(input)
    return np.where(np.less(getattr(sign, "_array", sign), 0), np.nan, size)


@function("CholeskySolveBackward0")
def cholesky_solve(input: Any, L: Any, upper: bool = False) -> Any:
    """Return X with A X = input, A given by its Cholesky factor."""
    solved = SCIPY["scipy.linalg.solve_triangular"]
    lower = np.conjugate(np.matrix_transpose(L)) if upper else L
    half = solved(lower, input, lower=True)
    return solved(np.conjugate(np.matrix_transpose(lower)), half, lower=False)


matrix_transpose, outer = np.linalg.matrix_transpose, np.linalg.outer
tensordot, trace = np.linalg.tensordot, np.linalg.trace
"""What the array API standard has here and PyTorch has not; NumPy's take tensors."""

__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals",
    "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank",
    "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve",
    "solve_triangular", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace",
    "vander", "vecdot", "vector_norm",
]  # fmt: skip
