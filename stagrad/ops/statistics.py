"""Means, variances and what is made of them."""

from typing import Any

import numpy as np

from stagrad.errors import ShapeError
from stagrad.ir import aval_of
from stagrad.ops.convert import as_value, is_traced
from stagrad.ops.define import FUNCTIONS, UFUNCS, implements, normalize_axes
from stagrad.ops.gather import known_array
from stagrad.ops.movement import astype, broadcast_to, reshape, transpose
from stagrad.ops.reduction import UNSET, count, kept_shape
from stagrad.ops.reduction import sum as sum_
from stagrad.ops.selection import clip, maximum, select


def working_dtypes(a: Any, dtype: Any) -> tuple[np.dtype, np.dtype]:
    """Return the dtypes that a mean is summed in and returned in, as NumPy chooses them.

    Integers are averaged in float64; float16 is summed in float32, where its sum cannot overflow.
    """
    if dtype is not None:
        return np.dtype(dtype), np.dtype(dtype)
    given = aval_of(a).dtype
    if given.kind in "biu":
        return np.dtype(np.float64), np.dtype(np.float64)
    if given == np.float16:
        return np.dtype(np.float32), given
    return given, given


def population(a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    """Return how many elements each reduced value stands for: an int, or an array given `where`."""
    shape = aval_of(a).shape
    if where is True or where is UNSET:
        return count(a, normalize_axes(axis, len(shape), "mean"))
    return sum_(broadcast_to(astype(where, np.bool_), shape), axis, np.int64, keepdims=keepdims)


@implements(np.mean)
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """Arithmetic mean over axes, as `numpy.mean`; of nothing it is NaN."""
    working, returned = working_dtypes(a, dtype)
    total = sum_(a, axis, working, None, keepdims, where=where)
    return astype(total / population(a, axis, keepdims, where), returned)


def squared_distance(a: Any, center: Any) -> Any:
    """Return |a - center|^2, which is real also for complex numbers."""
    deviation = a - center
    if aval_of(deviation).dtype.kind != "c":
        return deviation * deviation
    real, imaginary = FUNCTIONS[np.real](deviation), FUNCTIONS[np.imag](deviation)
    return real * real + imaginary * imaginary


def chosen_ddof(name: str, ddof: Any, correction: Any) -> Any:
    """Return the degrees of freedom taken off, given under one of NumPy's two names for them."""
    if correction is UNSET:
        return ddof
    if ddof != 0:
        raise ShapeError(f"{name}: ddof and correction can't be provided simultaneously")
    return correction


@implements(np.var)
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = UNSET,
    correction: Any = UNSET,
) -> Any:
    """Variance over axes by the two-pass formula, as `numpy.var`; real and never negative."""
    ddof = chosen_ddof("var", ddof, correction)
    working, returned = working_dtypes(a, dtype)
    if mean is UNSET:
        total = sum_(a, axis, working, None, True, where=where)
        mean = total / population(a, axis, True, where)
    squares = squared_distance(astype(a, working), mean)
    total = sum_(squares, axis, aval_of(squares).dtype, None, keepdims, where=where)
    freedom = population(a, axis, keepdims, where) - ddof
    divisor = max(freedom, 0) if isinstance(freedom, int | float) else maximum(freedom, 0)
    return astype(total / divisor, np.zeros(0, returned).real.dtype)


@implements(np.std)
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = UNSET,
    correction: Any = UNSET,
) -> Any:
    """Standard deviation over axes, as `numpy.std`; where it is zero, so is its derivative."""
    variance = var(
        a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
    )
    return root(variance)


def root(x: Any) -> Any:
    """Square root of a number that is not negative, with derivative zero at zero.

    The kink of a norm or a standard deviation, where zero is the mean of the one-sided slopes.
    """
    return select(x == 0, aval_of(x).dtype.type(0), UFUNCS["sqrt"](x))


@implements(np.average)
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    """Weighted mean over axes, as `numpy.average`."""
    a = as_value(a)
    aval = aval_of(a)
    axes = normalize_axes(axis, aval.ndim, "average")
    if weights is None:
        result = mean(a, axis, keepdims=keepdims)
        shape = aval_of(result).shape
        if not returned:
            return result
        return result, np.full(shape, count(a, axes), aval_of(result).dtype)[()]
    weights = aligned_weights(as_value(weights), a, axis)
    dtypes = [aval.dtype, aval_of(weights).dtype]
    if aval.dtype.kind in "biu":
        dtypes.append(np.dtype(np.float64))
    dtype = np.result_type(*dtypes)
    scale = sum_(weights, axis, dtype, None, keepdims)
    result = sum_(astype(a, dtype) * astype(weights, dtype), axis, dtype, None, keepdims) / scale
    return (result, broadcast_to(scale, aval_of(result).shape)) if returned else result


def aligned_weights(weights: Any, a: Any, axis: Any) -> Any:
    """Return the weights with the axes of the array they weigh."""
    shape, given = aval_of(a).shape, aval_of(weights).shape
    if given == shape:
        return weights
    if axis is None:
        raise TypeError("average: axis must be specified when shapes of a and weights differ.")
    axes = np.lib.array_utils.normalize_axis_tuple(axis, len(shape), "average")
    if given != tuple(shape[place] for place in axes):
        raise ShapeError(
            f"average: shape of weights must be consistent with shape of a along specified axis: "
            f"{given} does not fit axes {axes} of {shape}"
        )
    ordered = transpose(weights, tuple(int(place) for place in np.argsort(axes)))
    rest = tuple(place for place in range(len(shape)) if place not in axes)
    return broadcast_to(reshape(ordered, kept_shape(shape, rest)), shape)


@implements(np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """Covariance matrix of variables given as rows, as `numpy.cov`."""
    if ddof is not None and ddof != int(ddof):
        raise ShapeError(f"cov: ddof must be integer, not {ddof!r}")
    data = _variables(as_value(m), None if y is None else as_value(y), rowvar, dtype)
    aval = aval_of(data)
    if aval.shape[0] == 0:
        return np.zeros((0, 0))
    weights = _observation_weights(aval.shape[1], fweights, aweights)
    if ddof is None:
        ddof = 0 if bias else 1
    total = aval.shape[1] if weights is None else sum_(weights)
    weighted = data if weights is None else data * weights
    factor = total - ddof
    if ddof != 0 and aweights is not None:
        factor = total - ddof * sum_(weights * as_value(aweights)) / total
    centered = data - sum_(weighted, 1, keepdims=True) / total
    other = FUNCTIONS[np.transpose](centered if weights is None else centered * weights)
    if aval.dtype.kind == "c":
        other = UFUNCS["conjugate"](other)
    product = UFUNCS["matmul"](centered, other)
    return FUNCTIONS[np.squeeze](astype(product * _inverse(factor), aval.dtype))


def _inverse(factor: Any) -> Any:
    """Return one over the degrees of freedom, and infinity where there are none."""
    if is_traced(factor):
        return 1 / maximum(factor, 0)
    return 1 / float(factor) if factor > 0 else np.inf


def _variables(m: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    """Return the variables of `m` and `y` as the rows of one matrix."""
    parts = {"m": m} if y is None else {"m": m, "y": y}
    rows = []
    for name, part in parts.items():
        shape = aval_of(part).shape
        if len(shape) > 2:
            raise ShapeError(f"cov: {name} has more than 2 dimensions: its shape is {shape}")
        row = part if len(shape) == 2 else reshape(part, (1, *(shape or (1,))))
        is_single = len(shape) == 1 if name == "m" else aval_of(row).shape[0] == 1
        rows.append(row if rowvar or is_single else transpose(row, (1, 0)))
    if dtype is None:
        dtype = np.result_type(*(aval_of(row).dtype for row in rows), np.float64)
    rows = [astype(row, dtype) for row in rows]
    return rows[0] if len(rows) == 1 else FUNCTIONS[np.concatenate](rows, 0)


def _observation_weights(extent: int, fweights: Any, aweights: Any) -> Any:
    """Return the product of both kinds of weights as floats, checked where they are known."""
    product = None
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is None:
            continue
        weights = as_value(weights)
        if aval_of(weights).shape != (extent,):
            raise ShapeError(
                f"cov: {name} has shape {aval_of(weights).shape}; there are {extent} observations, "
                f"so it must be ({extent},)"
            )
        known = known_array(weights)
        if known is not None and (known < 0).any():
            raise ShapeError(f"cov: {name} cannot be negative")
        if known is not None and name == "fweights" and (known != np.around(known)).any():
            raise TypeError("cov: fweights must be integer")
        weights = astype(weights, np.float64)
        product = weights if product is None else product * weights
    return product


@implements(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """Correlation matrix of variables given as rows, as `numpy.corrcoef`."""
    covariance = cov(x, y, rowvar, dtype=dtype)
    if aval_of(covariance).ndim == 0:
        return covariance / covariance
    deviation = UFUNCS["sqrt"](FUNCTIONS[np.real](FUNCTIONS[np.diagonal](covariance)))
    extent = aval_of(deviation).size
    scaled = covariance / reshape(deviation, (extent, 1)) / reshape(deviation, (1, extent))
    if aval_of(scaled).dtype.kind != "c":
        return clip(scaled, -1, 1)
    real, imaginary = FUNCTIONS[np.real](scaled), FUNCTIONS[np.imag](scaled)
    return clip(real, -1, 1) + 1j * clip(imaginary, -1, 1)
