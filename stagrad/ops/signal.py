"""Convolution and correlation of sequences and arrays, and polynomials by their coefficients."""

from typing import Any

import numpy as np

from stagrad.errors import ShapeError, UnsupportedError
from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.complex import conjugate
from stagrad.ops.convert import as_value
from stagrad.ops.convolution import convolve as convolve_images
from stagrad.ops.define import FUNCTIONS, implements, implements_scipy
from stagrad.ops.movement import astype, broadcast_to, constant, reshape
from stagrad.ops.slicing import axis_slice, slice

MODES = ("full", "valid", "same")


WIDE = 32
"""Windows of more elements are gathered by index; narrower ones are stacked from slices."""


@implements(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """Windows at every position of axes, as `numpy.lib.stride_tricks.sliding_window_view`.

    The result is a copy, not a view.
    """
    x = as_value(x)
    sizes = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    ndim = aval_of(x).ndim
    given = range(ndim) if axis is None else axis
    axes = np.lib.array_utils.normalize_axis_tuple(
        given, ndim, "sliding_window_view", allow_duplicate=True
    )
    if len(axes) != len(sizes):
        raise ShapeError(
            f"sliding_window_view: window_shape {sizes} must have one entry for each of axes {axes}"
        )
    for size, along in zip(sizes, axes, strict=True):
        x = _windows_along(x, int(size), along)
    return x


def _windows_along(x: Any, size: int, axis: int) -> Any:
    """Return windows along an axis, whose elements make up a new last axis."""
    places = aval_of(x).shape[axis] - size + 1
    if size < 0 or places < 1:
        raise ShapeError(f"sliding_window_view: a window of {size} does not fit {aval_of(x)}")
    if 0 < size <= WIDE:
        parts = [axis_slice(x, axis, start, start + places) for start in range(size)]
        return FUNCTIONS[np.stack](parts, axis=-1)
    index = constant(np.arange(places)[:, None] + np.arange(size), like=x)
    return FUNCTIONS[np.moveaxis](FUNCTIONS[np.take](x, index, axis), axis + 1, -1)


def _reversed(x: Any) -> Any:
    return x[::-1]


def _convolve_aval(avals: tuple[Aval, ...], params: Params) -> Aval:
    a, v = avals
    n, m = a.size, v.size
    extent = n + m - 1 if params["mode"] == "full" else n - m + 1
    return Aval((extent,), np.convolve(np.zeros(1, a.dtype), np.zeros(1, v.dtype)).dtype)


# Of a "full" result each input is a "valid" part, and the other way round.
def _convolve_first_rule(ct: Any, out: Any, a: Any, v: Any, *, mode: str) -> Any:
    return bind(convolve_p, ct, _reversed(v), mode="valid" if mode == "full" else "full")


def _convolve_second_rule(ct: Any, out: Any, a: Any, v: Any, *, mode: str) -> Any:
    if mode == "full":
        return bind(convolve_p, ct, _reversed(a), mode="valid")
    return _reversed(bind(convolve_p, a, _reversed(ct), mode="valid"))


def _convolve_batcher(size: int, batched: Any, operands: Any, *, mode: str) -> Any:
    """Convolve many pairs at once as channels of one image, each with a kernel of its own."""
    a, v = (
        operand if is_batched else broadcast_to(operand, (size, *aval_of(operand).shape))
        for operand, is_batched in zip(operands, batched, strict=True)
    )
    m = aval_of(v).shape[1]
    result = convolve_images(
        reshape(a, (1, *aval_of(a).shape)),
        reshape(v[:, ::-1], (size, 1, m)),
        stride=(1,),
        padding=((m - 1,) * 2 if mode == "full" else (0, 0),),
        dilation=(1,),
        groups=size,
    )
    return reshape(result, aval_of(result).shape[1:])


convolve_p: Primitive = register(
    Primitive(
        name="convolve",
        kind=Kind.LIBRARY,
        abstract_eval=_convolve_aval,
        py="xp.convolve({0}, {1}, {mode})",
        vjps=(_convolve_first_rule, _convolve_second_rule),
        batcher=_convolve_batcher,
        doc="Discrete convolution of two sequences, of which the first is not the shorter one.",
    )
)


def _sequences(name: str, a: Any, v: Any) -> tuple[Any, Any]:
    a, v = as_value(a), as_value(v)
    a, v = (reshape(x, (1,)) if aval_of(x).ndim == 0 else x for x in (a, v))
    for x in (a, v):
        if aval_of(x).ndim != 1:
            raise ShapeError(f"{name}: object too deep for desired array: 1-d is expected")
        if aval_of(x).size == 0:
            raise ShapeError(f"{name}: arguments cannot be empty")
    dtype = np.result_type(aval_of(a).dtype, aval_of(v).dtype)
    return astype(a, dtype), astype(v, dtype)


def _convolved(a: Any, v: Any, mode: str, name: str) -> Any:
    if mode not in MODES:
        raise ValueError(f"{name}: mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    if aval_of(v).size > aval_of(a).size:
        a, v = v, a
    if mode == "valid":
        return bind(convolve_p, a, v, mode="valid")
    whole = bind(convolve_p, a, v, mode="full")
    if mode == "full":
        return whole
    start = (aval_of(v).size - 1) // 2
    return axis_slice(whole, 0, start, start + aval_of(a).size)


@implements(np.convolve)
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Discrete convolution of two sequences, as `numpy.convolve`."""
    return _convolved(*_sequences("convolve", a, v), mode, "convolve")


@implements(np.correlate)
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """Cross-correlation of two sequences, the second conjugated, as `numpy.correlate`."""
    a, v = _sequences("correlate", a, v)
    if aval_of(v).dtype.kind == "c":
        v = conjugate(v)
    is_longer = aval_of(v).size > aval_of(a).size
    if mode == "same" and is_longer:
        # NumPy correlates the other way round and reverses, which centres differently.
        return _reversed(_convolved(_reversed(a), v, mode, "correlate"))
    return _convolved(a, _reversed(v), mode, "correlate")


def _pair(name: str, in1: Any, in2: Any) -> tuple[Any, Any]:
    in1, in2 = as_value(in1), as_value(in2)
    if aval_of(in1).ndim != aval_of(in2).ndim:
        raise ShapeError(f"{name}: in1 and in2 should have the same dimensionality")
    dtype = np.result_type(aval_of(in1).dtype, aval_of(in2).dtype)
    return astype(in1, dtype), astype(in2, dtype)


def _convolved_arrays(name: str, in1: Any, in2: Any, mode: str) -> Any:
    """Convolve arrays of any dimension, as scipy.signal does."""
    if mode not in MODES:
        raise ValueError(f"{name}: acceptable mode flags are 'valid', 'same', or 'full'")
    shape_1, shape_2 = aval_of(in1).shape, aval_of(in2).shape
    if not shape_1:
        return in1 * in2
    pairs = list(zip(shape_1, shape_2, strict=True))
    if mode == "valid":
        if all(first <= second for first, second in pairs) and shape_1 != shape_2:
            in1, in2, pairs = in2, in1, [(second, first) for first, second in pairs]
        if any(first < second for first, second in pairs):
            raise ShapeError(
                f"{name}: for 'valid' mode, one must be at least as large as the other in every "
                f"dimension, not {shape_1} and {shape_2}"
            )
    kernel = FUNCTIONS[np.flip](in2)
    padding = tuple((second - 1,) * 2 if mode != "valid" else (0, 0) for _, second in pairs)
    ones = (1,) * len(pairs)
    result = convolve_images(
        reshape(in1, (1, 1, *aval_of(in1).shape)),
        reshape(kernel, (1, 1, *aval_of(kernel).shape)),
        stride=ones,
        padding=padding,
        dilation=ones,
        groups=1,
    )
    result = reshape(result, aval_of(result).shape[2:])
    if mode != "same":
        return result
    starts = [(second - 1) // 2 for _, second in pairs]
    region = tuple(
        (start, start + first, 1) for start, (first, _) in zip(starts, pairs, strict=True)
    )
    return slice(result, region)


@implements_scipy("scipy.signal.convolve", "scipy.signal.fftconvolve", "scipy.signal.oaconvolve")
def convolve_arrays(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto", axes: Any = None
) -> Any:
    """Convolve two arrays of one dimensionality, as `scipy.signal.convolve`."""
    if axes is not None:
        raise UnsupportedError("fftconvolve: axes= is not supported on traced values")
    return _convolved_arrays("convolve", *_pair("convolve", in1, in2), mode)


@implements_scipy("scipy.signal.correlate")
def correlate_arrays(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """Cross-correlate two arrays, the second conjugated, as `scipy.signal.correlate`."""
    in1, in2 = _pair("correlate", in1, in2)
    kernel = FUNCTIONS[np.flip](conjugate(in2) if aval_of(in2).dtype.kind == "c" else in2)
    return _convolved_arrays("correlate", in1, kernel, mode)


def _plain_boundary(name: str, boundary: str, fillvalue: Any) -> None:
    if boundary != "fill" or not isinstance(fillvalue, int | float) or fillvalue != 0:
        raise UnsupportedError(
            f"{name}: boundary={boundary!r}, fillvalue={fillvalue!r} is not supported on traced "
            "values; pad with np.pad and use mode='valid'"
        )


@implements_scipy("scipy.signal.convolve2d")
def convolve2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Any:
    """Convolve two matrices, as `scipy.signal.convolve2d` with zeros around them."""
    _plain_boundary("convolve2d", boundary, fillvalue)
    return convolve_arrays(in1, in2, mode)


@implements_scipy("scipy.signal.correlate2d")
def correlate2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Any:
    """Cross-correlate two matrices, as `scipy.signal.correlate2d` with zeros around them."""
    _plain_boundary("correlate2d", boundary, fillvalue)
    return correlate_arrays(in1, in2, mode)
