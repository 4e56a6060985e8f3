"""Stochastic gradient descent, with momentum."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from stagrad.eager.optim.optimizer import Group, Optimizer, check_range, decayed, execution_options


class SGD(Optimizer):
    """Stochastic gradient descent (PyTorch's form of momentum: the buffer holds gradients).

    Sutskever et al., 2013, for Nesterov momentum.

    >>> import stagrad
    >>> x = stagrad.tensor([1.0], requires_grad=True)
    >>> optimizer = stagrad.optim.SGD([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 6)
    0.8
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        **execution: Any,
    ) -> None:
        check_range("learning rate", lr, 0.0)
        check_range("momentum value", momentum, 0.0)
        check_range("weight_decay value", weight_decay, 0.0)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            **execution_options("SGD", execution, "foreach", "fused", "differentiable"),
        }
        super().__init__(params, defaults)

    def update(
        self, array: np.ndarray, gradient: np.ndarray, group: Group, state: dict[str, Any]
    ) -> None:
        """Change one parameter's array in place."""
        gradient = decayed(array, gradient, group["weight_decay"])
        momentum = group["momentum"]
        if momentum:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = gradient.copy()
            else:
                buffer *= momentum
                buffer += (1 - group["dampening"]) * gradient
            gradient = gradient + momentum * buffer if group["nesterov"] else buffer
        array -= group["lr"] * gradient
