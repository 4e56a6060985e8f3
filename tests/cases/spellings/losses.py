"""Losses and distances."""

import numpy as np

from tests.cases.spellings.arrays import norm


def _reduced(loss, reduction, count=None):
    if reduction == "none":
        return loss
    return np.sum(loss) / (loss.size if count is None else count) ** (reduction != "sum")


def _log_softmax(x, axis):
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def negative_log_likelihood(x, target, weight=None, ignore_index=-100, reduction="mean"):
    axis = 1 if x.ndim > 1 else 0
    classes = x.shape[axis]
    per_class = np.ones(classes) if weight is None else weight
    kept = target != ignore_index
    target = np.where(kept, target, 0)
    weights = per_class[target] * kept
    chosen = np.take_along_axis(x, np.expand_dims(target, axis), axis)
    loss = -np.squeeze(chosen, axis) * weights
    return _reduced(loss, reduction, np.sum(weights))


def cross_entropy(x, target, weight=None, ignore_index=-100, reduction="mean"):
    logarithms = _log_softmax(x, 1 if x.ndim > 1 else 0)
    if target.dtype.kind == "i":
        return negative_log_likelihood(logarithms, target, weight, ignore_index, reduction)
    per_class = 1.0 if weight is None else weight
    return _reduced(-np.sum(logarithms * target * per_class, axis=1), reduction)


def kullback_leibler(x, target, reduction, log_target):
    if log_target:
        loss = np.exp(target) * (target - x)
    else:
        loss = target * np.log(target) - target * x
    return _reduced(loss, reduction, x.shape[0] if reduction == "batchmean" else None)


def poisson(x, target, log_input, full, reduction, eps=1e-8):
    loss = np.exp(x) - target * x if log_input else x - target * np.log(x + eps)
    if full:
        big = target > 1
        safe = np.where(big, target, 2.0)
        stirling = safe * np.log(safe) - safe + 0.5 * np.log(2 * np.pi * safe)
        loss = loss + np.where(big, stirling, 0.0)
    return _reduced(loss, reduction)


def gaussian(x, target, variance, reduction, full=False, eps=1e-6):
    if variance.ndim < x.ndim:
        variance = variance[..., None]
    bounded = np.maximum(variance, eps)
    loss = 0.5 * (np.log(bounded) + (x - target) ** 2 / bounded)
    if full:
        loss = loss + 0.5 * np.log(2 * np.pi)
    return _reduced(loss, reduction)


def multi_margin(x, target, margin=1.0, weight=None, reduction="mean"):
    scores, target = np.atleast_2d(x), np.atleast_1d(target)
    rows, classes = np.arange(len(target)), scores.shape[1]
    excess = np.maximum(margin - scores[rows, target][:, None] + scores, 0.0)
    excess = excess * (1.0 if weight is None else weight[target][:, None])
    others = np.arange(classes) != target[:, None]
    return _reduced(np.sum(excess * others, axis=1) / classes, reduction)


def multilabel_soft_margin(x, target, weight=1.0):
    loss = target * np.logaddexp(0.0, -x) + (1 - target) * np.logaddexp(0.0, x)
    return np.mean(np.mean(loss * weight, axis=-1))


def cosine_embedding(x, y, target, margin, reduction):
    products = np.sum(x * y, axis=-1)
    squares = (np.sum(x * x, axis=-1) + 1e-12) * (np.sum(y * y, axis=-1) + 1e-12)
    cosine = products / np.sqrt(squares)
    apart = np.where(target == -1, np.maximum(cosine - margin, 0.0), 0.0)
    return _reduced(np.where(target == 1, 1 - cosine, 0.0) + apart, reduction)


def pairwise_distance(x, y, keepdim=False):
    return norm(x - y + 1e-6, 2, -1, keepdim)


def triplet_margin(anchor, positive, negative, margin=1.0, swap=False, reduction="mean"):
    near, far = pairwise_distance(anchor, positive), pairwise_distance(anchor, negative)
    if swap:
        far = np.minimum(far, pairwise_distance(positive, negative))
    return _reduced(np.maximum(margin + near - far, 0.0), reduction)


def cosine_similarity(x, y, dim=1, eps=1e-8):
    if x.ndim == 0:
        return x * y / (np.maximum(np.abs(x), eps) * np.maximum(np.abs(y), eps))
    x, y = np.broadcast_arrays(x, y)
    sizes = (np.maximum(norm(array, 2, dim), eps) for array in (x, y))
    return np.sum(x * y, axis=dim) / np.prod(np.stack(list(sizes)), axis=0)


def condensed_distances(x, p=2.0):
    first, second = np.triu_indices(len(x), 1)
    if p == 0:
        return np.sum(x[first] != x[second], axis=1) * 1.0
    return norm(x[first] - x[second], p, -1)


SPELLINGS = {
    "nn.functional.nll_loss": negative_log_likelihood,
    "nn.functional.cross_entropy": cross_entropy,
    "nn.functional.kl_div": kullback_leibler,
    "nn.functional.poisson_nll_loss": poisson,
    "nn.functional.gaussian_nll_loss": gaussian,
    "nn.functional.multi_margin_loss": multi_margin,
    "nn.functional.multilabel_soft_margin_loss": multilabel_soft_margin,
    "nn.functional.cosine_embedding_loss": cosine_embedding,
    "nn.functional.pairwise_distance": pairwise_distance,
    "nn.functional.triplet_margin_loss": triplet_margin,
    "nn.functional.cosine_similarity": cosine_similarity,
    "nn.functional.pdist": condensed_distances,
}
