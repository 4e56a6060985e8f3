"""Windows of images: their maxima under a given size of the result, and all of them as columns."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.eager.functions.registry import function, numbers
from stagrad.ir import aval_of


def image_function(label: str) -> Callable[..., Any]:
    """Return the decorator for a function of `nn.functional` alone."""
    return function(label, method=False, module=False)


def with_batch(body: Callable[[Any], Any], input: Any, axes: int) -> Any:
    """Run a function of a batch also on a single image with that many image axes."""
    if aval_of(input).ndim == axes + 2:
        return body(input)
    if aval_of(input).ndim != axes + 1:
        raise RuntimeError(
            f"Expected {axes + 1}D (unbatched) or {axes + 2}D (batched) input, but got input of "
            f"size: {list(aval_of(input).shape)}"
        )
    return np.squeeze(body(np.expand_dims(input, 0)), 0)


def _per_axis(value: Any, axes: int) -> tuple[int, ...]:
    if isinstance(value, list | tuple):
        return tuple(int(v) for v in value) * (axes if len(value) == 1 else 1)
    return (int(value),) * axes


def _bins(extent: int, count: int) -> list[tuple[int, int]]:
    """Return the parts of an axis that adaptive pooling takes: near-equal, maybe overlapping."""
    return [(place * extent // count, -(-(place + 1) * extent // count)) for place in range(count)]


def adaptive(input: Any, output_size: Any, axes: int) -> tuple[Any, list[list[tuple[int, int]]]]:
    """Return the sizes an adaptive pooling is to give, and the bins of each axis."""
    image = aval_of(input).shape[-axes:]
    wanted = output_size if isinstance(output_size, list | tuple) else (output_size,) * axes
    sizes = [e if w is None else int(w) for w, e in zip(wanted, image, strict=True)]
    return sizes, [_bins(extent, count) for extent, count in zip(image, sizes, strict=True)]


def _adaptive_max(axes: int) -> Callable[..., Any]:
    def body(input: Any, output_size: Any) -> Any:
        sizes, bins = adaptive(input, output_size, axes)
        array = numbers(input)
        lead = array.shape[: array.ndim - axes]
        flat = np.reshape(array, (*lead, -1))
        marks = np.arange(flat.shape[-1]).reshape(array.shape[-axes:])
        found = np.empty((*lead, *sizes), np.int64)
        for place in np.ndindex(*sizes):
            part = marks[tuple(slice(*bins[axis][at]) for axis, at in enumerate(place))].ravel()
            found[(..., *place)] = part[np.argmax(flat[..., part], axis=-1)]
        row = np.reshape(input, (*lead, -1))
        taken = np.take_along_axis(row, np.reshape(found, (*lead, -1)), -1)
        return np.reshape(taken, found.shape), found

    body.__name__ = body.__qualname__ = f"adaptive_max_pool{axes}d"
    run = image_function(f"AdaptiveMaxPool{axes}DBackward0")(body)

    def public(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        result, places = run(input, output_size)
        return (result, places) if return_indices else result

    public.__name__ = public.__qualname__ = body.__name__
    public.__doc__ = f"Return maxima of windows so chosen that the image has a given size, {axes}D."
    return public


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = map(_adaptive_max, (1, 2, 3))


@image_function("Im2ColBackward0")
def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """Return all windows of images as columns: (batch, channels * window, positions)."""

    def columns(x: Any) -> Any:
        batch, channels = aval_of(x).shape[:2]
        size, gaps = _per_axis(kernel_size, 2), _per_axis(dilation, 2)
        edges, steps = _per_axis(padding, 2), _per_axis(stride, 2)
        padded = np.pad(x, ((0, 0), (0, 0), *((edge, edge) for edge in edges)))
        counts = [
            (extent - gap * (window - 1) - 1) // step + 1
            for extent, gap, window, step in zip(
                aval_of(padded).shape[2:], gaps, size, steps, strict=True
            )
        ]
        parts = []
        for offset in np.ndindex(size):
            at = tuple(
                slice(o * gap, o * gap + (count - 1) * step + 1, step)
                for o, gap, count, step in zip(offset, gaps, counts, steps, strict=True)
            )
            parts.append(
                np.reshape(
                    padded[(slice(None), slice(None), *at)], (batch, channels, math.prod(counts))
                )
            )
        return np.reshape(np.stack(parts, axis=2), (batch, -1, math.prod(counts)))

    return with_batch(columns, input, 2)
