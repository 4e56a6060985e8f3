"""Sums of exponentials that do not overflow: SciPy's logsumexp, softmax and log_softmax."""

import math
from typing import Any

import numpy as np

from stagrad.ir import aval_of
from stagrad.ops.arithmetic import masked_multiply
from stagrad.ops.complex import absolute, real, sign
from stagrad.ops.define import FLOATS, implements_scipy, normalize_axes
from stagrad.ops.exponential import exp, level_difference, log
from stagrad.ops.floating import stop_gradient
from stagrad.ops.logical import isfinite
from stagrad.ops.movement import astype, broadcast_to, reshape
from stagrad.ops.promote import broadcast_shape
from stagrad.ops.reduction import max, sum
from stagrad.ops.selection import select


@implements_scipy("scipy.special.logsumexp")
def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """Return log(sum(b * exp(a))) over axes, as `scipy.special.logsumexp`.

    A weight of zero takes its element out, whatever the element is. The derivative is the softmax;
    that of a sum without a finite or infinite term is zero.
    """
    a = _floating(a)
    if b is not None:
        a, b = _together(a, b)
    shape = aval_of(a).shape
    axes = normalize_axes(axis, len(shape), "logsumexp")
    # The shift cancels, so its derivative must not show. Equal infinities differ by zero below, but
    # a group of -inf alone has to stay at exp(-inf).
    shift = _shift(a if b is None else select(b == 0, -math.inf, a), axes)
    shift = select(shift == -math.inf, 0, shift)
    terms = exp(a - shift if aval_of(a).dtype.kind == "c" else level_difference(a, shift))
    total = sum(terms if b is None else masked_multiply(b, terms), axis=axes, keepdims=True)
    empty = total == 0
    inside = absolute(total) if return_sign else total
    result = select(empty, -math.inf, log(select(empty, 1, inside)) + shift)
    signs = sign(total) if return_sign else None
    if not keepdims:
        kept = tuple(extent for place, extent in enumerate(shape) if place not in axes)
        result = reshape(result, kept)
        signs = reshape(signs, kept) if return_sign else None
    return (result, signs) if return_sign else result


@implements_scipy("scipy.special.softmax")
def softmax(x: Any, axis: Any = None) -> Any:
    """Return exp(x) / sum(exp(x)) over axes, as `scipy.special.softmax`."""
    x = _floating(x)
    axes = normalize_axes(axis, aval_of(x).ndim, "softmax")
    terms = exp(x - _shift(x, axes))
    return terms / sum(terms, axis=axes, keepdims=True)


@implements_scipy("scipy.special.log_softmax")
def log_softmax(x: Any, axis: Any = None) -> Any:
    """Return the logarithm of the softmax over axes, as `scipy.special.log_softmax`."""
    x = _floating(x)
    axes = normalize_axes(axis, aval_of(x).ndim, "log_softmax")
    shift = _shift(x, axes)
    level = x - select(isfinite(shift), shift, 0)
    return level - log(sum(exp(level), axis=axes, keepdims=True))


def _floating(x: Any) -> Any:
    return x if aval_of(x).dtype.kind in FLOATS else astype(x, np.dtype(np.float64))


def _together(a: Any, b: Any) -> tuple[Any, Any]:
    """Return elements and weights in one dtype and shape."""
    dtype = np.result_type(aval_of(a).dtype, aval_of(b).dtype)
    shape = broadcast_shape("logsumexp", [aval_of(a).shape, aval_of(b).shape])
    return broadcast_to(astype(a, dtype), shape), broadcast_to(astype(b, dtype), shape)


def _shift(x: Any, axes: tuple[int, ...]) -> Any:
    """Return the largest real part over axes, as a constant; -inf where there is no element."""
    parts = real(x)
    return stop_gradient(max(parts, axis=axes, keepdims=True, initial=-math.inf))
