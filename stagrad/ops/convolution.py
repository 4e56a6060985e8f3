"""Convolutions of images with kernels, in any number of dimensions.

One trilinear form stands behind all of them: the sum over y of y · conv(x, w). Its derivatives are
three operations, `conv` (x, w → y), `conv_for_input` (y, w → x) and `conv_for_kernel` (x, y → w),
and each operation's rules are the other two. Shapes are x: (batch, channels, *image),
w: (outputs, channels / groups, *size), y: (batch, outputs, *positions).
"""

from typing import Any

import numpy as xp

from stagrad.errors import ShapeError
from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.movement import broadcast_to, reshape, transpose


def position_count(
    extent: int, size: int, stride: int, padding: tuple[int, int], dilation: int
) -> int:
    """Return at how many positions a kernel fits along one axis."""
    room = extent + sum(padding) - dilation * (size - 1) - 1
    return room // stride + 1 if room >= 0 else 0


def window_columns(
    x: xp.ndarray, size: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
) -> xp.ndarray:
    """Return copies of all windows of images, as (channels, *size, batch, *positions)."""
    image = x.shape[2:]
    positions = [
        (extent - step * (count - 1) - 1) // jump + 1
        for extent, count, jump, step in zip(image, size, stride, dilation, strict=True)
    ]
    inner = x.strides[2:]
    offsets = [step * stride_ for step, stride_ in zip(dilation, inner, strict=True)]
    jumps = [jump * stride_ for jump, stride_ in zip(stride, inner, strict=True)]
    windows = xp.lib.stride_tricks.as_strided(
        x,
        (x.shape[1], *size, x.shape[0], *positions),
        (x.strides[1], *offsets, x.strides[0], *jumps),
    )
    return xp.ascontiguousarray(windows)


def padded_images(x: xp.ndarray, padding: tuple[tuple[int, int], ...]) -> xp.ndarray:
    """Return images with zeros around them."""
    if not any(map(any, padding)):
        return x
    return xp.pad(x, ((0, 0), (0, 0), *padding))


def chunks_of_images(
    x: xp.ndarray, size: tuple[int, ...], positions: tuple[int, ...]
) -> list[slice]:
    """Return the slices of a batch whose windows fit into a cache together."""
    count = x.shape[1]
    for extent in (*size, *positions):
        count *= extent
    step = max(1, 2**20 // max(count, 1))
    return [slice(start, start + step) for start in range(0, x.shape[0], step)]


def convolve_images(
    x: xp.ndarray,
    w: xp.ndarray,
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    groups: int,
) -> xp.ndarray:
    """Return images convolved with kernels: one matrix product per chunk of the batch."""
    x = padded_images(x, padding)
    size, outputs = w.shape[2:], w.shape[0]
    positions = tuple(
        (extent - step * (count - 1) - 1) // jump + 1
        for extent, count, jump, step in zip(x.shape[2:], size, stride, dilation, strict=True)
    )
    y = xp.empty((x.shape[0], outputs, *positions), x.dtype)
    matrices = w.reshape(groups, outputs // groups, -1)
    for chunk in chunks_of_images(x, size, positions):
        columns = window_columns(x[chunk], size, stride, dilation)
        columns = columns.reshape(groups, matrices.shape[2], -1)
        product = xp.matmul(matrices, columns).reshape(outputs, -1, *positions)
        y[chunk] = xp.moveaxis(product, 0, 1)
    return y


def spread_over_images(
    y: xp.ndarray,
    w: xp.ndarray,
    image: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    groups: int,
) -> xp.ndarray:
    """Return what each output puts into the image through its kernel: the transpose of conv."""
    size, (batch, outputs), positions = w.shape[2:], y.shape[:2], y.shape[2:]
    channels = w.shape[1] * groups
    whole = [extent + low + high for extent, (low, high) in zip(image, padding, strict=True)]
    x = xp.zeros((batch, channels, *whole), y.dtype)
    matrices = xp.swapaxes(w.reshape(groups, outputs // groups, -1), 1, 2)
    for chunk in chunks_of_images(x, size, positions):
        part = xp.moveaxis(y[chunk], 1, 0)
        columns = xp.matmul(matrices, part.reshape(groups, outputs // groups, -1))
        columns = columns.reshape(channels, *size, -1, *positions)
        images = xp.moveaxis(x[chunk], 1, 0)
        for offset in xp.ndindex(*size):
            place = tuple(
                slice(at * step, at * step + (count - 1) * jump + 1, jump)
                for at, step, count, jump in zip(offset, dilation, positions, stride, strict=True)
            )
            images[(slice(None), slice(None), *place)] += columns[(slice(None), *offset)]
    inside = (slice(low, low + extent) for extent, (low, _) in zip(image, padding, strict=True))
    return x[(slice(None), slice(None), *inside)]


def correlate_images(
    x: xp.ndarray,
    y: xp.ndarray,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    groups: int,
) -> xp.ndarray:
    """Return the products of outputs with the windows they stand for, summed over positions."""
    x = padded_images(x, padding)
    outputs, positions = y.shape[1], y.shape[2:]
    used = tuple(
        slice((count - 1) * jump + step * (extent - 1) + 1)
        for count, jump, step, extent in zip(positions, stride, dilation, size, strict=True)
    )
    x = x[(slice(None), slice(None), *used)]
    total = xp.zeros(
        (groups, outputs // groups, x.shape[1] // groups * int(xp.prod(size))), x.dtype
    )
    for chunk in chunks_of_images(x, size, positions):
        columns = window_columns(x[chunk], size, stride, dilation)
        columns = columns.reshape(groups, total.shape[2], -1)
        part = xp.moveaxis(y[chunk], 1, 0).reshape(groups, outputs // groups, -1)
        total += xp.matmul(part, xp.swapaxes(columns, 1, 2))
    return total.reshape(outputs, x.shape[1] // groups, *size)


_HELPERS = (window_columns, padded_images, chunks_of_images)


def _output_aval(avals: tuple[Aval, ...], params: Params) -> Aval:
    x, w = avals
    groups = params["groups"]
    if x.ndim != w.ndim or x.shape[1] != w.shape[1] * groups or w.shape[0] % groups:
        raise ShapeError(
            f"conv: images {x} and kernels {w} do not fit with groups={groups}: kernels are "
            "(outputs, channels / groups, *size), images (batch, channels, *image)"
        )
    axes = zip(
        x.shape[2:],
        w.shape[2:],
        params["stride"],
        params["padding"],
        params["dilation"],
        strict=True,
    )
    positions = tuple(position_count(*axis) for axis in axes)
    if 0 in positions:
        raise ShapeError(
            f"conv: kernels of size {w.shape[2:]} are larger than images {x.shape[2:]}"
        )
    return Aval((x.shape[0], w.shape[0], *positions), x.dtype)


def _input_aval(avals: tuple[Aval, ...], params: Params) -> Aval:
    y, w = avals
    return Aval((y.shape[0], w.shape[1] * params["groups"], *params["image"]), y.dtype)


def _kernel_aval(avals: tuple[Aval, ...], params: Params) -> Aval:
    x, y = avals
    return Aval((y.shape[1], x.shape[1] // params["groups"], *params["window"]), x.dtype)


def _batcher(apply: Any, kernel_operands: tuple[bool, bool]) -> Any:
    """Return a batcher that makes the batch further groups of channels."""

    def batcher(size: int, batched: Any, operands: Any, *, groups: int, **params: Any) -> Any:
        full = [
            operand if is_batched else broadcast_to(operand, (size, *aval_of(operand).shape))
            for operand, is_batched in zip(operands, batched, strict=True)
        ]
        folded = [
            _fold_kernels(operand) if is_kernel else _fold_images(operand)
            for operand, is_kernel in zip(full, kernel_operands, strict=True)
        ]
        result = apply(*folded, groups=size * groups, **params)
        shape = aval_of(result).shape
        if not any(kernel_operands):
            return reshape(result, (size, shape[0] // size, *shape[1:]))
        apart = reshape(result, (shape[0], size, shape[1] // size, *shape[2:]))
        return transpose(apart, (1, 0, *range(2, len(shape) + 1)))

    return batcher


def _fold_kernels(w: Any) -> Any:
    size, outputs, *rest = aval_of(w).shape
    return reshape(w, (size * outputs, *rest))


def _fold_images(x: Any) -> Any:
    size, batch, channels, *image = aval_of(x).shape
    moved = transpose(x, (1, 0, *range(2, len(image) + 3)))
    return reshape(moved, (batch, size * channels, *image))


def _image(x: Any) -> tuple[int, ...]:
    return aval_of(x).shape[2:]


def convolve(x: Any, w: Any, **params: Any) -> Any:
    """Apply `conv`: images and kernels of one dtype, every option given."""
    _output_aval((aval_of(x), aval_of(w)), params)
    return bind(conv_p, x, w, **params)


def convolve_for_input(y: Any, w: Any, **params: Any) -> Any:
    """Apply `conv_for_input`: outputs and kernels of one dtype, every option given."""
    return bind(conv_for_input_p, y, w, **params)


def _for_kernel(x: Any, y: Any, **params: Any) -> Any:
    return bind(conv_for_kernel_p, x, y, **params)


def _bilinear_jvp(apply: Any) -> Any:
    def jvp(primals: Any, tangents: Any, out: Any, **params: Any) -> Any:
        (a, b), (da, db) = primals, tangents
        if da is None or db is None:
            return apply(da, b, **params) if db is None else apply(a, db, **params)
        return apply(da, b, **params) + apply(a, db, **params)

    return jvp


_OPTIONS = "{stride}, {padding}, {dilation}, {groups}"

conv_p: Primitive = register(
    Primitive(
        name="conv",
        kind=Kind.LIBRARY,
        abstract_eval=_output_aval,
        py=f"convolve_images({{0}}, {{1}}, {_OPTIONS})",
        helpers=(*_HELPERS, convolve_images),
        vjps=(
            lambda ct, out, x, w, **params: convolve_for_input(ct, w, image=_image(x), **params),
            lambda ct, out, x, w, **params: _for_kernel(x, ct, window=_image(w), **params),
        ),
        jvp=_bilinear_jvp(convolve),
        batcher=_batcher(convolve, (False, True)),
        doc="Sums of windows of images times kernels, at every position.",
    )
)

conv_for_input_p: Primitive = register(
    Primitive(
        name="conv_for_input",
        kind=Kind.LIBRARY,
        abstract_eval=_input_aval,
        py=f"spread_over_images({{0}}, {{1}}, {{image}}, {_OPTIONS})",
        helpers=(chunks_of_images, spread_over_images),
        vjps=(
            lambda ct, out, y, w, *, image, **params: convolve(ct, w, **params),
            lambda ct, out, y, w, *, image, **params: _for_kernel(
                ct, y, window=_image(w), **params
            ),
        ),
        jvp=_bilinear_jvp(convolve_for_input),
        batcher=_batcher(convolve_for_input, (False, True)),
        doc="Kernels weighted by outputs, added up over an image: the transpose of conv.",
    )
)

conv_for_kernel_p: Primitive = register(
    Primitive(
        name="conv_for_kernel",
        kind=Kind.LIBRARY,
        abstract_eval=_kernel_aval,
        py=f"correlate_images({{0}}, {{1}}, {{window}}, {_OPTIONS})",
        helpers=(*_HELPERS, correlate_images),
        vjps=(
            lambda ct, out, x, y, *, window, **params: convolve_for_input(
                y, ct, image=_image(x), **params
            ),
            lambda ct, out, x, y, *, window, **params: _conv_at(x, ct, _image(y), **params),
        ),
        jvp=_bilinear_jvp(_for_kernel),
        batcher=_batcher(_for_kernel, (False, False)),
        doc="Windows of images weighted by outputs, added up over positions: conv's kernel rule.",
    )
)


def _conv_at(x: Any, w: Any, positions: tuple[int, ...], **params: Any) -> Any:
    """Convolve, where fewer positions than fit may be asked for."""
    result = convolve(x, w, **params)
    if _image(result) == positions:
        return result
    return result[(slice(None), slice(None), *(slice(count) for count in positions))]
