"""What autograd's namespaces have beyond NumPy's, or define otherwise, written in NumPy."""

import numpy


def where(condition, x=None, y=None):
    """`numpy.where` with keywords; what it chooses between Python objects stays one."""
    if x is None:
        return numpy.where(condition)
    if isinstance(condition, bool) and not hasattr(x if condition else y, "dtype"):
        return x if condition else y
    return numpy.where(condition, x, y)


def make_diagonal(diagonal, offset=0, axis1=-1, axis2=-2):
    """Return arrays of two more axes' extent, zero off their diagonals."""
    return diagonal[..., None] * numpy.eye(diagonal.shape[-1])


def transposed(matrices):
    """Exchange the last two axes."""
    return numpy.swapaxes(matrices, -1, -2)


def _read_triangle(matrices, triangle):
    """Return the Hermitian matrices of which LAPACK reads one triangle."""
    strict = numpy.tril(matrices, -1) if triangle == "L" else numpy.triu(matrices, 1)
    diagonal = make_diagonal(numpy.real(numpy.diagonal(matrices, axis1=-2, axis2=-1)))
    return strict + numpy.conj(transposed(strict)) + diagonal


def eigh(matrices, UPLO="L"):
    """`numpy.linalg.eigh`, its derivative that of a function of one triangle, as in autograd."""
    return numpy.linalg.eigh(_read_triangle(matrices, UPLO), UPLO)


NUMPY = {"where": where, "make_diagonal": make_diagonal}
LINALG = {"T": transposed, "_dot": numpy.matmul, "eigh": eigh}
