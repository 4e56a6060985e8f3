"""Discrete Fourier transforms.

The matrix of a transform is symmetric, so under the bilinear pairing a complex transform is its
own derivative rule. The real ones, `rfft` and `irfft`, are each other's up to a conjugate and
the weight of the inner frequencies, of which the half spectrum holds one of two.
"""

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from stagrad.errors import ShapeError
from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.complex import conjugate, real
from stagrad.ops.convert import as_value
from stagrad.ops.define import FUNCTIONS, implements
from stagrad.ops.movement import astype
from stagrad.ops.slicing import Region, axis_slice, pad, set_slice, slice

SWAPPED = {"backward": "forward", "ortho": "ortho", "forward": "backward"}
"""The norm under which the opposite transform has this one's scale."""


@functools.cache
def _result_dtype(name: str, dtype: np.dtype) -> np.dtype:
    return getattr(np.fft, name)(np.zeros(2, dtype)).dtype  # type: ignore[no-any-return]


def _norm_text(params: Params) -> str:
    return "" if params["norm"] == "backward" else ", norm={norm}"


def _text(name: str) -> Any:
    def text(params: Params, arity: int) -> str:
        axes = params["axes"]
        if len(axes) == 1:
            return f"xp.fft.{name}({{0}}, axis={axes[0]}{_norm_text(params)})"
        return f"xp.fft.{name}n({{0}}, axes={{axes}}{_norm_text(params)})"

    return text


def _complex_transform(name: str, doc: str) -> Primitive:
    def abstract_eval(avals: tuple[Aval, ...], params: Params) -> Aval:
        return Aval(avals[0].shape, _result_dtype(name, avals[0].dtype))

    def rule(ct: Any, out: Any, x: Any, *, axes: tuple[int, ...], norm: str) -> Any:
        pulled = bind(record, ct, axes=axes, norm=norm)
        return pulled if aval_of(x).dtype.kind == "c" else real(pulled)

    def batcher(size: int, batched: Any, operands: Any, *, axes: Any, norm: str) -> Any:
        return bind(record, operands[0], axes=tuple(axis + 1 for axis in axes), norm=norm)

    record = register(
        Primitive(
            name=name,
            kind=Kind.LIBRARY,
            dtypes="fc",
            abstract_eval=abstract_eval,
            py=_text(name),
            vjps=(rule,),
            batcher=batcher,
            linear=True,
            doc=doc,
        )
    )
    return record


fft_p = _complex_transform("fft", "Discrete Fourier transform over some axes.")
ifft_p = _complex_transform("ifft", "Inverse discrete Fourier transform over some axes.")


def _with_extent(aval: Aval, axis: int, extent: int) -> tuple[int, ...]:
    return (*aval.shape[:axis], extent, *aval.shape[axis + 1 :])


def _rescale_ends(x: Any, n: int, axis: int, factor: float) -> Any:
    """Scale the frequencies of a half spectrum that stand for themselves alone: 0 and n/2."""
    shape = aval_of(x).shape
    last = n // 2 if n % 2 == 0 else 0
    region: Region = tuple(
        (0, last + 1, max(last, 1)) if place == axis else None for place in range(len(shape))
    )
    return set_slice(x, slice(x, region) * factor, region)


def _rfft_aval(avals: tuple[Aval, ...], params: Params) -> Aval:
    aval, axis = avals[0], params["axis"]
    extent = aval.shape[axis] // 2 + 1
    return Aval(_with_extent(aval, axis, extent), _result_dtype("rfft", aval.dtype))


def _rfft_rule(ct: Any, out: Any, x: Any, *, axis: int, norm: str) -> Any:
    n = aval_of(x).shape[axis]
    halved = _rescale_ends(conjugate(ct) * 0.5, n, axis, 2.0)
    return bind(irfft_p, halved, n=n, axis=axis, norm=SWAPPED[norm])


def _rfft_batcher(size: int, batched: Any, operands: Any, *, axis: int, norm: str) -> Any:
    return bind(rfft_p, operands[0], axis=axis + 1, norm=norm)


rfft_p = register(
    Primitive(
        name="rfft",
        kind=Kind.LIBRARY,
        dtypes="f",
        abstract_eval=_rfft_aval,
        py=lambda params, arity: f"xp.fft.rfft({{0}}, axis={{axis}}{_norm_text(params)})",
        vjps=(_rfft_rule,),
        batcher=_rfft_batcher,
        linear=True,
        doc="Half of the Fourier transform of real numbers along an axis; the rest is its mirror.",
    )
)


def _irfft_aval(avals: tuple[Aval, ...], params: Params) -> Aval:
    aval, n, axis = avals[0], params["n"], params["axis"]
    if aval.shape[axis] != n // 2 + 1:
        raise ShapeError(f"irfft: axis {axis} of {aval} is not half a spectrum of {n} numbers")
    return Aval(_with_extent(aval, axis, n), _result_dtype("irfft", aval.dtype))


def _irfft_rule(ct: Any, out: Any, x: Any, *, n: int, axis: int, norm: str) -> Any:
    doubled = conjugate(bind(rfft_p, ct, axis=axis, norm=SWAPPED[norm])) * 2.0
    return _rescale_ends(doubled, n, axis, 0.5)


def _irfft_batcher(size: int, batched: Any, operands: Any, *, n: int, axis: int, norm: str) -> Any:
    return bind(irfft_p, operands[0], n=n, axis=axis + 1, norm=norm)


irfft_p = register(
    Primitive(
        name="irfft",
        kind=Kind.LIBRARY,
        dtypes="c",
        abstract_eval=_irfft_aval,
        py=lambda params, arity: f"xp.fft.irfft({{0}}, {{n}}, axis={{axis}}{_norm_text(params)})",
        vjps=(_irfft_rule,),
        batcher=_irfft_batcher,
        linear=True,
        doc="Real numbers from half of their Fourier transform along an axis.",
    )
)


def _operand(a: Any, kinds: str = "fc") -> Any:
    """Return an array-like in a dtype that NumPy transforms."""
    a = as_value(a)
    dtype = aval_of(a).dtype
    if "f" not in kinds:
        return astype(a, np.result_type(dtype, np.complex64))
    if dtype.kind not in "fc":
        return astype(a, np.float64)
    return astype(a, np.float32) if dtype == np.float16 else a


def _norm(norm: str | None, name: str) -> str:
    if norm is None:
        return "backward"
    if norm not in SWAPPED:
        raise ValueError(f'{name}: norm is {norm!r}; it should be "backward", "ortho" or "forward"')
    return norm


def fit(a: Any, n: int, axis: int, name: str) -> Any:
    """Cut or pad with zeros, so that an axis has the extent `n`."""
    if n < 1:
        raise ShapeError(f"{name}: invalid number of FFT data points ({n}) specified along {axis}")
    aval = aval_of(a)
    extent = aval.shape[axis]
    if n <= extent:
        return axis_slice(a, axis, 0, n)
    region: Region = tuple((0, extent, 1) if place == axis else None for place in range(aval.ndim))
    return pad(a, _with_extent(aval, axis, n), region)


def axes_of(a: Any, s: Any, axes: Any, name: str) -> tuple[list[int | None], tuple[int, ...]]:
    """Return for each axis to transform the extent asked for, and the axes, as NumPy reads them."""
    aval = aval_of(a)
    if axes is None:
        axes = range(aval.ndim) if s is None else range(-len(s), 0)
    numbers = np.lib.array_utils.normalize_axis_tuple(axes, aval.ndim, name, allow_duplicate=True)
    if s is None:
        return [None] * len(numbers), numbers
    lengths = [None if n is None else operator.index(n) for n in s]
    if len(lengths) != len(numbers):
        raise ShapeError(f"{name}: shape and axes have different lengths: s={s}, axes={axes}")
    pairs = zip(lengths, numbers, strict=True)
    return [aval.shape[axis] if n == -1 else n for n, axis in pairs], numbers


def _along(record: Primitive, a: Any, n: Any, axis: int, norm: str | None, name: str) -> Any:
    """Apply a complex transform along one axis."""
    a = _operand(a)
    (axis,) = axes_of(a, None, (axis,), name)[1]
    a = fit(a, aval_of(a).shape[axis] if n is None else operator.index(n), axis, name)
    return bind(record, a, axes=(axis,), norm=_norm(norm, name))


def _transform(record: Primitive, a: Any, s: Any, axes: Any, norm: str | None, name: str) -> Any:
    """Apply a complex transform over several axes; one that is named twice is transformed twice."""
    a = _operand(a)
    lengths, numbers = axes_of(a, s, axes, name)
    norm = _norm(norm, name)
    shape = aval_of(a).shape
    extents = [shape[axis] if n is None else n for n, axis in zip(lengths, numbers, strict=True)]
    if len(set(numbers)) < len(numbers):
        for n, axis in zip(reversed(extents), reversed(numbers), strict=True):
            a = bind(record, fit(a, n, axis, name), axes=(axis,), norm=norm)
        return a
    for n, axis in zip(extents, numbers, strict=True):
        a = fit(a, n, axis, name)
    return bind(record, a, axes=numbers, norm=norm) if numbers else _operand(a, "c")


@implements(np.fft.fft)
def fft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: None = None) -> Any:
    """Discrete Fourier transform along an axis, as `numpy.fft.fft`."""
    return _along(fft_p, a, n, axis, norm, "fft")


@implements(np.fft.ifft)
def ifft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: None = None) -> Any:
    """Inverse of `fft`, as `numpy.fft.ifft`."""
    return _along(ifft_p, a, n, axis, norm, "ifft")


@implements(np.fft.fftn)
def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: None = None) -> Any:
    """Discrete Fourier transform over several axes, as `numpy.fft.fftn`."""
    return _transform(fft_p, a, s, axes, norm, "fftn")


@implements(np.fft.ifftn)
def ifftn(
    a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `fftn`, as `numpy.fft.ifftn`."""
    return _transform(ifft_p, a, s, axes, norm, "ifftn")


@implements(np.fft.fft2)
def fft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: None = None
) -> Any:
    """Discrete Fourier transform over two axes, as `numpy.fft.fft2`."""
    return _transform(fft_p, a, s, axes, norm, "fft2")


@implements(np.fft.ifft2)
def ifft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `fft2`, as `numpy.fft.ifft2`."""
    return _transform(ifft_p, a, s, axes, norm, "ifft2")


@implements(np.fft.rfft)
def rfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: None = None) -> Any:
    """Half of the Fourier transform of real numbers, as `numpy.fft.rfft`."""
    a = _operand(a)
    if aval_of(a).dtype.kind == "c":
        raise TypeError(f"rfft: {aval_of(a)} is not real; use fft, or np.real first")
    (axis,) = axes_of(a, None, (axis,), "rfft")[1]
    a = fit(a, aval_of(a).shape[axis] if n is None else operator.index(n), axis, "rfft")
    return bind(rfft_p, a, axis=axis, norm=_norm(norm, "rfft"))


@implements(np.fft.irfft)
def irfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: None = None) -> Any:
    """Inverse of `rfft`, as `numpy.fft.irfft`; `n` is the number of real results."""
    a = _operand(a, "c")
    (axis,) = axes_of(a, None, (axis,), "irfft")[1]
    length = 2 * (aval_of(a).shape[axis] - 1) if n is None else operator.index(n)
    if length < 1:
        raise ShapeError(f"irfft: invalid number of FFT data points ({length}) specified")
    a = fit(a, length // 2 + 1, axis, "irfft")
    return bind(irfft_p, a, n=length, axis=axis, norm=_norm(norm, "irfft"))


@implements(np.fft.hfft)
def hfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: None = None) -> Any:
    """Fourier transform of a signal with a real spectrum, as `numpy.fft.hfft`."""
    return irfft(conjugate(_operand(a, "c")), n, axis, SWAPPED[_norm(norm, "hfft")])


@implements(np.fft.ihfft)
def ihfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: None = None) -> Any:
    """Inverse of `hfft`, as `numpy.fft.ihfft`."""
    return conjugate(rfft(a, n, axis, SWAPPED[_norm(norm, "ihfft")]))


@implements(np.fft.rfftn)
def rfftn(
    a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: None = None
) -> Any:
    """Fourier transform of real numbers over several axes, as `numpy.fft.rfftn`."""
    a = _operand(a)
    lengths, numbers = axes_of(a, s, axes, "rfftn")
    half = rfft(a, lengths[-1], numbers[-1], norm)
    return _transform(fft_p, half, _shape(a, lengths, numbers), numbers[:-1], norm, "rfftn")


def _shape(a: Any, lengths: Sequence[int | None], axes: Sequence[int]) -> list[int]:
    """Return the extents asked for along all axes but the last, as numbers."""
    shape = aval_of(a).shape
    pairs = zip(lengths[:-1], axes[:-1], strict=True)
    return [shape[axis] if length is None else length for length, axis in pairs]


@implements(np.fft.irfftn)
def irfftn(
    a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `rfftn`, as `numpy.fft.irfftn`."""
    a = _operand(a, "c")
    lengths, numbers = axes_of(a, s, axes, "irfftn")
    last = 2 * (aval_of(a).shape[numbers[-1]] - 1) if lengths[-1] is None else lengths[-1]
    others, extents = numbers[-2::-1], _shape(a, lengths, numbers)[::-1]
    return irfft(_transform(ifft_p, a, extents, others, norm, "irfftn"), last, numbers[-1], norm)


@implements(np.fft.rfft2)
def rfft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: None = None
) -> Any:
    """Fourier transform of real numbers over two axes, as `numpy.fft.rfft2`."""
    return rfftn(a, s, axes, norm)


@implements(np.fft.irfft2)
def irfft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `rfft2`, as `numpy.fft.irfft2`."""
    return irfftn(a, s, axes, norm)


def _shift_axes(x: Any, axes: Any) -> tuple[int, ...]:
    return np.lib.array_utils.normalize_axis_tuple(
        range(aval_of(x).ndim) if axes is None else axes, aval_of(x).ndim, "fftshift"
    )


@implements(np.fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Any:
    """Move the zero frequency to the middle, as `numpy.fft.fftshift`."""
    numbers = _shift_axes(x, axes)
    return FUNCTIONS[np.roll](x, tuple(aval_of(x).shape[axis] // 2 for axis in numbers), numbers)


@implements(np.fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Any:
    """Undo `fftshift`, as `numpy.fft.ifftshift`."""
    numbers = _shift_axes(x, axes)
    return FUNCTIONS[np.roll](x, tuple(-(aval_of(x).shape[axis] // 2) for axis in numbers), numbers)
