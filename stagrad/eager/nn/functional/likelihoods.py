"""Losses that are negated log-likelihoods of counts and of normal distributions."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.eager.define import Name
from stagrad.eager.functions.registry import function, numbers
from stagrad.ir import aval_of


def loss(label: Name) -> Callable[[Any], Any]:
    """Return the decorator for a loss, which understands the old size_average and reduce too."""
    made = function(label, method=False, module=False)

    def decorate(body: Any) -> Any:
        run = made(body)

        def public(*args: Any, size_average: Any = None, reduce: Any = None, **kwargs: Any) -> Any:
            if size_average is not None or reduce is not None:
                mean = "sum" if size_average is False else "mean"
                kwargs["reduction"] = "none" if reduce is False else mean
            return run(*args, **kwargs)

        public.__name__ = public.__qualname__ = body.__name__
        public.__doc__ = body.__doc__
        return public

    return decorate


def by_reduction(unreduced: str) -> Callable[..., str]:
    """Return the name PyTorch gives a loss made of operations: that of the last of them."""

    def name(*args: Any, reduction: str = "mean", **kwargs: Any) -> str:
        names = {"sum": "SumBackward0", "mean": "MeanBackward0"}
        return names.get(reduction, unreduced)

    return name


def reduced(losses: Any, reduction: str) -> Any:
    """Return losses as they are, their mean or their sum."""
    if reduction == "mean":
        return np.mean(losses)
    if reduction == "sum":
        return np.sum(losses)
    if reduction != "none":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return losses


@loss(by_reduction("SubBackward0"))
def poisson_nll_loss(
    input: Any, target: Any, log_input: bool = True, full: bool = False, eps: float = 1e-8,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the negated log-likelihood of counts; `full` adds Stirling's term."""
    losses = np.exp(input) - target * input
    if not log_input:
        losses = input - target * np.log(input + eps)
    if full:
        many = np.greater(numbers(target), 1)
        safe = np.where(many, target, np.ones((), aval_of(target).dtype))
        stirling = safe * np.log(safe) - safe + np.log(safe * (2 * math.pi)) * 0.5
        losses = losses + np.where(many, stirling, np.zeros((), aval_of(target).dtype))
    return reduced(losses, reduction)


@loss(by_reduction("MulBackward0"))
def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the negated log-likelihood of normal distributions with means and variances."""
    if not hasattr(var, "ndim"):
        var = np.full(aval_of(input).shape, var, aval_of(input).dtype)
    elif aval_of(var).shape == aval_of(input).shape[:-1] != aval_of(input).shape:
        var = np.expand_dims(var, -1)
    small = np.less(numbers(var), eps)
    # A variance moved to eps still hands its gradient on, as PyTorch's does.
    lifted = var + np.where(small, eps - numbers(var), 0).astype(aval_of(var).dtype)
    losses = (np.log(lifted) + np.square(input - target) / lifted) * 0.5
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced(losses, reduction)
