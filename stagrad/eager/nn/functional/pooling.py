"""Pooling: one number for each window of images."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stagrad.eager.define import operation
from stagrad.eager.functions.registry import numbers
from stagrad.eager.nn.functional.conv import batched, unbatched
from stagrad.ir import aval_of
from stagrad.ops.define import FUNCTIONS
from stagrad.ops.images import avg_pool, max_pool
from stagrad.ops.reduction import bottom
from stagrad.ops.slicing import slice as slice_


def _per_axis(value: Any, axes: int) -> tuple[int, ...]:
    if isinstance(value, list | tuple):
        return tuple(map(int, value)) if len(value) == axes else (int(value[0]),) * axes
    return (int(value),) * axes


class _Windows:
    """Where windows lie: along each axis their extent, distance, margin, spacing, and number."""

    def __init__(
        self, shape: Sequence[int], size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool
    ) -> None:
        axes = len(shape)
        self.shape = tuple(shape)
        self.size = _per_axis(size, axes)
        self.stride = self.size if stride in (None, (), []) else _per_axis(stride, axes)
        self.padding = _per_axis(padding, axes)
        self.dilation = _per_axis(dilation, axes)
        if any(2 * margin > extent for margin, extent in zip(self.padding, self.size, strict=True)):
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={padding} and "
                f"kernel_size={size}"
            )
        self.counts = tuple(self._count(axis, ceil) for axis in range(axes))
        if min(self.counts) < 1:
            raise RuntimeError(
                f"Given input size: {list(shape)}. Calculated output size: {list(self.counts)}. "
                "Output size is too small"
            )

    def _count(self, axis: int, ceil: bool) -> int:
        margin, jump = self.padding[axis], self.stride[axis]
        room = self.shape[axis] + 2 * margin - self.dilation[axis] * (self.size[axis] - 1) - 1
        count = (-(-room // jump) if ceil else room // jump) + 1
        # A window must begin inside the image or the margin before it.
        if ceil and (count - 1) * jump >= self.shape[axis] + margin:
            count -= 1
        return count

    def reach(self, axis: int) -> int:
        """Return how far behind the image the last window ends, 0 if within."""
        last = (self.counts[axis] - 1) * self.stride[axis] - self.padding[axis]
        return max(0, last + self.dilation[axis] * (self.size[axis] - 1) + 1 - self.shape[axis])


def _places_of_largest(images: np.ndarray, windows: _Windows) -> np.ndarray:
    """Return for each window where in the image its first largest element is; NaN is largest."""
    axes = range(len(windows.size))
    margins = [(0, 0), (0, 0), *((windows.padding[a], windows.reach(a)) for a in axes)]
    padded = np.pad(images, margins, constant_values=bottom(images.dtype))
    best = np.full(images.shape[:2] + windows.counts, bottom(images.dtype))
    place = np.full(best.shape, -1)
    flat = np.arange(math.prod(windows.shape)).reshape(windows.shape)
    numbered = np.pad(flat, margins[2:], constant_values=-1)
    for offset in itertools.product(*map(range, windows.size)):
        spans: tuple[Any, ...] = tuple(
            slice(at := offset[a] * windows.dilation[a],
                  at + (windows.counts[a] - 1) * windows.stride[a] + 1, windows.stride[a])
            for a in axes
        )  # fmt: skip
        part, where = padded[:, :, *spans], numbered[spans]
        better = ((part > best) | (part != part) | (place < 0)) & (where >= 0) & (best == best)
        np.copyto(best, part, where=better)
        np.copyto(place, np.broadcast_to(where, place.shape), where=better)
    return place


def _max_pooling(axes: int, label: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    name = f"max_pool{axes}d"

    @operation(label)
    def pool(
        input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    ) -> Any:  # fmt: skip
        images, added = batched(input, axes, name)
        shape = aval_of(images).shape
        windows = _Windows(shape[2:], kernel_size, stride, padding, dilation, ceil_mode)
        array = numbers(images)
        if not isinstance(array, np.ndarray):
            return unbatched(
                max_pool(
                    images, windows.size, stride=windows.stride, padding=windows.padding,
                    dilation=windows.dilation, ceil_mode=ceil_mode,
                ), added,
            ), None  # fmt: skip
        places = _places_of_largest(array, windows)
        rows = FUNCTIONS[np.reshape](images, (*shape[:2], -1))
        found = FUNCTIONS[np.take_along_axis](rows, places.reshape(*shape[:2], -1), -1)
        result = FUNCTIONS[np.reshape](found, places.shape)
        return unbatched(result, added), unbatched(places, added)

    def function(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False, return_indices: bool = False,
    ) -> Any:  # fmt: skip
        result = pool(input, kernel_size, stride, padding, dilation, ceil_mode)
        return result if return_indices else result[0]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        "Return the largest element of each window, the first of equal ones; with "
        "`return_indices` also where in the flattened image it is."
    )
    return function, pool


max_pool1d, _ = _max_pooling(1, "SqueezeBackward1")
max_pool2d, _ = _max_pooling(2, "MaxPool2DWithIndicesBackward0")
max_pool3d, _ = _max_pooling(3, "MaxPool3DWithIndicesBackward0")


def _avg_pooling(axes: int, label: str) -> Callable[..., Any]:
    name = f"avg_pool{axes}d"

    @operation(label)
    def function(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0,
        ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: Any = None,
    ) -> Any:  # fmt: skip
        images, added = batched(input, axes, name)
        shape = aval_of(images).shape
        windows = _Windows(shape[2:], kernel_size, stride, padding, 1, ceil_mode)
        if divisor_override is None:
            result = avg_pool(
                images, windows.size, stride=windows.stride, padding=windows.padding,
                ceil_mode=ceil_mode, count_include_pad=count_include_pad,
            )  # fmt: skip
            return unbatched(result, added)
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        margins = [(windows.padding[a], windows.reach(a)) for a in range(axes)]
        padded = FUNCTIONS[np.pad](images, [(0, 0), (0, 0), *margins])
        # All windows are whole now, so the mean times their size is the sum.
        result = avg_pool(padded, windows.size, stride=windows.stride)
        region = (None, None, *((0, count, 1) for count in windows.counts))
        result = slice_(result, region) * (math.prod(windows.size) / divisor_override)
        return unbatched(result, added)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Return the mean of each window; the zeros of the padding count by default."
    return function


avg_pool1d = _avg_pooling(1, "SqueezeBackward1")
avg_pool2d = _avg_pooling(2, "AvgPool2DBackward0")
avg_pool3d = _avg_pooling(3, "AvgPool3DBackward0")


def _adaptive_name(axes: int) -> Callable[..., str]:
    def name(input: Any, output_size: Any) -> str:
        if axes == 1:
            return "SqueezeBackward1"
        sizes = output_size if isinstance(output_size, list | tuple) else [output_size]
        return "MeanBackward1" if set(sizes) == {1} else f"AdaptiveAvgPool{axes}DBackward0"

    return name


def _adaptive(axes: int) -> Callable[..., Any]:
    @operation(_adaptive_name(axes))
    def function(input: Any, output_size: Any) -> Any:
        shape = aval_of(input).shape
        wanted = output_size if isinstance(output_size, list | tuple) else (output_size,) * axes
        result = input
        for axis, count in enumerate(wanted, len(shape) - axes):
            extent = shape[axis]
            if count is None or count == extent:
                continue
            parts = [
                FUNCTIONS[np.mean](
                    slice_(result, _along(axis, len(shape), k * extent // count,
                                          -(-(k + 1) * extent // count))),
                    axis=axis,
                )
                for k in range(count)
            ]  # fmt: skip
            result = FUNCTIONS[np.stack](parts, axis=axis)
        return result

    function.__name__ = function.__qualname__ = f"adaptive_avg_pool{axes}d"
    function.__doc__ = (
        "Return means of windows chosen so that `output_size` of them cover an image."
    )
    return function


def _along(axis: int, ndim: int, start: int, stop: int) -> Any:
    return tuple((start, stop, 1) if a == axis else None for a in range(ndim))


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = map(_adaptive, (1, 2, 3))
