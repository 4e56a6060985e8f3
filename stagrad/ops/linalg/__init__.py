"""Linear algebra: LAPACK's operations as primitives, and NumPy's functions over them."""

from stagrad.ops.linalg import (
    determinant,
    eigen,
    factorization,
    functions,
    least_squares,
    matrix_functions,
    norms,
    scipy_solvers,
    singular,
    solving,
    spectral,
    structured,
)

__all__ = [
    "determinant",
    "eigen",
    "factorization",
    "functions",
    "least_squares",
    "matrix_functions",
    "norms",
    "scipy_solvers",
    "singular",
    "solving",
    "spectral",
    "structured",
]
