"""Learning rates that change from epoch to epoch, with PyTorch's names."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from stagrad.eager.optim.optimizer import Optimizer


class LRScheduler:
    """Base of schedulers: `step` moves to the next epoch and sets every group's learning rate."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        self.last_epoch = last_epoch
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self._last_lr: list[float] = []
        self.step()

    def step(self) -> None:
        """Go to the next epoch."""
        self.last_epoch += 1
        rates = [
            self.rate(base, group["lr"])
            for base, group in zip(self.base_lrs, self.optimizer.param_groups, strict=True)
        ]
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self._last_lr = rates

    def rate(self, base: float, current: float) -> float:
        """Return the learning rate of a group at `last_epoch`."""
        return current

    def get_last_lr(self) -> list[float]:
        """Return the learning rates now in force."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimizer."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned."""
        vars(self).update(state_dict)


class StepLR(LRScheduler):
    """The learning rate times `gamma` every `step_size` epochs.

    >>> import stagrad
    >>> optimizer = stagrad.optim.SGD([stagrad.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = stagrad.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates += scheduler.get_last_lr()
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [1.0, 1.0, 0.5, 0.5]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, current: float) -> float:
        """Return the learning rate of a group at `last_epoch`."""
        turns = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return current * self.gamma if turns else current


class MultiStepLR(LRScheduler):
    """The learning rate times `gamma` at each of the `milestones`."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = sorted(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, current: float) -> float:
        """Return the learning rate of a group at `last_epoch`."""
        return current * self.gamma ** self.milestones.count(self.last_epoch)


class ExponentialLR(LRScheduler):
    """The learning rate times `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, current: float) -> float:
        """Return the learning rate of a group at `last_epoch`."""
        return current * self.gamma if self.last_epoch > 0 else current


class LambdaLR(LRScheduler):
    """The initial learning rate times `lr_lambda(epoch)`."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Callable[[int], float], last_epoch: int = -1
    ) -> None:
        self.lr_lambda = lr_lambda
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, current: float) -> float:
        """Return the learning rate of a group at `last_epoch`."""
        return base * self.lr_lambda(self.last_epoch)


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial learning rate to `eta_min` in `T_max` epochs.

    Loshchilov and Hutter, 2017, without restarts; past `T_max` the cosine goes on.

    >>> import stagrad
    >>> optimizer = stagrad.optim.SGD([stagrad.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = stagrad.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> rates = []
    >>> for _ in range(3):
    ...     rates += scheduler.get_last_lr()
    ...     optimizer.step()
    ...     scheduler.step()
    >>> [round(rate, 6) for rate in rates]
    [1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, current: float) -> float:
        """Return the learning rate of a group at `last_epoch`."""
        turn = math.cos(math.pi * self.last_epoch / self.T_max)
        return self.eta_min + (base - self.eta_min) * (1 + turn) / 2
