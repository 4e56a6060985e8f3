"""Line search for the strong Wolfe conditions (Nocedal and Wright, 2006, section 3.5)."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

SUFFICIENT = 1e-4
CURVATURE = 0.9
MOST_STEPS = 25

Evaluate = Callable[[float], tuple[float, np.ndarray]]


@dataclass
class Trial:
    """A point on the line: how far, its loss and gradient, and the slope along the direction."""

    length: float
    loss: float
    gradient: np.ndarray
    slope: float


@dataclass
class Found:
    """Where the search ended, and how often it evaluated the function."""

    length: float
    loss: float
    gradient: np.ndarray
    evaluations: int


def strong_wolfe(
    evaluate: Evaluate,
    length: float,
    direction: np.ndarray,
    loss: float,
    gradient: np.ndarray,
    *,
    change: float,
) -> Found:
    """Return a step whose loss falls enough and whose slope is flat enough.

    `evaluate(length)` gives the loss and gradient there; the search starts from `length`, and from
    `loss` and `gradient` at zero. It stops when a bracket is narrower than `change`.
    """
    line = _Line(evaluate, direction, loss, float(gradient @ direction))
    previous = Trial(0.0, loss, gradient, line.slope)
    trial = line.at(length)
    for step in range(MOST_STEPS):
        if line.rises(trial) or (step and trial.loss >= previous.loss):
            return line.zoom(previous, trial, change)
        if abs(trial.slope) <= -CURVATURE * line.slope:
            return line.found(trial)
        if trial.slope >= 0:
            return line.zoom(previous, trial, change)
        low = trial.length + 0.01 * (trial.length - previous.length)
        high = trial.length * 10
        following = cubic_minimum(previous, trial, (low, high))
        previous, trial = trial, line.at(following)
    return line.zoom(Trial(0.0, loss, gradient, line.slope), trial, change)


class _Line:
    """The function along one direction, counting its evaluations."""

    def __init__(
        self, evaluate: Evaluate, direction: np.ndarray, loss: float, slope: float
    ) -> None:
        self.loss = loss
        self.slope = slope
        self._evaluate = evaluate
        self._direction = direction
        self._evaluations = 0

    def at(self, length: float) -> Trial:
        self._evaluations += 1
        loss, gradient = self._evaluate(length)
        return Trial(length, loss, gradient, float(gradient @ self._direction))

    def rises(self, trial: Trial) -> bool:
        """Say whether the loss did not fall in proportion to the length."""
        return not trial.loss <= self.loss + SUFFICIENT * trial.length * self.slope

    def found(self, trial: Trial) -> Found:
        return Found(trial.length, trial.loss, trial.gradient, self._evaluations)

    def zoom(self, first: Trial, second: Trial, change: float) -> Found:
        """Narrow a bracket that holds a point with the wanted properties."""
        low, high = (first, second) if first.loss <= second.loss else (second, first)
        was_close = False
        for _ in range(MOST_STEPS):
            width = abs(high.length - low.length)
            if width * float(np.abs(self._direction).max()) < change:
                break
            length = cubic_minimum(low, high)
            edge = min(abs(high.length - length), abs(length - low.length))
            if edge < 0.1 * width:
                # Near an end twice in a row: go a tenth of the way inside.
                inside = sorted((low.length, high.length))
                if was_close or not inside[0] < length < inside[1]:
                    nearer = abs(length - high.length) < abs(length - low.length)
                    length = (
                        high.length - 0.1 * (high.length - low.length)
                        if nearer
                        else low.length + 0.1 * (high.length - low.length)
                    )
                    was_close = False
                else:
                    was_close = True
            else:
                was_close = False
            trial = self.at(length)
            if self.rises(trial) or trial.loss >= low.loss:
                high = trial
                continue
            if abs(trial.slope) <= -CURVATURE * self.slope:
                return self.found(trial)
            if trial.slope * (high.length - low.length) >= 0:
                high = low
            low = trial
        return self.found(low)


def cubic_minimum(first: Trial, second: Trial, bounds: tuple[float, float] | None = None) -> float:
    """Return the minimum of the cubic through two points with their slopes, kept in the bounds."""
    low, high = bounds or tuple(sorted((first.length, second.length)))
    left, right = (first, second) if first.length <= second.length else (second, first)
    if left.length == right.length:
        return (low + high) / 2
    d1 = left.slope + right.slope - 3 * (left.loss - right.loss) / (left.length - right.length)
    square = d1 * d1 - left.slope * right.slope
    if not square >= 0 or not math.isfinite(square):
        return (low + high) / 2
    d2 = math.sqrt(square)
    span = right.length - left.length
    divisor = right.slope - left.slope + 2 * d2
    if divisor == 0:
        return (low + high) / 2
    return min(max(right.length - span * (right.slope + d2 - d1) / divisor, low), high)
