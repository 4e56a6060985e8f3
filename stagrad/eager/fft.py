"""`stagrad.fft`: Fourier transforms, with PyTorch's arguments."""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.eager.creation import finish
from stagrad.eager.dtypes import read_dtype
from stagrad.eager.functions.registry import function
from stagrad.ir import aval_of

_LABELS = {"rfft": "FftR2CBackward0", "irfft": "FftC2RBackward0", "hfft": "FftC2RBackward0"}


def _label(name: str) -> Any:
    return _LABELS.get(name.rstrip("n2"), _complex_name)


def _complex_name(input: Any, *args: Any, **kwargs: Any) -> str:
    return "FftC2CBackward0" if aval_of(input).dtype.kind == "c" else "FftR2CBackward0"


def _one(name: str) -> Callable[..., Any]:
    implementation = getattr(np.fft, name)

    def body(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
        return implementation(input, n, axis=dim, norm=norm)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = f"Return the transform along an axis, as `numpy.fft.{name}`."
    return function(_label(name), method=False, module=False)(body)


def _many(name: str, default: Any) -> Callable[..., Any]:
    implementation = getattr(np.fft, name)

    def body(input: Any, s: Any = None, dim: Any = default, norm: str | None = None) -> Any:
        axes = None if dim is None else tuple(np.atleast_1d(dim).tolist())
        return implementation(input, s, axes=axes, norm=norm)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = f"Return the transform over several axes, as `numpy.fft.{name}`."
    return function(_LABELS.get(name.rstrip("n2"), "FftC2CBackward0"), method=False, module=False)(
        body
    )


fft, ifft, rfft, irfft, hfft, ihfft = map(_one, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
fftn, ifftn, rfftn, irfftn = (_many(name, None) for name in ("fftn", "ifftn", "rfftn", "irfftn"))
fft2, ifft2, rfft2, irfft2 = (
    _many(name, (-2, -1)) for name in ("fft2", "ifft2", "rfft2", "irfft2")
)


@function("RollBackward0", method=False, module=False)
def fftshift(input: Any, dim: Any = None) -> Any:
    """Return the tensor with frequency zero moved to the middle."""
    return np.fft.fftshift(input, dim)


@function("RollBackward0", method=False, module=False)
def ifftshift(input: Any, dim: Any = None) -> Any:
    """Undo `fftshift`."""
    return np.fft.ifftshift(input, dim)


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
    """Return the frequencies of a transform of n points, d apart."""
    return finish(np.fft.fftfreq(n, d).astype(read_dtype(dtype)), device=device)


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
    """Return the frequencies that `rfft` gives, for n points, d apart."""
    return finish(np.fft.rfftfreq(n, d).astype(read_dtype(dtype)), device=device)


__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip
