"""scipy.fft: its Fourier transforms are NumPy's, its cosine and sine transforms made of those.

SciPy's public functions hand over to those of a backend module, which are the ones answered here.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.errors import UnsupportedError
from stagrad.ir import aval_of
from stagrad.ops import fft as transforms
from stagrad.ops.complex import real
from stagrad.ops.convert import as_value
from stagrad.ops.define import FUNCTIONS, UFUNCS, implements_scipy
from stagrad.ops.movement import astype, constant, zeros

BASIC = "scipy.fft._basic_backend"
REAL = "scipy.fft._realtransforms_backend"


def _along_one(transform: Callable[..., Any]) -> Callable[..., Any]:
    def answer(
        x: Any,
        n: Any = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: Any = None,
    ) -> Any:
        return transform(x, n, axis, norm)

    return answer


def _along_several(transform: Callable[..., Any], default: Any) -> Callable[..., Any]:
    def answer(
        x: Any,
        s: Any = None,
        axes: Any = default,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: Any = None,
    ) -> Any:
        return transform(x, s, axes, norm)

    return answer


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    implements_scipy(f"{BASIC}.{_name}")(_along_one(getattr(transforms, _name)))
for _name in ("fft", "ifft", "rfft", "irfft"):
    for _suffix, _axes in (("2", (-2, -1)), ("n", None)):
        _transform = getattr(transforms, _name + _suffix)
        implements_scipy(f"{BASIC}.{_name}{_suffix}")(_along_several(_transform, _axes))


def _turns(n: int, sign: float, like: Any) -> Any:
    """Return exp(sign iπk / 2n) for k from 0 to n - 1, in the precision of the numbers `like`."""
    dtype = np.result_type(aval_of(like).dtype, np.complex64)
    angles = constant(np.arange(n), like=like) * (sign * math.pi / (2 * n))
    return astype(UFUNCS["exp"](1j * angles), dtype)


def _cosines(x: Any) -> Any:
    """Return 2 Σ x_j cos(πk(2j + 1) / 2n): half of the transform of x and its mirror image."""
    n = aval_of(x).shape[-1]
    both = FUNCTIONS[np.concatenate]([x, x[..., ::-1]], axis=-1)
    return real(transforms.rfft(both)[..., :n] * _turns(n, -1.0, x))


def _cosines_back(y: Any) -> Any:
    """Return y_0 + 2 Σ_{k>0} y_k cos(πk(2j + 1) / 2n)."""
    *batch, n = aval_of(y).shape
    turned = y * _turns(n, 1.0, y)
    last = zeros((*batch, 1), aval_of(turned).dtype, like=turned)
    whole = FUNCTIONS[np.concatenate]([turned, last], axis=-1)
    return transforms.irfft(whole, 2 * n)[..., :n] * (2.0 * n)


def _signs(x: Any) -> Any:
    """Return 1, -1, 1, … in the dtype of x."""
    n = aval_of(x).shape[-1]
    return astype(constant(1 - 2 * (np.arange(n) % 2), like=x), aval_of(x).dtype)


def _sines(x: Any) -> Any:
    return _cosines(x * _signs(x))[..., ::-1]


def _sines_back(y: Any) -> Any:
    return _cosines_back(y[..., ::-1]) * _signs(y)


def _scaled_end(x: Any, factor: float, is_sine: bool) -> Any:
    """Scale the entry that stands for itself alone: the first of cosines, the last of sines."""
    n = aval_of(x).shape[-1]
    place = n - 1 if is_sine else 0
    weight = np.ones(n, aval_of(x).dtype)
    weight[place] = factor
    return x * constant(weight, like=x)


def _transform_along(
    x: Any, n: Any, axis: int, norm: str | None, *, kind: int, is_sine: bool, orthogonal: Any
) -> Any:
    """Apply type 2 or 3 along an axis; `norm` is that of a forward transform."""
    moved = FUNCTIONS[np.moveaxis](x, axis, -1)
    if n is not None:
        moved = transforms.fit(moved, int(n), aval_of(moved).ndim - 1, "dct")
    extent = aval_of(moved).shape[-1]
    orthogonal = norm == "ortho" if orthogonal is None else orthogonal
    if kind == 2:
        result = (_sines if is_sine else _cosines)(moved)
        if orthogonal:
            result = _scaled_end(result, math.sqrt(0.5), is_sine)
    else:
        if orthogonal:
            moved = _scaled_end(moved, math.sqrt(2.0), is_sine)
        result = (_sines_back if is_sine else _cosines_back)(moved)
    if norm == "ortho":
        result = result * math.sqrt(0.5 / extent)
    elif norm == "forward":
        result = result * (0.5 / extent)
    return FUNCTIONS[np.moveaxis](result, -1, axis)


OPPOSITE = {2: 3, 3: 2}


def _real_transform(name: str, *, is_sine: bool, is_inverse: bool) -> Callable[..., Any]:
    def plan(x: Any, type: int, norm: str | None) -> tuple[Any, int, str | None]:
        x = as_value(x)
        if type not in OPPOSITE or aval_of(x).dtype.kind == "c":
            raise UnsupportedError(
                f"{name}: type={type} of {aval_of(x)} is not supported on traced values; types 2 "
                "and 3 of real numbers are"
            )
        norm = transforms.SWAPPED[norm or "backward"] if is_inverse else norm or "backward"
        if aval_of(x).dtype.kind != "f":
            x = astype(x, np.float64)
        return x, OPPOSITE[type] if is_inverse else type, norm

    def along_one(
        x: Any,
        type: int = 2,
        n: Any = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        orthogonalize: bool | None = None,
    ) -> Any:
        x, kind, norm = plan(x, type, norm)
        return _transform_along(
            x, n, axis, norm, kind=kind, is_sine=is_sine, orthogonal=orthogonalize
        )

    def along_several(
        x: Any,
        type: int = 2,
        s: Any = None,
        axes: Any = None,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        orthogonalize: bool | None = None,
    ) -> Any:
        x, kind, norm = plan(x, type, norm)
        lengths, numbers = transforms.axes_of(x, s, axes, name)
        for n, axis in zip(lengths, numbers, strict=True):
            x = _transform_along(
                x, n, axis, norm, kind=kind, is_sine=is_sine, orthogonal=orthogonalize
            )
        return x

    return along_several if name.endswith("n") else along_one


for _name in ("dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn"):
    implements_scipy(f"{REAL}.{_name}")(
        _real_transform(_name, is_sine="dst" in _name, is_inverse=_name.startswith("i"))
    )
