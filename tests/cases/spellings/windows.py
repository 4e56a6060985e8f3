"""Convolutions and pooling over sliding windows.

The windows are gathered by an index array per axis, which is how they are written in NumPy where
the gradient matters; `stagrad.conv` and the pools have tests of their own.
"""

import numpy as np


def _each(value, axes):
    """Return one number per axis."""
    values = tuple(value) if isinstance(value, tuple | list) else (value,)
    return values * axes if len(values) == 1 else values


def _gather(x, sizes, strides, dilations, padding, fill=0.0):
    """Return the windows over the last axes: (..., places of each axis, positions of each axis).

    `padding` has a pair of widths for each axis.
    """
    count = len(sizes)
    leading = x.ndim - count
    x = np.pad(x, [(0, 0)] * leading + list(padding), constant_values=fill)
    index = []
    for axis, (size, stride, dilation) in enumerate(zip(sizes, strides, dilations, strict=True)):
        reach = (size - 1) * dilation + 1
        starts = np.arange(0, x.shape[leading + axis] - reach + 1, stride)
        places = starts[:, None] + dilation * np.arange(size)
        shape = [1] * (2 * count)
        shape[axis], shape[count + axis] = places.shape
        index.append(places.reshape(shape))
    return x[(Ellipsis, *index)]


def convolution(x, weight, bias, stride=1, padding=0, groups=1, dilation=1):
    axes = weight.ndim - 2
    sizes, dilations = weight.shape[2:], _each(dilation, axes)
    if padding == "same":
        excess = [(size - 1) * d for size, d in zip(sizes, dilations, strict=True)]
        widths = [(e // 2, e - e // 2) for e in excess]
    else:
        widths = [(w, w) for w in _each(0 if padding == "valid" else padding, axes)]
    batched = x if x.ndim == axes + 2 else x[None]
    windows = _gather(batched, sizes, _each(stride, axes), dilations, widths)
    places = windows.shape[2 : 2 + axes]
    windows = windows.reshape((len(batched), groups, weight.shape[1], *places, *sizes))
    kernels = weight.reshape((groups, -1, *weight.shape[1:]))
    letters = "uvw"[:axes], "xyz"[:axes]
    subscripts = f"ngi{''.join(letters)},goi{letters[1]}->ngo{letters[0]}"
    result = np.einsum(subscripts, windows, kernels).reshape((len(batched), -1, *places))
    if bias is not None:
        result = result + bias.reshape((-1,) + (1,) * axes)
    return result if x.ndim == axes + 2 else result[0]


def transposed_convolution(
    x, weight, bias, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    """Put zeros between the elements and convolve with the flipped kernel."""
    strides, dilations = _each(stride, 2), _each(dilation, 2)
    batched = x if x.ndim == 4 else x[None]
    spread_shape = [(n - 1) * s + 1 for n, s in zip(batched.shape[2:], strides, strict=True)]
    spread = np.zeros((*batched.shape[:2], *spread_shape))
    spread[:, :, :: strides[0], :: strides[1]] = batched
    widths = []
    parts = zip(
        weight.shape[2:], dilations, _each(padding, 2), _each(output_padding, 2), strict=True
    )
    for size, d, width, extra in parts:
        reach = (size - 1) * d
        widths.append((reach - width, reach - width + extra))
    spread = np.pad(spread, [(0, 0), (0, 0), *widths])
    kernels = np.flip(weight, (2, 3)).reshape((groups, -1, *weight.shape[1:]))
    kernels = np.swapaxes(kernels, 1, 2).reshape((-1, weight.shape[0] // groups, *weight.shape[2:]))
    result = convolution(spread, kernels, bias, groups=groups, dilation=dilations)
    return result if x.ndim == 4 else result[0]


def _pool_padding(extents, sizes, strides, dilations, padding, ceil_mode):
    """Return widths that end each axis where PyTorch's last window does."""
    widths = []
    for n, size, stride, d, width in zip(extents, sizes, strides, dilations, padding, strict=True):
        room = n + 2 * width - ((size - 1) * d + 1)
        steps = room // stride
        if ceil_mode and room % stride and (steps + 1) * stride < n + width:
            steps += 1
        widths.append((width, max(0, width + steps * stride - room)))
    return widths


def _pooled_windows(x, axes, kernel_size, stride, padding, dilation, ceil_mode, fill):
    sizes, dilations = _each(kernel_size, axes), _each(dilation, axes)
    strides = _each(stride or kernel_size, axes)
    extents = x.shape[x.ndim - axes :]
    widths = _pool_padding(extents, sizes, strides, dilations, _each(padding, axes), ceil_mode)
    windows = _gather(x, sizes, strides, dilations, widths, fill)
    return windows.reshape((*windows.shape[: windows.ndim - axes], -1))


def max_pool(x, kernel_size, stride, ceil_mode, padding, dilation, return_indices, axes):
    """The maximum of each window, and where it stands in the image."""
    options = (axes, kernel_size, stride, padding, dilation, ceil_mode)
    windows = _pooled_windows(x, *options, -np.inf)
    if not return_indices:
        return np.max(windows, axis=-1)
    extents = x.shape[x.ndim - axes :]
    numbers = np.arange(np.prod(extents)).reshape(extents)
    places = _pooled_windows(numbers, *options, 0)
    position = np.argmax(windows, axis=-1)[..., None]
    value = np.take_along_axis(windows, position, -1)[..., 0]
    return value, np.take_along_axis(places + 0 * position, position, -1)[..., 0]


def average_pool(
    x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor=None
):
    axes = 1 if x.ndim == 3 else 2
    options = (axes, kernel_size, stride, padding, 1, ceil_mode)
    total = np.sum(_pooled_windows(x, *options, 0.0), axis=-1)
    if divisor is not None:
        return total / divisor
    inside = np.ones(x.shape[x.ndim - axes :])
    if count_include_pad:
        width = [(w, w) for w in _each(padding, axes)]
        inside = np.pad(inside, width, constant_values=1.0)
        options = (axes, kernel_size, stride, 0, 1, ceil_mode)
    return total / np.sum(_pooled_windows(inside, *options, 0.0), axis=-1)


def _adaptive_windows(extent, count):
    return [(k * extent // count, -(-(k + 1) * extent // count)) for k in range(count)]


def _adaptive(x, size, reduction):
    rows, columns = (
        extent if n is None else n for extent, n in zip(x.shape[-2:], _each(size, 2), strict=True)
    )
    return np.stack(
        [
            np.stack(
                [
                    reduction(x[..., top:bottom, left:right])
                    for left, right in _adaptive_windows(x.shape[-1], columns)
                ],
                axis=-1,
            )
            for top, bottom in _adaptive_windows(x.shape[-2], rows)
        ],
        axis=-2,
    )


def adaptive_average_pool(x, size):
    return _adaptive(x, size, lambda window: np.mean(window, axis=(-2, -1)))


def adaptive_max_pool(x, size, return_indices):
    value = _adaptive(x, size, lambda window: np.max(window, axis=(-2, -1)))
    if not return_indices:
        return value
    hits = x[..., None, None, :, :] == value[..., None, None]
    return value, np.argmax(hits.reshape((*value.shape, -1)), axis=-1)


def unfold(x, kernel_size, dilation=1, padding=0, stride=1):
    sizes = _each(kernel_size, 2)
    widths = [(w, w) for w in _each(padding, 2)]
    windows = _gather(x, sizes, _each(stride, 2), _each(dilation, 2), widths)
    columns = np.transpose(windows, (0, 1, 4, 5, 2, 3))
    return columns.reshape((len(x), x.shape[1] * sizes[0] * sizes[1], -1))


def _max_pool(axes):
    return lambda x, **options: max_pool(x, axes=axes, **options)


SPELLINGS = {
    "nn.functional.conv1d": convolution,
    "nn.functional.conv2d": convolution,
    "nn.functional.conv3d": convolution,
    "nn.functional.conv_transpose2d": transposed_convolution,
    "nn.functional.max_pool1d": _max_pool(1),
    "nn.functional.max_pool2d": _max_pool(2),
    "nn.functional.avg_pool1d": average_pool,
    "nn.functional.avg_pool2d": average_pool,
    "nn.functional.adaptive_avg_pool2d": adaptive_average_pool,
    "nn.functional.adaptive_max_pool2d": adaptive_max_pool,
    "nn.functional.unfold": unfold,
}
