"""Normalizations, and dropout."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from stagrad.eager.define import operation
from stagrad.eager.functions.registry import numbers
from stagrad.eager.generator import draws_of
from stagrad.eager.modes import no_grad
from stagrad.eager.tape import tensor_type
from stagrad.errors import UnsupportedError
from stagrad.ir import aval_of
from stagrad.ops.define import FUNCTIONS, UFUNCS


def _standardized(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    """Return x with mean 0 and variance 1 over axes."""
    centred = x - FUNCTIONS[np.mean](x, axis=axes, keepdims=True)
    variance = FUNCTIONS[np.mean](UFUNCS["square"](centred), axis=axes, keepdims=True)
    return centred / UFUNCS["sqrt"](variance + eps)


def _along_channels(vector: Any, ndim: int) -> Any:
    return FUNCTIONS[np.reshape](vector, (-1,) + (1,) * (ndim - 2))


def _scaled(x: Any, weight: Any, bias: Any) -> Any:
    """Return x times a weight and plus a bias per channel."""
    ndim = aval_of(x).ndim
    if weight is not None:
        x = x * _along_channels(weight, ndim)
    return x if bias is None else x + _along_channels(bias, ndim)


@operation("NativeLayerNormBackward0")
def layer_norm(
    input: Any, normalized_shape: Sequence[int], weight: Any = None, bias: Any = None,
    eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Return the input with mean 0 and variance 1 over its last axes, scaled and shifted.

    `normalized_shape` names the extents of those axes.
    """
    last, shape = tuple(normalized_shape), aval_of(input).shape
    if not last or shape[-len(last) :] != last:
        raise RuntimeError(
            f"Given normalized_shape={list(last)}, expected input with shape "
            f"[*, {', '.join(map(str, last))}], but got input of size{list(shape)}"
        )
    x = _standardized(input, tuple(range(-len(last), 0)), eps)
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


@operation("NativeGroupNormBackward0")
def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Return the input with mean 0 and variance 1 over each group of its channels."""
    shape = aval_of(input).shape
    if shape[1] % num_groups:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(shape)} and num_groups={num_groups}"
        )
    members = math.prod(shape[1:]) // num_groups
    grouped = FUNCTIONS[np.reshape](input, (shape[0], num_groups, members))
    x = FUNCTIONS[np.reshape](_standardized(grouped, (-1,), eps), shape)
    return _scaled(x, weight, bias)


@operation("NativeBatchNormBackward0")
def _batch_norm(
    input: Any, mean: Any, variance: Any, weight: Any, bias: Any, training: bool, eps: float
) -> Any:
    ndim = aval_of(input).ndim
    if training:
        x = _standardized(input, (0, *range(2, ndim)), eps)
    else:
        deviation = UFUNCS["sqrt"](_along_channels(variance, ndim) + eps)
        x = (input - _along_channels(mean, ndim)) / deviation
    return _scaled(x, weight, bias)


def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Return the input with each channel normalized, scaled and shifted.

    In training by its mean and variance over batch and image, which the running statistics (where
    given) follow: `running += momentum * (new - running)`, with the unbiased variance. Otherwise by
    the running statistics.
    """
    shape = aval_of(input).shape
    count = math.prod(shape) // max(shape[1], 1)
    if not training and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when training=False"
        )
    if training and count == 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"torch.Size({list(shape)})"
        )
    result = _batch_norm(input, running_mean, running_var, weight, bias, training, eps)
    if training and running_mean is not None:
        _follow(input, running_mean, running_var, momentum, count)
    return result


def _follow(input: Any, mean: Any, variance: Any, momentum: float, count: int) -> None:
    array = numbers(input)
    if not isinstance(array, np.ndarray):
        raise UnsupportedError(
            "batch_norm with training=True changes its running statistics, and a compiled function "
            "has no effects. Call .eval() on the module, or pass running_mean=None"
        )
    axes = (0, *range(2, array.ndim))
    found = array.mean(axes), array.var(axes) * (count / (count - 1))
    with no_grad():
        for running, new in zip((mean, variance), found, strict=True):
            old = running._array
            running.assign(((1 - momentum) * old + momentum * new).astype(old.dtype), "batch_norm")


@operation("MulBackward0")
def _masked(input: Any, mask: np.ndarray) -> Any:
    return input * mask


def _dropped(input: Any, p: float, training: bool, inplace: bool, shape: Sequence[int]) -> Any:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    if not isinstance(input, tensor_type):
        raise UnsupportedError(
            "dropout draws new random numbers at every call, and a compiled function would repeat "
            "the first. Call .eval() on the module, or draw with stagrad.random from a key"
        )
    kept = draws_of(None).random(shape) >= p
    mask = kept.astype(input.dtype)
    if p < 1:
        mask /= mask.dtype.type(1 - p)
    if inplace:
        return input.update("dropout_", lambda: _masked(input, mask))
    return _masked(input, mask)


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zero each element with probability p and scale the others by 1 / (1 - p), in training.

    >>> import stagrad
    >>> stagrad.nn.functional.dropout(stagrad.ones(2), training=False)
    tensor([1., 1.])
    """
    return _dropped(input, p, training, inplace, aval_of(input).shape)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zero each channel (N, C, H, W) with probability p and scale the others, in training."""
    shape = aval_of(input).shape
    return _dropped(input, p, training, inplace, shape[:2] + (1,) * (len(shape) - 2))
