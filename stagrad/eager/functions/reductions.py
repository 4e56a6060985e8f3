"""Sums, products, means and their kin, over all elements or along axes."""

from typing import Any

import numpy as np

from stagrad.eager.functions.pointwise import camel
from stagrad.eager.functions.registry import (
    alias,
    axes_of,
    by_dim,
    enter,
    function,
    numbers,
    returned,
)
from stagrad.ir import aval_of
from stagrad.ops.convert import cast
from stagrad.ops.cumulative import running_product, running_sum
from stagrad.ops.define import FUNCTIONS
from stagrad.ops.normalizing import log_softmax as _log_softmax
from stagrad.ops.normalizing import logsumexp as _logsumexp
from stagrad.ops.normalizing import softmax as _softmax

VarMean = returned("var_mean", "var", "mean")
StdMean = returned("std_mean", "std", "mean")


def converted(input: Any, dtype: Any) -> Any:
    """Return a value in the dtype of an argument `dtype`, None leaving it."""
    return input if dtype is None else cast(input, np.dtype(dtype), copy=False)


@function(by_dim("Sum"))
def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the sum, of all elements or along axes; integers add up in int64."""
    input = converted(input, dtype)
    if dtype is None and aval_of(input).dtype.kind in "bui":
        input = cast(input, np.dtype(np.int64), copy=False)
    return np.sum(input, axis=axes_of(dim, input), keepdims=keepdim)


@function(by_dim("Nansum"))
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the sum of what is not NaN."""
    return np.nansum(converted(input, dtype), axis=axes_of(dim, input), keepdims=keepdim)


@function(by_dim("Mean"))
def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the mean, of all elements or along axes; raises RuntimeError for integers."""
    input = converted(input, dtype)
    if aval_of(input).dtype.kind not in "fc":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or "
            f"complex dtype. Got: {aval_of(input).dtype.name}. Convert it first: x.float().mean()"
        )
    return np.mean(input, axis=axes_of(dim, input), keepdims=keepdim)


@function("NanmeanBackward0")
def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the mean of what is not NaN."""
    return np.nanmean(converted(input, dtype), axis=axes_of(dim, input), keepdims=keepdim)


@function(by_dim("Prod"))
def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the product, of all elements or along an axis."""
    input = converted(input, dtype)
    if dtype is None and aval_of(input).dtype.kind in "bui":
        input = cast(input, np.dtype(np.int64), copy=False)
    return np.prod(input, axis=axes_of(dim, input), keepdims=keepdim)


def _correction(input: Any, dim: Any, unbiased: Any, correction: Any) -> tuple[Any, Any]:
    """Return axes and what to take off the count; `var(False)` means unbiased=False."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = int(unbiased)
    return axes_of(dim, input), 1 if correction is None else correction


@function("VarBackward0")
def var(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
    correction: Any = 1,
) -> Any:  # fmt: skip
    """Return the variance: squared deviations over (count - correction)."""
    axes, ddof = _correction(input, dim, unbiased, correction)
    return np.var(input, axis=axes, ddof=ddof, keepdims=keepdim)


@function("StdBackward0")
def std(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
    correction: Any = 1,
) -> Any:  # fmt: skip
    """Return the standard deviation, the root of `var`."""
    axes, ddof = _correction(input, dim, unbiased, correction)
    return np.std(input, axis=axes, ddof=ddof, keepdims=keepdim)


@function("VarMeanBackward0", method=False)
def var_mean(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
    correction: Any = 1,
) -> Any:  # fmt: skip
    """Return variance and mean."""
    axes, ddof = _correction(input, dim, unbiased, correction)
    return (
        np.var(input, axis=axes, ddof=ddof, keepdims=keepdim),
        np.mean(input, axis=axes, keepdims=keepdim),
    )


@function("StdMeanBackward0", method=False)
def std_mean(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
    correction: Any = 1,
) -> Any:  # fmt: skip
    """Return standard deviation and mean."""
    axes, ddof = _correction(input, dim, unbiased, correction)
    return (
        np.std(input, axis=axes, ddof=ddof, keepdims=keepdim),
        np.mean(input, axis=axes, keepdims=keepdim),
    )


@function("AmaxBackward0")
def amax(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """Return the largest elements along axes; ties share the gradient."""
    return np.max(input, axis=axes_of(dim, input), keepdims=keepdim)


@function("AminBackward0")
def amin(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """Return the smallest elements along axes; ties share the gradient."""
    return np.min(input, axis=axes_of(dim, input), keepdims=keepdim)


@function("AllBackward0")
def all(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return whether all elements are true."""
    return np.all(numbers(input), axis=axes_of(dim, input), keepdims=keepdim)


@function("AnyBackward0")
def any(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return whether some element is true."""
    return np.any(numbers(input), axis=axes_of(dim, input), keepdims=keepdim)


@function("CountNonzeroBackward0")
def count_nonzero(input: Any, dim: Any = None, *, keepdim: bool = False) -> Any:
    """Return how many elements are not zero."""
    axes = axes_of(dim, input)
    return np.asarray(np.count_nonzero(numbers(input), axis=axes, keepdims=keepdim))


@function("LogsumexpBackward0")
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """Return log(sum(exp(x))) along axes."""
    return _logsumexp(input, axis=axes_of(dim, input), keepdims=keepdim)


@function("SoftmaxBackward0")
def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return exp(x) / sum(exp(x)) along an axis."""
    return _softmax(converted(input, dtype), axis=axes_of(dim, input))


@function("LogSoftmaxBackward0")
def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return the logarithm of `softmax`."""
    return _log_softmax(converted(input, dtype), axis=axes_of(dim, input))


def _along(input: Any, dim: Any) -> tuple[Any, int]:
    """Return a value with at least one axis, and the axis counted from zero."""
    ndim = aval_of(input).ndim
    if not -max(ndim, 1) <= dim < max(ndim, 1):
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-max(ndim, 1)}, "
            f"{max(ndim, 1) - 1}], but got {dim})"
        )
    return (np.reshape(input, (1,)), 0) if ndim == 0 else (input, dim % ndim)


def _running(name: str, implementation: Any, what: str) -> Any:
    def body(input: Any, dim: int, *, dtype: Any = None) -> Any:
        shape = aval_of(input).shape
        if dtype is None and aval_of(input).dtype.kind in "bui":
            dtype = np.int64
        values, axis = _along(converted(input, dtype), dim)
        return np.reshape(implementation(values, axis), shape)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = f"Return the {what} of all elements up to each one along an axis."
    return function(camel(name), in_place=True)(body)


cumsum = _running("cumsum", running_sum, "sum")
cumprod = _running("cumprod", running_product, "product")


@function("LogcumsumexpBackward0")
def logcumsumexp(input: Any, dim: int) -> Any:
    """Return log(cumsum(exp(x))) along an axis."""
    values, axis = _along(input, dim)
    return np.reshape(np.logaddexp.accumulate(values, axis=axis), aval_of(input).shape)


def _norm_of(input: Any, p: Any, dim: Any, keepdim: bool) -> Any:
    if dim is None:
        result = np.linalg.vector_norm(input, axis=None, ord=p)
        return np.reshape(result, (1,) * aval_of(input).ndim) if keepdim else result
    axes = axes_of(dim, input)
    if axes == ():
        return np.linalg.vector_norm(np.reshape(input, (1,)), axis=0, ord=p)
    return np.linalg.vector_norm(input, axis=axes, ord=p, keepdims=keepdim)


@function("LinalgVectorNormBackward0")
def norm(
    input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    """Return the p-norm of all elements or along axes; "nuc" is the nuclear norm of a matrix."""
    input = converted(input, dtype)
    if p == "nuc":
        axes = (-2, -1) if dim is None else axes_of(dim, input)
        return np.linalg.norm(input, "nuc", axis=axes, keepdims=keepdim)
    return _norm_of(input, 2 if p in ("fro", None) else p, dim, keepdim)


@function("DistBackward0")
def dist(input: Any, other: Any, p: float = 2) -> Any:
    """Return the p-norm of the difference of two tensors."""
    return _norm_of(input - other, p, None, False)


@function("RenormBackward0", in_place=True)
def renorm(input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """Return the tensor with its slices along `dim` scaled down to a p-norm of at most maxnorm."""
    axes = tuple(axis for axis in range(aval_of(input).ndim) if axis != dim % aval_of(input).ndim)
    sizes = np.linalg.vector_norm(input, axis=axes, ord=p, keepdims=True)
    is_long = np.greater(numbers(sizes), maxnorm)
    scale = np.where(is_long, maxnorm / (np.where(is_long, sizes, 1) + 1e-7), 1)
    return input * cast(scale, aval_of(input).dtype, copy=False)


@function("SqueezeBackward4")
def quantile(
    input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    """Return quantiles, of all elements or along an axis."""
    options = {"axis": dim, "keepdims": keepdim, "method": interpolation}
    return FUNCTIONS[np.quantile](input, numbers(q), **options)


@function("NanquantileBackward0")
def nanquantile(
    input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    """Return quantiles of what is not NaN."""
    options = {"axis": dim, "keepdims": keepdim, "method": interpolation}
    return FUNCTIONS[np.nanquantile](input, numbers(q), **options)


@function("TraceBackward0")
def trace(input: Any) -> Any:
    """Return the sum of a matrix's diagonal."""
    if aval_of(input).ndim != 2:
        raise RuntimeError(
            f"trace: expected a matrix, but got tensor with dim {aval_of(input).ndim}"
        )
    return np.trace(input)


@function("SqueezeBackward0")
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """Return the covariance matrix of variables in rows, observations in columns."""
    found = np.cov(input, ddof=correction, fweights=numbers(fweights), aweights=numbers(aweights))
    return cast(found, aval_of(input).dtype, copy=False)


@function("ClampBackward1")
def corrcoef(input: Any) -> Any:
    """Return the matrix of correlation coefficients."""
    return cast(np.corrcoef(input), aval_of(input).dtype, copy=False)


@function("SubBackward0")
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Return the n-th differences along an axis."""
    given = {"prepend": prepend, "append": append}
    ends = {name: value for name, value in given.items() if value is not None}
    return np.diff(input, n, axis=dim, **ends)


@function("MulBackward1", method=False)
def trapezoid(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """Return the integral by the trapezoid rule."""
    return np.trapezoid(y, x, dx, axis=dim)


alias("trapz", trapezoid)


@function("CumulativeTrapezoidBackward0", method=False)
def cumulative_trapezoid(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """Return the integrals up to each point by the trapezoid rule."""
    from stagrad.ops.integration import cumulative_trapezoid as integrate

    return integrate(y, x, dx, axis=dim)


@function("GradientBackward0", method=False)
def gradient(input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> Any:
    """Return the tuple of central differences along the axes."""
    steps = spacing if isinstance(spacing, list | tuple) else [spacing]
    listed = range(aval_of(input).ndim) if dim is None else np.atleast_1d(dim)
    axes = tuple(int(axis) for axis in listed)
    found = FUNCTIONS[np.gradient](input, *steps, axis=axes, edge_order=edge_order)
    return tuple(found) if isinstance(found, list | tuple) else (found,)


def is_nonzero(input: Any) -> bool:
    """Say whether a tensor of one element is not zero."""
    return bool(input)


enter(is_nonzero)
