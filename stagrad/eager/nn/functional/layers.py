"""Layers met less often: bilinear maps, normalisation of each image, dropout of channels."""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.eager.functions.registry import function, numbers
from stagrad.eager.generator import draws_of
from stagrad.eager.tape import make_tensor
from stagrad.ir import aval_of


def _layer(label: Any) -> Callable[[Any], Any]:
    return function(label, method=False, module=False)


@_layer("AddBackward0")
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """Return sums of input1[i] * weight[o, i, j] * input2[j], plus bias."""
    product = np.einsum("...i,oij,...j->...o", input1, weight, input2)
    return product if bias is None else product + bias


def _normalised(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    centred = x - np.mean(x, axis=axes, keepdims=True)
    variance = np.mean(np.square(centred), axis=axes, keepdims=True)
    return centred / np.sqrt(variance + eps)


def _scaled(x: Any, weight: Any, bias: Any, shape: Any = None) -> Any:
    if weight is not None:
        x = x * (weight if shape is None else np.reshape(weight, shape))
    if bias is not None:
        x = x + (bias if shape is None else np.reshape(bias, shape))
    return x


@_layer("MulBackward0")
def rms_norm(
    input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None
) -> Any:
    """Return the tensor over the root of its mean square over the last axes, scaled."""
    axes = tuple(range(-len(tuple(normalized_shape)), 0))
    small = float(np.finfo(aval_of(input).dtype).eps) if eps is None else eps
    squares = np.mean(np.square(input), axis=axes, keepdims=True)
    return _scaled(input / np.sqrt(squares + small), weight, None)


def _channels(input: Any) -> tuple[int, ...]:
    return (1, -1, *(1,) * (aval_of(input).ndim - 2))


@_layer("NativeBatchNormBackward0")
def _batch_norm(input: Any, mean: Any, variance: Any, weight: Any, bias: Any, eps: float) -> Any:
    shape = _channels(input) if aval_of(input).ndim > 1 else (-1,)
    if mean is None:
        axes = (0, *range(2, aval_of(input).ndim))
        result = _normalised(input, axes, eps)
    else:
        spread = np.sqrt(np.reshape(variance, shape) + eps)
        result = (input - np.reshape(mean, shape)) / spread
    return _scaled(result, weight, bias, shape)


def _move(running: Any, found: Any, momentum: float) -> None:
    kept = running._array * (1 - momentum) + found * momentum
    running.data.copy_(make_tensor(kept.astype(running._array.dtype), None))


def instance_norm(
    input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None,
    bias: Any = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Return the tensor with mean 0 and variance 1 over each image, scaled and shifted."""
    if not use_input_stats:
        return _batch_norm(input, running_mean, running_var, weight, bias, eps)
    if running_mean is not None:
        array = numbers(input)
        axes = tuple(range(2, array.ndim))
        _move(running_mean, array.mean(axes).mean(0), momentum)
        _move(running_var, array.var(axes, ddof=1).mean(0), momentum)
    return _instance_norm(input, weight, bias, eps)


@_layer("ViewBackward0")
def _instance_norm(input: Any, weight: Any, bias: Any, eps: float) -> Any:
    axes = tuple(range(2, aval_of(input).ndim))
    return _scaled(_normalised(input, axes, eps), weight, bias, _channels(input))


@_layer("DivBackward0")
def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Return the tensor over (k + alpha * mean of squares of near channels) ** beta."""
    channels = aval_of(input).shape[1]
    around = [(0, 0)] * aval_of(input).ndim
    around[1] = (size // 2, (size - 1) // 2)
    squares = np.pad(np.square(input), around)
    total = sum(squares[:, place : place + channels] for place in range(size))
    return input / (total * (alpha / size) + k) ** beta


@_layer("MulBackward0")
def _dropped(input: Any, kept: np.ndarray) -> Any:
    return input * kept


def _noise(shape: tuple[int, ...], p: float, dtype: np.dtype) -> np.ndarray:
    kept = np.asarray(draws_of(None).random(shape) >= p, dtype)
    kept *= 0 if p == 1 else 1 / (1 - p)
    return kept


def _drop(input: Any, shape: Any, p: float, training: bool, inplace: bool, name: str) -> Any:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    kept = _noise(tuple(shape), p, input._array.dtype)
    if inplace:
        return input.update(f"{name}_", lambda: _dropped(input, kept))
    return _dropped(input, kept)


def _feature_dropout(axes: int) -> Any:
    def public(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        lead = input.ndim - axes
        shape = (*input.shape[:lead], *(1,) * axes)
        return _drop(input, shape, p, training, inplace, f"dropout{axes}d")

    public.__name__ = public.__qualname__ = f"dropout{axes}d"
    public.__doc__ = f"Return the tensor with whole channels of {axes} axes zeroed at random."
    return public


dropout1d, dropout3d = map(_feature_dropout, (1, 3))
