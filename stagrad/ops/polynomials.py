"""Polynomials given by their coefficients, the highest power first, as NumPy's poly* functions."""

from typing import Any

import numpy as np

from stagrad.errors import ShapeError, UnsupportedError
from stagrad.ir import aval_of
from stagrad.ops.convert import as_array
from stagrad.ops.creation import vander, zeros_like
from stagrad.ops.define import FUNCTIONS, UFUNCS, implements
from stagrad.ops.joining import concatenate
from stagrad.ops.movement import astype, constant, zeros
from stagrad.ops.shaping import atleast_1d


@implements(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """Return the polynomial's value at every element of `x`, by Horner's scheme."""
    point = as_array(x)
    value = zeros_like(point)
    for coefficient in as_array(p):
        value = value * point + coefficient
    return value


@implements(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    """Return the sum of two polynomials."""
    first, second = atleast_1d(a1, a2)
    missing = aval_of(first).size - aval_of(second).size
    return _lengthened(first, -missing) + _lengthened(second, missing)


def _lengthened(coefficients: Any, count: int) -> Any:
    if count <= 0:
        return coefficients
    return concatenate((np.zeros(count, aval_of(coefficients).dtype), coefficients))


@implements(np.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    """Return the difference of two polynomials."""
    return polyadd(a1, -atleast_1d(a2))


@implements(np.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    """Return the product of two polynomials."""
    return FUNCTIONS[np.convolve](as_array(a1), as_array(a2))


@implements(np.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    """Return the derivative of order `m`."""
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    coefficients = as_array(p)
    for _ in range(m):
        degree = aval_of(coefficients).size - 1
        coefficients = coefficients[:-1] * np.arange(degree, 0, -1)
    return coefficients


@implements(np.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """Return the antiderivative of order `m` with integration constants `k`."""
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = atleast_1d(np.zeros(m) if k is None else k)
    if aval_of(constants).size == 1:
        constants = FUNCTIONS[np.broadcast_to](constants, (m,))
    if aval_of(constants).size < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    coefficients = as_array(p)
    for number in range(m):
        powers = np.arange(aval_of(coefficients).size, 0, -1)
        coefficients = concatenate((coefficients / powers, constants[number : number + 1]))
    return coefficients


@implements(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    """Return the coefficients of the polynomial with these roots; complex roots keep it complex."""
    roots = atleast_1d(seq_of_zeros)
    if aval_of(roots).ndim == 2:
        roots = FUNCTIONS[np.linalg.eigvals](roots)
    if aval_of(roots).ndim != 1:
        raise ShapeError("input must be 1d or non-empty square 2d array.")
    coefficients: Any = np.ones(1, aval_of(roots).dtype)
    for root in roots:
        factor = concatenate((np.ones(1, aval_of(roots).dtype), -atleast_1d(root)))
        coefficients = FUNCTIONS[np.convolve](coefficients, factor)
    return coefficients


@implements(np.polyfit)
def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    """Return the polynomial of a degree that fits points best, in the sense of least squares."""
    points, values = as_array(x) + 0.0, as_array(y) + 0.0
    if aval_of(points).ndim != 1 or aval_of(points).size == 0:
        raise TypeError("expected non-empty 1D vector for x")
    if aval_of(values).ndim not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if aval_of(values).shape[0] != aval_of(points).shape[0]:
        raise TypeError("expected x and y to have same length")
    columns = vander(points, deg + 1)
    if w is not None:
        weights = as_array(w) + 0.0
        columns = columns * weights[:, None]
        values = values * (weights if aval_of(values).ndim == 1 else weights[:, None])
    scale = UFUNCS["sqrt"](FUNCTIONS[np.sum](columns * columns, axis=0))
    rcond = (
        aval_of(points).size * float(np.finfo(aval_of(points).dtype).eps)
        if rcond is None
        else rcond
    )
    scaled = columns / scale
    solution, residuals, rank, singular = FUNCTIONS[np.linalg.lstsq](scaled, values, rcond)
    solution = solution / (scale if aval_of(values).ndim == 1 else scale[:, None])
    if full:
        return solution, residuals, rank, singular, rcond
    if not cov:
        return solution
    return solution, _covariance(scaled, scale, values, residuals, is_scaled=cov != "unscaled")


def _covariance(columns: Any, scale: Any, values: Any, residuals: Any, *, is_scaled: bool) -> Any:
    """Return the covariance of fitted coefficients, in NumPy's estimate of its size if scaled."""
    result = FUNCTIONS[np.linalg.inv](columns.T @ columns) / (scale[:, None] * scale)
    if aval_of(values).ndim == 2:
        result = result[:, :, None]
    if not is_scaled:
        return result
    count, order = aval_of(columns).shape
    if count <= order:
        raise ValueError(
            "polyfit: the number of data points must exceed order to scale the covariance matrix"
        )
    return result * (residuals / (count - order))


@implements(np.roots)
def roots(p: Any) -> Any:
    """Return the roots of a polynomial whose leading coefficient is not zero; always complex."""
    coefficients = atleast_1d(p)
    if aval_of(coefficients).ndim != 1:
        raise ShapeError("roots: input must be a rank-1 array")
    if aval_of(coefficients).dtype.kind not in "fc":
        coefficients = astype(coefficients, np.float64)
    dtype = aval_of(coefficients).dtype
    degree = aval_of(coefficients).size - 1
    if degree < 1:
        return zeros((0,), np.result_type(dtype, np.complex64), like=coefficients)
    first = -coefficients[None, 1:] / coefficients[0]
    below = constant(np.eye(degree, dtype=dtype)[: degree - 1], like=coefficients)
    return FUNCTIONS[np.linalg.eigvals](concatenate((first, below)))


def _refuse(function: Any, alternative: str) -> None:
    def refuse(*arguments: Any, **keywords: Any) -> Any:
        raise UnsupportedError(
            f"np.{function.__name__} drops leading zeros, so the shape of its result depends on "
            f"numbers that are not known while the function is traced. {alternative}"
        )

    implements(function)(refuse)


_refuse(np.polydiv, "Write the division as a loop over the coefficients of the quotient")
