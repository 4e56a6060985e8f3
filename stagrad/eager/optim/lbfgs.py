"""L-BFGS with an optional strong-Wolfe line search."""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from stagrad.eager.inplace import bump
from stagrad.eager.modes import enable_grad
from stagrad.eager.optim.line_search import strong_wolfe
from stagrad.eager.optim.optimizer import Optimizer, check_range


class LBFGS(Optimizer):
    """Limited-memory BFGS (Nocedal and Wright, 2006, algorithms 7.4 and 7.5).

    `step` needs a closure that clears the gradients, computes the loss, calls backward and returns
    the loss. `line_search_fn` is None (a step of length `lr`) or "strong_wolfe". All parameters
    are in one group.

    >>> import stagrad
    >>> x = stagrad.tensor([3.0, -2.0], requires_grad=True)
    >>> optimizer = stagrad.optim.LBFGS([x], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((x - 1) ** 4).sum() + ((x - 1) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> for _ in range(3):
    ...     _ = optimizer.step(closure)
    >>> bool(abs(x.numpy(force=True) - 1).max() < 1e-3)
    True
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_range("learning rate", lr, 0.0)
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported as line_search_fn")
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Minimize for at most `max_iter` iterations; return the loss at the start."""
        if closure is None:
            raise TypeError("LBFGS.step needs a closure that computes the loss and its gradient")
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        state.setdefault("pairs", deque(maxlen=group["history_size"]))
        first = self._evaluate(closure)
        state["func_evals"] += 1
        loss, gradient = float(first), self._gradient()
        evaluations = 1
        if np.abs(gradient).max() <= group["tolerance_grad"]:
            return first
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._direction(state, gradient)
            slope = float(gradient @ direction)
            if slope > -group["tolerance_change"]:
                break
            length = group["lr"]
            if state["n_iter"] == 1:
                length *= min(1.0, 1.0 / float(np.abs(gradient).sum()))
            previous, before = loss, gradient
            length, loss, gradient, used = self._move(
                closure, direction, length, loss, gradient, last=iteration == group["max_iter"]
            )
            state.update(d=direction, t=length, prev_flat_grad=before, prev_loss=previous)
            evaluations += used
            state["func_evals"] += used
            if (
                evaluations >= group["max_eval"]
                or np.abs(gradient).max() <= group["tolerance_grad"]
                or np.abs(direction * length).max() <= group["tolerance_change"]
                or abs(loss - previous) < group["tolerance_change"]
            ):
                break
        return first

    def _direction(self, state: dict[str, Any], gradient: np.ndarray) -> np.ndarray:
        """Two-loop recursion over the last changes of the point and of the gradient."""
        pairs = state["pairs"]
        if "prev_flat_grad" in state and state["n_iter"] > 1:
            change = gradient - state["prev_flat_grad"]
            step = state["d"] * state["t"]
            if float(change @ step) > 1e-10:
                pairs.append((change, step, 1.0 / float(change @ step)))
        direction = -gradient
        weights = []
        for change, step, rho in reversed(pairs):
            weight = float(step @ direction) * rho
            weights.append(weight)
            direction = direction - weight * change
        if pairs:
            change, _, rho = pairs[-1]
            direction = direction * (1.0 / (rho * float(change @ change)))
        for (change, step, rho), weight in zip(pairs, reversed(weights), strict=True):
            direction = direction + step * (weight - float(change @ direction) * rho)
        return direction

    def _move(
        self,
        closure: Callable[[], Any],
        direction: np.ndarray,
        length: float,
        loss: float,
        gradient: np.ndarray,
        *,
        last: bool,
    ) -> tuple[float, float, np.ndarray, int]:
        """Take a step along the direction; return its length, loss, gradient and evaluations."""
        start = self._point()
        group = self.param_groups[0]
        if group["line_search_fn"] is None:
            self._set_point(start + length * direction)
            if last:
                return length, loss, gradient, 0
            return length, float(self._evaluate(closure)), self._gradient(), 1

        def evaluate(at: float) -> tuple[float, np.ndarray]:
            self._set_point(start + at * direction)
            value = float(self._evaluate(closure))
            return value, self._gradient()

        found = strong_wolfe(
            evaluate, length, direction, loss, gradient, change=group["tolerance_change"]
        )
        self._set_point(start + found.length * direction)
        return found.length, found.loss, found.gradient, found.evaluations

    @staticmethod
    def _evaluate(closure: Callable[[], Any]) -> Any:
        with enable_grad():
            return closure()

    def _gradient(self) -> np.ndarray:
        parts = [
            np.zeros(item._array.size, item._array.dtype)
            if item.grad is None
            else item.grad._array.ravel()
            for item in self._params
        ]
        return np.concatenate(parts)

    def _point(self) -> np.ndarray:
        return np.concatenate([item._array.ravel() for item in self._params])

    def _set_point(self, point: np.ndarray) -> None:
        begin = 0
        for item in self._params:
            array = item._array
            array[...] = point[begin : begin + array.size].reshape(array.shape)
            begin += array.size
            bump(item)
