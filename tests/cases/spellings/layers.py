"""Layers of neural networks without windows: normalisation, attention, padding."""

import numpy as np


def _over_channels(parameter, x):
    """Shape a parameter of the second axis for broadcasting."""
    return parameter.reshape((1, -1) + (1,) * (x.ndim - 2)) if np.ndim(parameter) else parameter


def leaky(x, weight):
    weight = np.reshape(weight, ()) if x.ndim == 0 else weight
    slope = _over_channels(weight, x) if x.ndim > 1 else weight
    return np.where(x >= 0, x, slope * x)


def _standardized(x, axes, eps):
    centred = x - np.mean(x, axis=axes, keepdims=True)
    return centred / np.sqrt(np.mean(centred * centred, axis=axes, keepdims=True) + eps)


def root_mean_square_norm(x, shape, weight, eps=2.0**-52):
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    return x / np.sqrt(np.mean(x * x, axis=axes, keepdims=True) + eps) * weight


def group_norm(x, groups, weight, bias, eps):
    grouped = x.reshape((x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]))
    result = _standardized(grouped, tuple(range(2, grouped.ndim)), eps).reshape(x.shape)
    return result * _over_channels(weight, x) + _over_channels(bias, x)


def instance_norm(x, running_mean, running_var, weight, bias, momentum=0.1, eps=1e-5):
    result = _standardized(x, tuple(range(2, x.ndim)), eps)
    if weight is None:
        return result
    return result * _over_channels(weight, x) + _over_channels(bias, x)


def batch_norm(x, mean, variance, weight, bias, training, momentum=0.1, eps=1e-5):
    if training:
        result = _standardized(x, (0, *range(2, x.ndim)), eps)
    else:
        result = (x - _over_channels(mean, x)) / np.sqrt(_over_channels(variance, x) + eps)
    if weight is None:
        return result
    return result * _over_channels(weight, x) + _over_channels(bias, x)


def local_response_norm(x, size, alpha=1e-4, beta=0.75, k=1.0):
    before, channels = size // 2, x.shape[1]
    squares = np.pad(x * x, [(0, 0), (before, size - 1 - before), (0, 0)])
    mean = sum(squares[:, start : start + channels] for start in range(size)) / size
    return x / (k + alpha * mean) ** beta


def attention(query, key, value, is_causal, dropout_p):
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1])
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True) @ value


MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}


def pad(x, widths, mode="constant", value=None):
    """Pad the last axes by pairs of widths, last axis first; a negative one cuts off."""
    pairs = [(0, 0)] * x.ndim
    for axis, before in enumerate(range(0, len(widths), 2), start=1):
        pairs[-axis] = widths[before], widths[before + 1]
    kept = tuple(
        slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(x.shape, pairs, strict=True)
    )
    pairs = [(max(a, 0), max(b, 0)) for a, b in pairs]
    options = {"constant_values": value} if mode == "constant" else {}
    return np.pad(x[kept], pairs, MODES[mode], **options)


SPELLINGS = {
    "nn.functional.prelu": leaky,
    "nn.functional.rms_norm": root_mean_square_norm,
    "nn.functional.group_norm": group_norm,
    "nn.functional.instance_norm": instance_norm,
    "nn.functional.batch_norm": batch_norm,
    "nn.functional.local_response_norm": local_response_norm,
    "nn.functional.scaled_dot_product_attention": attention,
    "nn.functional.pad.constant": pad,
    "nn.functional.pad.reflect": pad,
    "nn.functional.pad.replicate": pad,
    "constant_pad_nd": lambda x, widths, value: pad(x, widths, "constant", value),
}
