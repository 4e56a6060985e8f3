"""What is called on images: convolution and pooling, in any number of dimensions.

Axes are (batch, channels, *image) and kernels (outputs, channels / groups, *size), as in PyTorch;
with layout="channels_last" the channels of images are the last axis instead.
"""

import itertools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from stagrad.errors import ShapeError
from stagrad.ir import Aval, aval_of
from stagrad.ops.convert import as_value
from stagrad.ops.convolution import convolve, convolve_for_input, position_count
from stagrad.ops.define import FUNCTIONS
from stagrad.ops.movement import astype, constant, reshape
from stagrad.ops.promote import common_loop, loop_types
from stagrad.ops.reduction import bottom
from stagrad.ops.reduction import max as max_
from stagrad.ops.slicing import Region, slice

Pairs = tuple[tuple[int, int], ...]

LAYOUTS = ("channels_first", "channels_last")


def _per_axis(name: str, value: Any, count: int) -> tuple[int, ...]:
    """Return an argument that is one number for all axes, or one for each, as a tuple."""
    try:
        values = (operator.index(value),) * count
    except TypeError:
        values = tuple(operator.index(entry) for entry in value)
    if len(values) != count:
        raise ShapeError(f"{name}={value!r}: one number is expected, or {count}, one for each axis")
    return values


def _steps(name: str, value: Any, count: int) -> tuple[int, ...]:
    """Return an argument that counts elements along each axis, one at least."""
    values = _per_axis(name, value, count)
    if min(values) < 1:
        raise ValueError(f"{name}={value!r}: it is 1 or more")
    return values


def _paddings(padding: Any, size: Sequence[int], dilation: Sequence[int]) -> Pairs:
    """Return how much to add before and after each axis."""
    count = len(size)
    if padding == "valid":
        return ((0, 0),) * count
    if padding == "same":
        rooms = (step * (extent - 1) for extent, step in zip(size, dilation, strict=True))
        return tuple((room // 2, room - room // 2) for room in rooms)
    if isinstance(padding, str):
        raise ValueError(
            f"padding={padding!r}: it is 'valid', 'same', a number, or a number or pair per axis"
        )
    if not isinstance(padding, int | np.integer) and any(map(np.ndim, padding)):
        pairs = tuple((int(before), int(after)) for before, after in padding)
        if len(pairs) != count:
            raise ShapeError(f"padding={padding!r}: {count} pairs are expected, one for each axis")
        return pairs
    return tuple((amount, amount) for amount in _per_axis("padding", padding, count))


def _images(name: str, x: Any, layout: str) -> Any:
    """Return images with their channels first."""
    if layout not in LAYOUTS:
        raise ValueError(f"{name}: layout={layout!r}; it is 'channels_first' or 'channels_last'")
    x = as_value(x)
    if aval_of(x).ndim < 3:
        raise ShapeError(f"{name}: images are (batch, channels, *image), not {aval_of(x)}")
    return FUNCTIONS[np.moveaxis](x, -1, 1) if layout == "channels_last" else x


def _laid_out(y: Any, layout: str) -> Any:
    return FUNCTIONS[np.moveaxis](y, 1, -1) if layout == "channels_last" else y


def _same_dtype(*operands: Any) -> list[Any]:
    dtypes, _ = common_loop(tuple(loop_types([aval_of(operand) for operand in operands])))
    return [astype(operand, dtype) for operand, dtype in zip(operands, dtypes, strict=True)]


def _with_bias(name: str, y: Any, bias: Any) -> Any:
    if bias is None:
        return y
    given, outputs = aval_of(as_value(bias)), aval_of(y).shape[1]
    if given.shape != (outputs,):
        raise ShapeError(f"{name}: bias has one number for each of {outputs} outputs, not {given}")
    return y + reshape(as_value(bias), (-1,) + (1,) * (aval_of(y).ndim - 2))


def _operands(name: str, x: Any, kernel: Any, layout: str) -> tuple[Any, Any, int]:
    """Return images, kernels in the same dtype, and how many axes an image has."""
    x, kernel = _same_dtype(_images(name, x, layout), as_value(kernel))
    if aval_of(kernel).ndim != aval_of(x).ndim:
        raise ShapeError(
            f"{name}: kernels are (outputs, channels / groups, *size) with one size for each axis "
            f"of the image; images are {aval_of(x)}, kernels {aval_of(kernel)}"
        )
    return x, kernel, aval_of(x).ndim - 2


def conv(
    x: Any,
    kernel: Any,
    bias: Any = None,
    *,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    layout: str = "channels_first",
) -> Any:
    """Convolve images with kernels: sums of products at every position (no kernel is flipped).

    - x: images, (batch, channels, *image).
    - kernel: (outputs, channels / groups, *size).
    - bias: one number per output, or None.
    - stride, dilation: one number, or one for each image axis.
    - padding: how many zeros to add around: a number, a number or a pair (before, after) for each
      axis, "valid" (none) or "same" (positions are as many as image elements, at stride 1).
    - groups: channels and outputs are split into so many groups, convolved separately.
    - layout: "channels_last" for images (batch, *image, channels); kernels stay as they are.

    Returns (batch, outputs, *positions) in the common dtype. Raises ShapeError where shapes do not
    fit.

    >>> import numpy as np, stagrad
    >>> x = np.arange(5.0).reshape(1, 1, 5)
    >>> stagrad.conv(x, np.array([[[1.0, 0.0, -1.0]]]), padding=1)
    array([[[-1., -2., -2., -2.,  3.]]])
    """
    x, kernel, count = _operands("conv", x, kernel, layout)
    steps = _steps("dilation", dilation, count)
    y = convolve(
        x,
        kernel,
        stride=_steps("stride", stride, count),
        padding=_paddings(padding, aval_of(kernel).shape[2:], steps),
        dilation=steps,
        groups=operator.index(groups),
    )
    return _laid_out(_with_bias("conv", y, bias), layout)


def conv_transpose(
    x: Any,
    kernel: Any,
    bias: Any = None,
    *,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    layout: str = "channels_first",
) -> Any:
    """Transposed convolution: adds each element of an image times a kernel into a larger image.

    The derivative of `conv` with respect to its images, as `torch.nn.functional.conv_transpose2d`.
    Kernels are (channels, outputs / groups, *size); `output_padding` adds to the far end of each
    axis of the result, to choose among the sizes that `conv` with this stride would shrink to x.

    >>> import numpy as np, stagrad
    >>> x = np.array([[[1.0, 2.0]]])
    >>> stagrad.conv_transpose(x, np.array([[[1.0, 1.0, 1.0]]]), stride=2)
    array([[[1., 1., 3., 2., 2.]]])
    """
    x, kernel, count = _operands("conv_transpose", x, kernel, layout)
    size, groups = aval_of(kernel).shape[2:], operator.index(groups)
    if aval_of(kernel).shape[0] != aval_of(x).shape[1] or aval_of(x).shape[1] % groups:
        raise ShapeError(
            f"conv_transpose: images {aval_of(x)} and kernels {aval_of(kernel)} do not fit with "
            f"groups={groups}: kernels are (channels, outputs / groups, *size)"
        )
    jumps, steps = _steps("stride", stride, count), _steps("dilation", dilation, count)
    paddings = _paddings(padding, size, steps)
    extra = _per_axis("output_padding", output_padding, count)
    axes = zip(aval_of(x).shape[2:], size, jumps, steps, paddings, extra, strict=True)
    image = tuple(
        (extent - 1) * jump - sum(margin) + step * (width - 1) + 1 + more
        for extent, width, jump, step, margin, more in axes
    )
    y = convolve_for_input(
        x, kernel, image=image, stride=jumps, padding=paddings, dilation=steps, groups=groups
    )
    return _laid_out(_with_bias("conv_transpose", y, bias), layout)


class _Windows:
    """Where the windows of a pooling lie: `image` is padded, `padding` may be longer at the end."""

    def __init__(
        self, aval: Aval, size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
    ) -> None:
        count = aval.ndim - 2
        self.size = _steps("size", size, count)
        self.stride = self.size if stride is None else _steps("stride", stride, count)
        self.dilation = _steps("dilation", dilation, count)
        self.margins = _paddings(padding, self.size, self.dilation)
        axes = zip(aval.shape[2:], self.size, self.stride, self.margins, self.dilation, strict=True)
        self.positions, self.padding = [], []
        for extent, width, jump, margin, step in axes:
            before, after = margin
            more = jump - 1 if ceil_mode else 0
            places = position_count(extent, width, jump, (before, after + more), step)
            # A window must begin inside the image or the margin before it.
            if ceil_mode and (places - 1) * jump >= extent + before:
                places -= 1
            if places < 1:
                raise ShapeError(f"pooling: windows of {self.size} do not fit into {aval}")
            reach = (places - 1) * jump + step * (width - 1) + 1
            self.positions.append(places)
            self.padding.append((before, max(after, reach - extent - before)))

    def parts(self, x: Any) -> list[Any]:
        """Return for each place in a window the elements at that place, of all windows."""
        parts = []
        for offset in itertools.product(*map(range, self.size)):
            axes = zip(offset, self.dilation, self.positions, self.stride, strict=True)
            place = tuple(_span(at * step, places, jump) for at, step, places, jump in axes)
            region: Region = (None, None, *place)
            parts.append(slice(x, region))
        return parts

    def padded(self, x: Any, fill: Any) -> Any:
        """Return images with a number around them."""
        if not any(map(any, self.padding)):
            return x
        margins = ((0, 0), (0, 0), *self.padding)
        return FUNCTIONS[np.pad](x, margins, constant_values=fill)


def _span(start: int, count: int, step: int) -> tuple[int, int, int]:
    return (start, start + (count - 1) * step + 1, step if count > 1 else 1)


def max_pool(
    x: Any,
    size: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    layout: str = "channels_first",
) -> Any:
    """Return the largest element of every window of images; the derivative is shared among ties.

    - x: images, (batch, channels, *image).
    - size, stride, dilation: one number, or one for each image axis; stride is the size by default.
    - padding: as in `conv`; what is added is never the largest.
    - ceil_mode: also take windows that reach beyond the end.
    - layout: as in `conv`.

    >>> import numpy as np, stagrad
    >>> stagrad.max_pool(np.arange(16.0).reshape(1, 1, 4, 4), 2)
    array([[[[ 5.,  7.],
             [13., 15.]]]])
    """
    x = _images("max_pool", x, layout)
    windows = _Windows(aval_of(x), size, stride, padding, dilation, ceil_mode)
    parts = windows.parts(windows.padded(x, bottom(aval_of(x).dtype)))
    return _laid_out(max_(FUNCTIONS[np.stack](parts), axis=0), layout)


def avg_pool(
    x: Any,
    size: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    layout: str = "channels_first",
) -> Any:
    """Return the mean of every window of images.

    Arguments are those of `max_pool`. The zeros of the padding count as elements unless
    `count_include_pad` is False; what `ceil_mode` adds beyond it never does.

    >>> import numpy as np, stagrad
    >>> stagrad.avg_pool(np.arange(16.0).reshape(1, 1, 4, 4), 2)
    array([[[[ 2.5,  4.5],
             [10.5, 12.5]]]])
    """
    x = _images("avg_pool", x, layout)
    if aval_of(x).dtype.kind not in "fc":
        x = astype(x, np.float64)
    windows = _Windows(aval_of(x), size, stride, padding, 1, ceil_mode)
    total, *others = windows.parts(windows.padded(x, 0))
    for part in others:
        total = total + part
    counts = _counts(aval_of(x), windows, count_include_pad)
    if np.all(counts == math.prod(windows.size)):
        return _laid_out(total / math.prod(windows.size), layout)
    weights = constant((1 / counts).astype(aval_of(x).dtype), like=total)
    return _laid_out(total * weights, layout)


def _counts(aval: Aval, windows: _Windows, count_include_pad: bool) -> np.ndarray:
    """Return how many elements each window holds, along all image axes."""
    counts = np.ones((1,) * len(windows.size), dtype=int)
    axes = zip(
        aval.shape[2:],
        windows.size,
        windows.stride,
        windows.margins,
        windows.positions,
        strict=True,
    )
    for number, (extent, width, jump, (before, after), places) in enumerate(axes):
        starts = np.arange(places) * jump - before
        first, last = (-before, extent + after) if count_include_pad else (0, extent)
        along = np.minimum(starts + width, last) - np.maximum(starts, first)
        shape = [1] * len(windows.size)
        shape[number] = places
        counts = counts * along.reshape(shape)
    return counts
