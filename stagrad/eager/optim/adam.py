"""Adam and AdamW."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from stagrad.eager.optim.optimizer import Group, Optimizer, check_range, decayed, execution_options


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015); `amsgrad` of Reddi et al., 2018.

    >>> import stagrad
    >>> x = stagrad.tensor([1.0], requires_grad=True)
    >>> optimizer = stagrad.optim.Adam([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.9
    """

    decoupled = False

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        **execution: Any,
    ) -> None:
        check_range("learning rate", lr, 0.0)
        check_range("epsilon value", eps, 0.0)
        for number, beta in enumerate(betas):
            check_range(f"beta parameter at index {number}", beta, 0.0, 1.0)
        check_range("weight_decay value", weight_decay, 0.0)
        defaults = {
            "lr": lr,
            "betas": tuple(betas),
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "decoupled_weight_decay": self.decoupled,
            **execution_options(
                type(self).__name__, execution, "foreach", "fused", "capturable", "differentiable"
            ),
        }
        super().__init__(params, defaults)

    def update(
        self, array: np.ndarray, gradient: np.ndarray, group: Group, state: dict[str, Any]
    ) -> None:
        """Change one parameter's array in place."""
        lr, (beta1, beta2) = group["lr"], group["betas"]
        if self.decoupled:
            array *= 1 - lr * group["weight_decay"]
        else:
            gradient = decayed(array, gradient, group["weight_decay"])
        if not state:
            state["step"] = 0
            state["exp_avg"] = np.zeros_like(array)
            state["exp_avg_sq"] = np.zeros_like(array, dtype=np.abs(array).dtype)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = np.zeros_like(state["exp_avg_sq"])
        state["step"] += 1
        first, second = state["exp_avg"], state["exp_avg_sq"]
        first += (1 - beta1) * (gradient - first)
        second *= beta2
        second += (1 - beta2) * np.real(gradient * np.conj(gradient))
        if group["amsgrad"]:
            second = np.maximum(state["max_exp_avg_sq"], second, out=state["max_exp_avg_sq"])
        corrected = np.sqrt(second) / (1 - beta2 ** state["step"]) ** 0.5 + group["eps"]
        array -= lr / (1 - beta1 ** state["step"]) * (first / corrected)


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019).

    >>> import stagrad
    >>> x = stagrad.tensor([1.0], requires_grad=True)
    >>> optimizer = stagrad.optim.AdamW([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.899
    """

    decoupled = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        **execution: Any,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, **execution
        )
