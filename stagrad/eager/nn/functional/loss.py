"""Losses: of predictions and targets, averaged, summed or left as they are."""

import warnings
from typing import Any

import numpy as np

from stagrad.eager.define import operation
from stagrad.eager.functions import reductions
from stagrad.eager.functions.registry import numbers
from stagrad.ir import aval_of
from stagrad.ops.define import FUNCTIONS, UFUNCS
from stagrad.ops.exponential import softplus
from stagrad.ops.indexing import getitem
from stagrad.ops.movement import astype, broadcast_to
from stagrad.ops.selection import select
from stagrad.ops.special import xlogy


def _reduced(loss: Any, reduction: str) -> Any:
    if reduction == "none":
        return loss
    if reduction == "sum":
        return FUNCTIONS[np.sum](loss)
    if reduction == "mean":
        return FUNCTIONS[np.mean](loss)
    raise ValueError(f"{reduction} is not a valid value for reduction")


def _reduction_name(*args: Any, reduction: str = "mean", **kwargs: Any) -> str:
    """Return the name of the node where the reduction is an operation of its own."""
    names = {"none": "AbsBackward0", "sum": "SumBackward0", "mean": "MeanBackward0"}
    return names.get(reduction, "DivBackward0")


def _warn_of_sizes(input: Any, target: Any) -> None:
    sizes = aval_of(input).shape, aval_of(target).shape
    if sizes[0] != sizes[1]:
        warnings.warn(
            f"Using a target size (torch.Size({list(sizes[1])})) that is different to the input "
            f"size (torch.Size({list(sizes[0])})). This will likely lead to incorrect results due "
            "to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )


def _weighted(loss: Any, weight: Any) -> Any:
    return loss if weight is None else loss * weight


@operation("MseLossBackward0")
def _mse_loss(input: Any, target: Any, reduction: str, weight: Any) -> Any:
    return _reduced(_weighted(UFUNCS["square"](input - target), weight), reduction)


def mse_loss(input: Any, target: Any, *, reduction: str = "mean", weight: Any = None) -> Any:
    """Return squared differences.

    >>> import stagrad
    >>> stagrad.nn.functional.mse_loss(stagrad.tensor([1.0, 2.0]), stagrad.tensor([1.0, 4.0]))
    tensor(2.)
    """
    _warn_of_sizes(input, target)
    return _mse_loss(input, target, reduction, weight)


@operation(_reduction_name)
def _l1_loss(input: Any, target: Any, *, reduction: str, weight: Any) -> Any:
    return _reduced(_weighted(UFUNCS["absolute"](input - target), weight), reduction)


def l1_loss(input: Any, target: Any, *, reduction: str = "mean", weight: Any = None) -> Any:
    """Return absolute differences."""
    _warn_of_sizes(input, target)
    return _l1_loss(input, target, reduction=reduction, weight=weight)


def _smooth(input: Any, target: Any, beta: float) -> Any:
    """Return |d| - beta / 2, and d² / (2 beta) where |d| is below beta."""
    difference = input - target
    distance = UFUNCS["absolute"](difference)
    if beta == 0:
        return distance
    near = numbers(distance) < beta
    return select(near, UFUNCS["square"](difference) * (0.5 / beta), distance - 0.5 * beta)


@operation("SmoothL1LossBackward0")
def _smooth_l1_loss(input: Any, target: Any, reduction: str, beta: float) -> Any:
    return _reduced(_smooth(input, target, beta), reduction)


def smooth_l1_loss(input: Any, target: Any, *, reduction: str = "mean", beta: float = 1.0) -> Any:
    """Return squared differences over 2 beta where below beta, else absolute ones less beta / 2."""
    _warn_of_sizes(input, target)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return _smooth_l1_loss(input, target, reduction, beta)


@operation("HuberLossBackward0")
def _huber_loss(input: Any, target: Any, reduction: str, delta: float, weight: Any) -> Any:
    return _reduced(_weighted(delta * _smooth(input, target, delta), weight), reduction)


def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    """Return half squared differences where below delta, else delta (|d| - delta / 2)."""
    _warn_of_sizes(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    return _huber_loss(input, target, reduction, delta, weight)


@operation("BinaryCrossEntropyBackward0")
def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, *, reduction: str = "mean"
) -> Any:
    """Return the cross entropy of probabilities and targets in [0, 1]; logarithms reach -100."""
    if aval_of(input).shape != aval_of(target).shape:
        raise ValueError(
            f"Using a target size (torch.Size({list(aval_of(target).shape)})) that is different to "
            f"the input size (torch.Size({list(aval_of(input).shape)})) is deprecated. Please "
            "ensure they have the same size."
        )
    chances = numbers(input)
    if isinstance(chances, np.ndarray) and not np.all((chances >= 0) & (chances <= 1)):
        raise RuntimeError("all elements of input should be between 0 and 1")
    hit, miss = (
        select(numbers(log) < -100, -100, log)
        for log in (UFUNCS["log"](input), UFUNCS["log1p"](-input))
    )
    return _reduced(_weighted((target - 1) * miss - target * hit, weight), reduction)


@operation("BinaryCrossEntropyWithLogitsBackward0")
def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, *, reduction: str = "mean", pos_weight: Any = None
) -> Any:
    """Return the cross entropy of log-odds and targets; `pos_weight` counts targets of one."""
    if aval_of(input).shape != aval_of(target).shape:
        raise ValueError(
            f"Target size (torch.Size({list(aval_of(target).shape)})) must be the same as input "
            f"size (torch.Size({list(aval_of(input).shape)}))"
        )
    misses = softplus(-input)
    if pos_weight is not None:
        misses = misses * (1 + (pos_weight - 1) * target)
    return _reduced(_weighted((1 - target) * input + misses, weight), reduction)


def _kl_name(input: Any, target: Any, *, reduction: str = "mean", log_target: bool = False) -> str:
    if reduction == "none":
        return "MulBackward0" if log_target else "SubBackward0"
    return _reduction_name(reduction=reduction)


@operation(_kl_name)
def kl_div(input: Any, target: Any, *, reduction: str = "mean", log_target: bool = False) -> Any:
    """Return the divergence of log-probabilities from targets; "batchmean" is the mathematical one.

    Targets are probabilities, or with `log_target` their logarithms.
    """
    if log_target:
        loss = UFUNCS["exp"](target) * (target - input)
    else:
        loss = xlogy(target, target) - target * input
    if reduction == "batchmean":
        return FUNCTIONS[np.sum](loss) / (aval_of(input).shape or (1,))[0]
    return _reduced(loss, reduction)


def _class_axis(input: Any) -> int:
    return 1 if aval_of(input).ndim > 1 else 0


def _nll_name(input: Any, *args: Any, **kwargs: Any) -> str:
    return "NllLoss2DBackward0" if aval_of(input).ndim > 2 else "NllLossBackward0"


def _check_classes(input: Any, target: Any, ignore_index: int) -> None:
    """Raise where the target does not name a class for each distribution in the input."""
    shape, axis = aval_of(input).shape, _class_axis(input)
    wanted = shape[:axis] + shape[axis + 1 :]
    if wanted and aval_of(target).shape[:1] != wanted[:1]:
        raise ValueError(
            f"Expected input batch_size ({wanted[0]}) to match target batch_size "
            f"({', '.join(map(str, aval_of(target).shape[:1]))})."
        )
    if aval_of(target).shape != wanted:
        raise ValueError(
            f"Expected target size {list(wanted)}, got {list(aval_of(target).shape)}: one class "
            f"number for each distribution of the input, whose size is {list(shape)}"
        )
    if aval_of(target).dtype.kind not in "iu":
        raise RuntimeError(
            f"expected scalar type Long but found {aval_of(target).dtype.name}: class numbers are "
            "integers"
        )
    if isinstance(target, np.ndarray):
        outside = (target != ignore_index) & ((target < 0) | (target >= shape[axis]))
        if outside.any():
            raise IndexError(f"Target {target[outside].flat[0]} is out of bounds.")


@operation(_nll_name)
def nll_loss(
    input: Any, target: Any, weight: Any = None, *, ignore_index: int = -100,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return minus the log-probability of the target class, times the weight of that class.

    - input: log-probabilities (C,), (N, C) or (N, C, d1, d2, …).
    - target: class numbers in the shape of the input without its classes.
    - ignore_index: a class number that counts nothing.
    - reduction: "mean" divides by the sum of the weights of the targets.
    """
    target = numbers(target)
    _check_classes(input, target, ignore_index)
    kept = target != ignore_index
    axis = _class_axis(input)
    rows = input if aval_of(input).ndim == axis + 1 else FUNCTIONS[np.moveaxis](input, axis, -1)
    places = np.indices(aval_of(target).shape, sparse=True)
    if weight is None and isinstance(kept, np.ndarray) and kept.all():
        return _reduced(-getitem(rows, (*places, target)), reduction)
    classes = FUNCTIONS[np.where](kept, target, 0)
    loss = -getitem(rows, (*places, classes))
    if weight is None:
        shares = astype(kept, aval_of(input).dtype)
    else:
        shares = select(kept, getitem(weight, classes), 0)
    loss = select(kept, _weighted(loss, None if weight is None else shares), 0)
    if reduction == "mean":
        return FUNCTIONS[np.sum](loss) / FUNCTIONS[np.sum](shares)
    return _reduced(loss, reduction)


def _smoothing_name(*args: Any, reduction: str = "mean", **kwargs: Any) -> str:
    return {"none": "NegBackward0", "sum": "NegBackward0"}.get(reduction, "DivBackward1")


@operation(_smoothing_name)
def _soft_loss(
    logs: Any, target: Any, weight: Any, smoothing: float, *, reduction: str = "mean"
) -> Any:
    """Return the cross entropy of log-probabilities and class probabilities."""
    axis, shape = _class_axis(logs), aval_of(logs).shape
    if smoothing:
        target = target * (1 - smoothing) + smoothing / shape[axis]
    loss = -FUNCTIONS[np.sum](logs * _by_class(target, weight, axis, shape), axis=axis)
    if reduction == "mean":
        return FUNCTIONS[np.sum](loss) / max(1, int(np.prod(aval_of(loss).shape)))
    return _reduced(loss, reduction)


def _by_class(target: Any, weight: Any, axis: int, shape: tuple[int, ...]) -> Any:
    if weight is None:
        return target
    return target * FUNCTIONS[np.reshape](weight, (-1,) + (1,) * (len(shape) - axis - 1))


@operation(_reduction_name)
def _uniform_loss(
    logs: Any, target: Any, weight: Any, ignore_index: int, *, reduction: str = "mean"
) -> Any:
    """Return the cross entropy with equal targets for all classes, of which each counts one."""
    axis, shape = _class_axis(logs), aval_of(logs).shape
    target = numbers(target)
    kept = target != ignore_index
    loss = -FUNCTIONS[np.sum](_by_class(logs, weight, axis, shape), axis=axis)
    loss = select(kept, loss, 0)
    if reduction != "mean":
        return _reduced(loss, reduction)
    shares = astype(kept, aval_of(logs).dtype)
    if weight is not None:
        shares = select(kept, getitem(weight, FUNCTIONS[np.where](kept, target, 0)), 0)
    return FUNCTIONS[np.sum](loss) / FUNCTIONS[np.sum](broadcast_to(shares, aval_of(loss).shape))


def cross_entropy(
    input: Any, target: Any, weight: Any = None, *, ignore_index: int = -100,
    reduction: str = "mean", label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """Return the cross entropy of logits and class numbers, or class probabilities.

    - input: logits (C,), (N, C) or (N, C, d1, d2, …).
    - target: class numbers in the shape of the input without its classes, or probabilities in the
      shape of the input.
    - weight: one number per class; "mean" divides by those of the targets.
    - label_smoothing: how much of each target is spread evenly over the classes.

    >>> import stagrad
    >>> logits = stagrad.tensor([[2.0, 0.0], [0.0, 0.0]])
    >>> stagrad.nn.functional.cross_entropy(logits, stagrad.tensor([0, 1]))
    tensor(0.4100)
    """
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    logs = reductions.log_softmax(input, _class_axis(input))
    if aval_of(target).shape == aval_of(input).shape:
        if aval_of(target).dtype.kind != "f":
            raise RuntimeError(
                "Expected floating point type for target with class probabilities, got "
                f"{aval_of(target).dtype.name}"
            )
        return _soft_loss(logs, target, weight, label_smoothing, reduction=reduction)
    loss = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    if not label_smoothing:
        return loss
    even = _uniform_loss(logs, target, weight, ignore_index, reduction=reduction)
    classes = aval_of(input).shape[_class_axis(input)]
    return (1 - label_smoothing) * loss + even * (label_smoothing / classes)
