"""Activation functions that cut off or shrink, and samples of the softmax."""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.eager.functions.reductions import softmax as _softmax
from stagrad.eager.functions.registry import function, numbers
from stagrad.eager.generator import draws_of
from stagrad.eager.tape import make_tensor
from stagrad.ir import aval_of


def activation(label: str) -> Callable[[Any], Any]:
    """Return the decorator for a function of `nn.functional` with an argument `inplace`."""

    def decorate(body: Any) -> Any:
        run = function(label, method=False, module=False)(body)

        def public(input: Any, *args: Any, inplace: bool = False, **kwargs: Any) -> Any:
            if args and isinstance(args[-1], bool):
                *args, inplace = args  # type: ignore[assignment]
            if inplace:
                return input.update(f"{body.__name__}_", lambda: run(input, *args, **kwargs))
            return run(input, *args, **kwargs)

        public.__name__ = public.__qualname__ = body.__name__
        public.__doc__ = body.__doc__
        return public

    return decorate


def _above(input: Any, bound: float) -> Any:
    return np.greater(numbers(input), bound)


def _zero(input: Any) -> Any:
    return np.zeros((), aval_of(input).dtype)


@activation("SubBackward0")
def tanhshrink(input: Any) -> Any:
    """Return x - tanh(x)."""
    return input - np.tanh(input)


@activation("SoftshrinkBackward0")
def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """Return elements moved towards zero by lambd, those nearer being zero."""
    x = numbers(input)
    return np.where(x > lambd, input - lambd, np.where(x < -lambd, input + lambd, input * 0))


@activation("HardshrinkBackward0")
def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """Return the elements farther than lambd from zero, zero for the others."""
    return np.where(np.abs(numbers(input)) > lambd, input, _zero(input))


@activation("HardswishBackward0")
def hardswish(input: Any) -> Any:
    """Return x * relu6(x + 3) / 6."""
    x = numbers(input)
    middle = input * (input + 3) / 6
    return np.where(x <= -3, _zero(input), np.where(x >= 3, input, middle))


@activation("HardsigmoidBackward0")
def hardsigmoid(input: Any) -> Any:
    """Return relu6(x + 3) / 6."""
    x, one = numbers(input), aval_of(input).dtype.type(1)
    return np.where(x <= -3, _zero(input), np.where(x >= 3, one, (input + 3) / 6))


@activation("ThresholdBackward0")
def threshold(input: Any, threshold: float, value: float) -> Any:
    """Return the elements above a threshold, a number for the others."""
    filling = aval_of(input).dtype.type(value)
    return np.where(_above(input, threshold), input, filling)


@function("PreluKernelBackward0", module=False)
def prelu(input: Any, weight: Any) -> Any:
    """Return x above zero and weight * x below; a weight for all or one for each channel."""
    size, ndim = aval_of(weight).size, aval_of(input).ndim
    if size != 1 and ndim > 1:
        weight = np.reshape(weight, (1, -1, *(1,) * (ndim - 2)))
    elif size == 1:
        weight = np.reshape(weight, ())
    return np.where(_above(input, 0), input, input * weight)


def gumbel_softmax(
    logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Any:
    """Return a sample of the Gumbel-softmax distribution; `hard` makes it one-hot."""
    noise = draws_of(None).gumbel(size=tuple(logits.shape)).astype(logits.dtype)
    soft = _softmax((logits + make_tensor(noise, None)) / tau, dim)
    if not hard:
        return soft
    places = np.expand_dims(np.argmax(soft._array, axis=dim), dim)
    chosen = np.zeros_like(soft._array)
    np.put_along_axis(chosen, places, 1, dim)
    return make_tensor(chosen, None) - soft.detach() + soft
