"""Losses of margins and distances, and the distances themselves."""

from typing import Any

import numpy as np

from stagrad.eager.functions.registry import function, numbers
from stagrad.eager.nn.functional.likelihoods import by_reduction, loss, reduced
from stagrad.ir import aval_of
from stagrad.ops.define import UFUNCS
from stagrad.ops.exponential import stable_softplus


def _above_zero(x: Any) -> Any:
    return np.where(numbers(x) > 0, x, np.zeros((), aval_of(x).dtype))


@loss("SoftMarginLossBackward0")
def soft_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """Return log(1 + exp(-target * input))."""
    return reduced(stable_softplus(-(target * input)), reduction)


@loss(by_reduction("ClampMinBackward0"))
def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, reduction: str = "mean"
) -> Any:
    """Return max(0, -target * (input1 - input2) + margin)."""
    return reduced(_above_zero(-target * (input1 - input2) + margin), reduction)


@loss(by_reduction("AddBackward0"))
def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, reduction: str = "mean"
) -> Any:
    """Return the input where the target is 1, max(0, margin - input) where it is -1."""
    return reduced(np.where(numbers(target) == 1, input, _above_zero(margin - input)), reduction)


@loss("MultiMarginLossBackward0")
def multi_margin_loss(
    input: Any, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the mean over the other classes of max(0, margin - x[target] + x)^p."""
    is_single = aval_of(input).ndim <= 1
    rows = np.reshape(input, (1, -1)) if is_single else input
    places = np.reshape(numbers(target), (-1, 1))
    classes = aval_of(rows).shape[1]
    over = _above_zero(margin - np.take_along_axis(rows, places, 1) + rows)
    powers = over if p == 1 else over**p
    if weight is not None:
        powers = powers * np.take(weight, places)
    others = (np.arange(classes) != places).astype(aval_of(rows).dtype)
    losses = np.sum(powers * others, axis=1) / classes
    return reduced(np.reshape(losses, ()) if is_single else losses, reduction)


@loss(by_reduction("DivBackward0"))
def multilabel_soft_margin_loss(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean"
) -> Any:
    """Return the mean over the classes of the binary cross entropies of logits."""
    expit = UFUNCS["log_expit"]
    losses = -(target * expit(input) + (1 - target) * expit(-input))
    if weight is not None:
        losses = losses * weight
    return reduced(np.mean(losses, axis=-1), reduction)


@loss(by_reduction("AddBackward0"))
def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, reduction: str = "mean"
) -> Any:
    """Return 1 - cos where the target is 1, max(0, cos - margin) where it is -1."""
    tiny = 1e-12
    products = np.sum(input1 * input2, axis=-1)
    sizes = [np.sum(np.square(x), axis=-1) + tiny for x in (input1, input2)]
    cosines = products / np.sqrt(sizes[0] * sizes[1])
    apart = _above_zero(cosines - margin)
    zero = np.zeros((), aval_of(cosines).dtype)
    wanted = numbers(target)
    return reduced(
        np.where(wanted == 1, 1 - cosines, zero) + np.where(wanted == -1, apart, zero), reduction
    )


def _distance(x1: Any, x2: Any, p: float, eps: float, keepdim: bool = False) -> Any:
    return np.linalg.vector_norm(x1 - x2 + eps, axis=-1, ord=p, keepdims=keepdim)


@function("NormBackward1", method=False)
def pairwise_distance(
    x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """Return the p-norms of the differences of rows."""
    return _distance(x1, x2, p, eps, keepdim)


@loss(by_reduction("ClampMinBackward0"))
def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2,
    eps: float = 1e-6, swap: bool = False, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return max(0, margin + |anchor - positive| - |anchor - negative|)."""
    far = _distance(anchor, negative, p, eps)
    if swap:
        far = np.minimum(far, _distance(positive, negative, p, eps))
    return reduced(_above_zero(_distance(anchor, positive, p, eps) - far + margin), reduction)
