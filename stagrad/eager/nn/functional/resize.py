"""Functions that make images larger or smaller: padding and interpolation."""

import math
from typing import Any

import numpy as np

from stagrad.eager.define import operation
from stagrad.ir import aval_of
from stagrad.ops.define import FUNCTIONS
from stagrad.ops.slicing import slice as slice_

_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _pad_name(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> str:
    kind = {"reflect": "ReflectionPad", "replicate": "ReplicationPad"}.get(mode)
    if kind:
        return f"{kind}{len(pad) // 2}DBackward0"
    return "ConstantPadNdBackward0" if mode == "constant" else "CopySlices"


@operation(_pad_name)
def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """Return the tensor with elements added (or, where negative, cut) around.

    - pad: how many before and after the last axis, then the one before it, and so on.
    - mode: "constant" (adds `value`, 0 by default), "reflect", "replicate" or "circular".

    >>> import stagrad
    >>> stagrad.nn.functional.pad(stagrad.tensor([1.0, 2.0]), (1, 2))
    tensor([0., 1., 2., 0., 0.])
    """
    shape = aval_of(input).shape
    if len(pad) % 2 or len(pad) > 2 * len(shape):
        raise RuntimeError(
            "Padding length must be divisible by two and at most twice the number of dimensions of "
            f"the input; got {len(pad)} numbers for {len(shape)} dimensions"
        )
    pairs = [(int(a), int(b)) for a, b in zip(pad[::2], pad[1::2], strict=True)]
    margins = [(0, 0)] * (len(shape) - len(pairs)) + pairs[::-1]
    kept = tuple(
        (max(0, -before), extent - max(0, -after), 1)
        for extent, (before, after) in zip(shape, margins, strict=True)
    )
    if any(start > stop for start, stop, _ in kept):
        raise RuntimeError(f"narrow(): pad={tuple(pad)} cuts more than there is in {list(shape)}")
    if kept != tuple((0, extent, 1) for extent in shape):
        input = slice_(input, kept)
    added = [(max(0, before), max(0, after)) for before, after in margins]
    if mode == "constant":
        return FUNCTIONS[np.pad](input, added, constant_values=0 if value is None else value)
    if mode not in _MODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if mode == "reflect" and any(
        max(pair) >= extent for pair, extent in zip(added, shape, strict=True) if max(pair)
    ):
        raise RuntimeError(
            "Padding size should be less than the corresponding input dimension, but got: padding "
            f"{tuple(pad)} for input of size {list(shape)}"
        )
    return FUNCTIONS[np.pad](input, added, mode=_MODES[mode])


_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3}


def _interpolate_name(input: Any, sizes: Any, scales: Any, mode: str, align: bool) -> str:
    axes = aval_of(input).ndim - 2
    kind = {"nearest": "Nearest", "nearest-exact": "NearestExact"}.get(mode, mode.title())
    return f"Upsample{kind}{axes}DBackward0"


def _taken(x: Any, places: np.ndarray, axis: int) -> Any:
    return FUNCTIONS[np.take](x, places, axis=axis)


@operation(_interpolate_name)
def _interpolate(input: Any, sizes: Any, scales: Any, mode: str, align: bool) -> Any:
    x, shape, dtype = input, aval_of(input).shape, aval_of(input).dtype
    for axis, (size, scale) in enumerate(zip(sizes, scales, strict=True), 2):
        extent = shape[axis]
        step = extent / size if scale is None else 1 / scale
        if mode in ("nearest", "nearest-exact"):
            # PyTorch computes these places in single precision whatever the dtype.
            shift = np.float32(0.5 if mode == "nearest-exact" else 0)
            places = ((np.arange(size, dtype=np.float32) + shift) * np.float32(step)).astype(int)
            x = _taken(x, np.minimum(places, extent - 1), axis)
            continue
        if align:
            at = np.arange(size) * ((extent - 1) / (size - 1) if size > 1 else 0.0)
        else:
            at = np.maximum((np.arange(size) + 0.5) * step - 0.5, 0)
        low = np.minimum(at.astype(int), extent - 1)
        share = (at - low).astype(dtype).reshape((-1,) + (1,) * (len(shape) - axis - 1))
        high = np.minimum(low + 1, extent - 1)
        x = _taken(x, low, axis) * (1 - share) + _taken(x, high, axis) * share
    return x


def interpolate(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
) -> Any:  # fmt: skip
    """Return images (N, C, *image) at another size, given as such or as factors.

    `mode` is "nearest", "nearest-exact", or "linear", "bilinear", "trilinear" for one, two and
    three image axes; with `align_corners` these hold the outermost elements in their places.
    """
    image = aval_of(input).shape[2:]
    axes = len(image)
    if not axes:
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported (got "
            f"{aval_of(input).ndim}D) for the modes: nearest | linear | bilinear | trilinear"
        )
    if mode not in ("nearest", "nearest-exact") and _LINEAR.get(mode) != axes:
        known = ", ".join(repr(name) for name in ("nearest", "nearest-exact", *_LINEAR))
        raise NotImplementedError(
            f"interpolate: mode={mode!r} for images of {axes} axes; modes are {known}, the last "
            "three for one, two and three axes"
        )
    if align_corners is not None and mode not in _LINEAR:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear "
            "| bicubic | trilinear"
        )
    if (size is None) == (scale_factor is None):
        missing = size is None
        raise ValueError(
            "either size or scale_factor should be defined" if missing
            else "only one of size or scale_factor should be defined"
        )  # fmt: skip
    given = scale_factor if size is None else size
    each = list(given) if isinstance(given, list | tuple) else [given] * axes
    if len(each) != axes:
        raise ValueError(
            f"Input and output must have the same number of spatial dimensions, but got input with "
            f"spatial dimensions of {list(image)} and {'scale_factor' if size is None else 'size'} "
            f"of {list(each)}"
        )
    if size is not None:
        return _interpolate(input, each, [None] * axes, mode, bool(align_corners))
    sizes = [math.floor(extent * factor) for extent, factor in zip(image, each, strict=True)]
    scales = [None] * axes if recompute_scale_factor else each
    return _interpolate(input, sizes, scales, mode, bool(align_corners))
