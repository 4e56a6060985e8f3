"""Initialization of parameters, in place, with PyTorch's names and formulas."""

import math
from typing import Any

import numpy as np

from stagrad.eager import random
from stagrad.eager.inplace import bump
from stagrad.eager.tensor import Tensor

_GAINS = {
    "linear": 1.0,
    "conv1d": 1.0,
    "conv2d": 1.0,
    "conv3d": 1.0,
    "sigmoid": 1.0,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 0.75,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the recommended standard deviation scale before a nonlinearity."""
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def _fill(tensor: Tensor, values: Any) -> Tensor:
    tensor._array[...] = values
    bump(tensor)
    return tensor


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Draw every element uniformly from [a, b)."""
    return _fill(tensor, a + (b - a) * random.rand(*tensor.shape)._array)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Draw every element from a normal distribution."""
    return _fill(tensor, mean + std * random.randn(*tensor.shape)._array)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Set every element to a number."""
    return _fill(tensor, val)


def zeros_(tensor: Tensor) -> Tensor:
    """Set every element to zero."""
    return _fill(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    """Set every element to one."""
    return _fill(tensor, 1)


def eye_(tensor: Tensor) -> Tensor:
    """Make a matrix the identity."""
    return _fill(tensor, np.eye(*tensor.shape, dtype=tensor._array.dtype))


def _fans(tensor: Tensor) -> tuple[int, int]:
    shape = tensor.shape
    if len(shape) < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Glorot and Bengio, 2010: uniform, of variance 2 / (fan in + fan out)."""
    bound = gain * math.sqrt(6.0 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Glorot and Bengio, 2010: normal, of variance 2 / (fan in + fan out)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_fans(tensor))))


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan = _fans(tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """He et al., 2015: uniform, of variance gain² / fan."""
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """He et al., 2015: normal, of variance gain² / fan."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity))
