"""Linear algebra and transforms."""

import numpy as np
import scipy.linalg


def solve_triangular(a, b, upper, left=True, unitriangular=False):
    a = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        identity = np.eye(a.shape[-1])
        a = a * (1 - identity) + identity
    if left:
        return np.linalg.solve(a, b)
    return np.swapaxes(np.linalg.solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)


def cholesky_solve(b, factor, upper):
    factor = np.swapaxes(np.triu(factor), -1, -2) if upper else np.tril(factor)
    return np.linalg.solve(factor @ np.swapaxes(factor, -1, -2), b)


def least_squares(a, b, driver):
    return np.linalg.pinv(a) @ b


def vandermonde(x, N=None):
    return x[..., None] ** np.arange(x.shape[-1] if N is None else N)


def fourier(x, dim):
    return np.fft.fft(x, axis=dim)


SPELLINGS = {
    "linalg.solve_triangular": solve_triangular,
    "cholesky_solve": cholesky_solve,
    "linalg.lstsq.grad_oriented": least_squares,
    "matrix_exp": scipy.linalg.expm,
    "linalg.vander": vandermonde,
    "fft.fft2": fourier,
    "fft.fftn": fourier,
}
