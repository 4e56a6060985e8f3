"""Activation functions."""

import math
import warnings
from typing import Any

import numpy as np

from stagrad.eager.define import operation
from stagrad.eager.functions import reductions
from stagrad.eager.functions.pointwise import camel
from stagrad.eager.functions.registry import numbers
from stagrad.ir import aval_of
from stagrad.ops.define import FUNCTIONS, UFUNCS
from stagrad.ops.exponential import expit
from stagrad.ops.exponential import softplus as _softplus
from stagrad.ops.selection import select
from stagrad.ops.slicing import slice as slice_

# Klambauer et al., 2017.
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def _activation(body: Any) -> Any:
    """Make a body the public function of its name, which takes `inplace` besides its arguments."""
    # In PyTorch `selu` is a call of `elu`.
    stem = {"selu": "elu"}.get(body.__name__, body.__name__)
    run = operation(camel(stem))(body)

    def public(input: Any, *args: Any, inplace: bool = False, **kwargs: Any) -> Any:
        if inplace:
            return input.update(f"{body.__name__}_", lambda: run(input, *args, **kwargs))
        return run(input, *args, **kwargs)

    public.__name__ = public.__qualname__ = body.__name__
    public.__doc__ = body.__doc__
    public.__module__ = body.__module__
    return public


def _is_positive(input: Any) -> Any:
    return numbers(input) > 0


@_activation
def relu(input: Any) -> Any:
    """Return max(x, 0); the slope at 0 is 0.

    >>> import stagrad
    >>> stagrad.nn.functional.relu(stagrad.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return select(numbers(input) <= 0, 0, input)


@_activation
def leaky_relu(input: Any, negative_slope: float = 0.01) -> Any:
    """Return x where positive, else x times the slope."""
    return select(_is_positive(input), input, input * negative_slope)


def _elu(input: Any, alpha: float, scale: float, inner: float) -> Any:
    """Return scale x where positive, else scale alpha (exp(inner x) - 1)."""
    positive = _is_positive(input)
    # The exponential of a large number must not come near the branch that is not chosen.
    low = UFUNCS["expm1"](select(positive, 0, input) * inner) * (scale * alpha)
    return select(positive, input * scale, low)


@_activation
def elu(input: Any, alpha: float = 1.0) -> Any:
    """Return x where positive, else alpha (exp(x) - 1)."""
    return _elu(input, alpha, 1.0, 1.0)


@_activation
def celu(input: Any, alpha: float = 1.0) -> Any:
    """Return x where positive, else alpha (exp(x / alpha) - 1)."""
    return _elu(input, alpha, 1.0, 1.0 / alpha)


@_activation
def selu(input: Any) -> Any:
    """Return `elu` with the scale and alpha that keep mean 0 and variance 1."""
    return _elu(input, SELU_ALPHA, SELU_SCALE, 1.0)


@_activation
def silu(input: Any) -> Any:
    """Return x σ(x)."""
    return input * expit(input)


@_activation
def mish(input: Any) -> Any:
    """Return x tanh(log(1 + exp(x)))."""
    return input * UFUNCS["tanh"](_softplus(input))


@_activation
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """Return x within bounds; the slope on a bound is 0."""
    x = numbers(input)
    return select(x <= min_val, min_val, select(x >= max_val, max_val, input))


def relu6(input: Any, inplace: bool = False) -> Any:
    """Return x held between 0 and 6."""
    return hardtanh(input, 0.0, 6.0, inplace=inplace)


@operation("GeluBackward0")
def gelu(input: Any, approximate: str = "none") -> Any:
    """Return x Φ(x), Φ being the normal distribution function, or its approximation by tanh."""
    if approximate == "none":
        return input * UFUNCS["ndtr"](input)
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (input + 0.044715 * input * input * input)
        return 0.5 * input * (1 + UFUNCS["tanh"](inner))
    raise RuntimeError(
        f"gelu: approximate argument must be either none or tanh, not {approximate!r}"
    )


@operation("SoftplusBackward0")
def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """Return log(1 + exp(beta x)) / beta; x itself where beta x exceeds the threshold."""
    scaled = input * beta
    return select(numbers(input) * beta > threshold, input, _softplus(scaled) / beta)


@operation("SigmoidBackward0")
def sigmoid(input: Any) -> Any:
    """Return 1 / (1 + exp(-x))."""
    return expit(input)


@operation("TanhBackward0")
def tanh(input: Any) -> Any:
    """Return the hyperbolic tangent."""
    return UFUNCS["tanh"](input)


@operation("LogSigmoidBackward0")
def logsigmoid(input: Any) -> Any:
    """Return log(σ(x))."""
    return -_softplus(-input)


@operation("DivBackward0")
def softsign(input: Any) -> Any:
    """Return x / (1 + |x|)."""
    return input / (1 + UFUNCS["absolute"](input))


@operation("GluBackward0")
def glu(input: Any, dim: int = -1) -> Any:
    """Return the first half along an axis times σ of the second."""
    shape = aval_of(input).shape
    axis = range(len(shape))[dim]
    if shape[axis] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {axis} is size {shape[axis]}"
        )
    half = shape[axis] // 2
    first, second = (
        slice_(input, tuple(part if a == axis else None for a in range(len(shape))))
        for part in ((0, half, 1), (half, 2 * half, 1))
    )
    return first * expit(second)


def _axis(name: str, input: Any, dim: int | None) -> int:
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument.",
        stacklevel=3,
    )
    return 0 if aval_of(input).ndim in (0, 1, 3) else 1


def softmax(input: Any, dim: int | None = None, dtype: Any = None) -> Any:
    """Return exp(x) / sum(exp(x)) along an axis."""
    return reductions.softmax(input, _axis("softmax", input, dim), dtype=dtype)


def softmin(input: Any, dim: int | None = None, dtype: Any = None) -> Any:
    """Return the softmax of -x along an axis."""
    return reductions.softmax(-input, _axis("softmin", input, dim), dtype=dtype)


def log_softmax(input: Any, dim: int | None = None, dtype: Any = None) -> Any:
    """Return the logarithm of the softmax along an axis."""
    return reductions.log_softmax(input, _axis("log_softmax", input, dim), dtype=dtype)


@operation("DivBackward0")
def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Any:
    """Return x over its p-norm along an axis, the norm being at least `eps`."""
    length = reductions.norm(input, p, dim, keepdim=True)
    return input / select(numbers(length) < eps, eps, length)


@operation("SumBackward1")
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """Return the cosine of the angle between vectors along an axis, each norm at least `eps`."""
    shape = np.broadcast_shapes(aval_of(x1).shape, aval_of(x2).shape) or (1,)
    x1, x2 = (FUNCTIONS[np.broadcast_to](x, shape) for x in (x1, x2))
    unit = []
    for x in (x1, x2):
        length = reductions.norm(x, 2, dim, keepdim=True)
        unit.append(x / select(numbers(length) < eps, eps, length))
    return FUNCTIONS[np.sum](unit[0] * unit[1], axis=dim)
