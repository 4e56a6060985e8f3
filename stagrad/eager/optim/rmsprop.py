"""RMSprop."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from stagrad.eager.optim.optimizer import Group, Optimizer, check_range, decayed, execution_options


class RMSprop(Optimizer):
    """RMSprop (Hinton's lecture 6e, 2012); `centered` of Graves, 2013.

    >>> import stagrad
    >>> x = stagrad.tensor([1.0], requires_grad=True)
    >>> optimizer = stagrad.optim.RMSprop([x], lr=0.01)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.9
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        *,
        maximize: bool = False,
        **execution: Any,
    ) -> None:
        check_range("learning rate", lr, 0.0)
        check_range("epsilon value", eps, 0.0)
        check_range("momentum value", momentum, 0.0)
        check_range("weight_decay value", weight_decay, 0.0)
        check_range("alpha value", alpha, 0.0)
        defaults = {
            "lr": lr,
            "alpha": alpha,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "centered": centered,
            "maximize": maximize,
            **execution_options("RMSprop", execution, "foreach", "capturable", "differentiable"),
        }
        super().__init__(params, defaults)

    def update(
        self, array: np.ndarray, gradient: np.ndarray, group: Group, state: dict[str, Any]
    ) -> None:
        """Change one parameter's array in place."""
        gradient = decayed(array, gradient, group["weight_decay"])
        alpha = group["alpha"]
        if not state:
            state["step"] = 0
            state["square_avg"] = np.zeros_like(array)
            if group["momentum"]:
                state["momentum_buffer"] = np.zeros_like(array)
            if group["centered"]:
                state["grad_avg"] = np.zeros_like(array)
        state["step"] += 1
        square = state["square_avg"]
        square *= alpha
        square += (1 - alpha) * gradient * gradient
        spread = square
        if group["centered"]:
            mean = state["grad_avg"]
            mean += (1 - alpha) * (gradient - mean)
            spread = square - mean * mean
        step = gradient / (np.sqrt(spread) + group["eps"])
        if group["momentum"]:
            buffer = state["momentum_buffer"]
            buffer *= group["momentum"]
            buffer += step
            step = buffer
        array -= group["lr"] * step
