"""The array API standard on tensors: `stagrad.array_api`, what `__array_namespace__()` returns.

Most of the standard's functions are NumPy's, which reach tensors by NumPy's own protocols. What
makes arrays, or names dtypes and devices, is eager mode's.
"""

import math
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from stagrad.eager import creation, fft, limits
from stagrad.eager.device import CPU, check_device
from stagrad.eager.dtypes import (
    PUBLIC_DTYPES,
    complex_default,
    default_dtype,
    public_dtype,
    read_dtype,
)
from stagrad.eager.tensor import Tensor

VERSION = "2024.12"

_BY_NUMPY = (
    "abs", "acos", "acosh", "add", "all", "any", "argmax", "argmin", "asin", "asinh",
    "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "broadcast_arrays", "broadcast_to", "ceil",
    "concat", "conj", "copysign", "cos", "cosh", "count_nonzero", "cumulative_prod",
    "cumulative_sum", "diff", "divide", "equal", "exp", "expand_dims", "expm1", "flip", "floor",
    "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isin", "isinf",
    "isnan", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "matmul", "matrix_transpose", "max", "maximum",
    "mean", "meshgrid", "min", "minimum", "moveaxis", "multiply", "negative", "nextafter",
    "nonzero", "not_equal", "permute_dims", "positive", "pow", "prod", "real", "reciprocal",
    "remainder", "repeat", "reshape", "roll", "round", "searchsorted", "sign", "signbit", "sin",
    "sinh", "sqrt", "square", "squeeze", "stack", "std", "subtract", "sum", "take",
    "take_along_axis", "tan", "tanh", "tensordot", "tile", "tril", "triu", "trunc", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "unstack", "var", "vecdot", "where",
)  # fmt: skip
_LINALG = (
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr",
    "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
)  # fmt: skip
_FFT = (
    "fft", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn",
    "rfft", "rfftn",
)  # fmt: skip
_DTYPES = (
    "bool", "complex128", "complex64", "float32", "float64", "int16", "int32", "int64", "int8",
    "uint16", "uint32", "uint64", "uint8",
)  # fmt: skip


def asarray(
    obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None
) -> Tensor:
    """Return an object as a tensor; `copy` says whether it must or must not be copied."""
    return creation.asarray(obj, dtype=dtype, device=device, copy=copy)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Return a tensor in another dtype, by default as a copy even where it has that one."""
    return x.to(read_dtype(dtype), copy=copy)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """Return the numbers from `start` up to but not including `stop`; none where step leads away.

    The default dtype is int64 for integers, else the default dtype of floats.
    """
    first, last = (0, start) if stop is None else (start, stop)
    numbers = np.arange(first, last, step)
    if dtype is None and numbers.dtype.kind == "f":
        dtype = default_dtype()
    return creation.finish(numbers if dtype is None else numbers.astype(read_dtype(dtype)))


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return a tensor of that shape; its numbers are zero."""
    return creation.zeros(shape, dtype=dtype, device=device)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return a tensor of zeros."""
    return creation.zeros(shape, dtype=dtype, device=device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return a tensor of ones."""
    return creation.ones(shape, dtype=dtype, device=device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return a tensor of one number."""
    return creation.full(shape, fill_value, dtype=dtype, device=device)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None
) -> Tensor:
    """Return a matrix with ones on the k-th diagonal."""
    check_device(device)
    return creation.finish(np.eye(n_rows, n_cols, k, read_dtype(dtype)))


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None,
    endpoint: bool = True,
) -> Tensor:  # fmt: skip
    """Return `num` numbers at equal distances; `endpoint` says whether `stop` is the last."""
    check_device(device)
    if dtype is None:
        is_complex = isinstance(start, complex) or isinstance(stop, complex)
        dtype = complex_default() if is_complex else default_dtype()
    return creation.finish(np.linspace(start, stop, num, endpoint, dtype=read_dtype(dtype)))


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Return the elements, those outside an interval replaced by its ends."""
    return np.clip(x, min, max)


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return the elements in order along an axis."""
    ordered = np.sort(x, axis=axis, stable=stable)
    return np.flip(ordered, axis) if descending else ordered


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return the indices that put the elements in order along an axis."""
    if not descending:
        return np.argsort(x, axis=axis, stable=stable)
    # Equal elements keep their order when both the elements and their indices are turned round.
    order = np.argsort(np.flip(x, axis), axis=axis, stable=stable)
    return x.shape[axis] - 1 - np.flip(order, axis)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that arrays of these shapes are broadcast to."""
    return np.broadcast_shapes(*shapes)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Say whether a dtype is of a kind: "real floating", "integral", another dtype, or several."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    wanted = tuple(each if isinstance(each, str) else read_dtype(each) for each in kinds)
    return bool(np.isdtype(read_dtype(dtype), wanted))


def can_cast(from_: Any, to: Any, /) -> bool:
    """Say whether values of a dtype, or of a tensor, fit into another dtype."""
    given = from_._array.dtype if isinstance(from_, Tensor) else read_dtype(from_)
    return bool(np.can_cast(given, read_dtype(to)))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Return a tensor on the memory of an object with `__dlpack__`."""
    return creation.from_dlpack(x, device=device, copy=copy)


class Info:
    """What `__array_namespace_info__` answers with: devices, dtypes and what is supported."""

    def capabilities(self) -> dict[str, Any]:
        """Return what the standard leaves open."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """Return the device of tensors for which none is named."""
        return CPU

    def devices(self) -> tuple[Any, ...]:
        """Return the devices there are."""
        return (CPU,)

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Return the dtype of each kind where none is named."""
        return {
            "real floating": public_dtype(default_dtype()),
            "complex floating": public_dtype(complex_default()),
            "integral": PUBLIC_DTYPES["int64"],
            "indexing": PUBLIC_DTYPES["int64"],
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """Return the dtypes of a kind, or of several, by name."""
        known = {name: PUBLIC_DTYPES[name] for name in _DTYPES}
        if kind is None:
            return known
        return {name: dtype for name, dtype in known.items() if isdtype(dtype, kind)}


def info() -> Info:
    """Return what there is: devices, dtypes and capabilities."""
    return Info()


info.__name__ = "__array_namespace_info__"


def _linalg() -> SimpleNamespace:
    names = {name: getattr(np.linalg, name) for name in _LINALG}
    names.update(eig=_as_complex(np.linalg.eig), eigvals=_as_complex(np.linalg.eigvals))
    return SimpleNamespace(__name__="linalg", **names)


def _as_complex(function: Any) -> Any:
    def complex_function(x: Any, /) -> Any:
        from stagrad.eager import linalg

        return getattr(linalg, function.__name__)(x)

    complex_function.__name__ = function.__name__
    complex_function.__doc__ = f"As `numpy.linalg.{function.__name__}`; the result is complex."
    return complex_function


def _fft() -> SimpleNamespace:
    names = {name: getattr(np.fft, name) for name in _FFT}
    frequencies = {name: getattr(fft, name) for name in ("fftfreq", "rfftfreq")}
    return SimpleNamespace(__name__="fft", **names, **frequencies)


NAMESPACE: dict[str, Any] = {
    **{name: getattr(np, name) for name in _BY_NUMPY},
    **{name: PUBLIC_DTYPES[name] for name in _DTYPES},
    "arange": arange, "argsort": argsort, "asarray": asarray, "astype": astype,
    "broadcast_shapes": broadcast_shapes, "can_cast": can_cast, "clip": clip, "empty": empty,
    "empty_like": creation.empty_like, "eye": eye, "finfo": limits.finfo,
    "from_dlpack": from_dlpack, "full": full,
    "full_like": creation.full_like, "iinfo": limits.iinfo, "isdtype": isdtype,
    "linspace": linspace, "ones": ones, "ones_like": creation.ones_like,
    "result_type": limits.result_type, "sort": sort, "zeros": zeros,
    "zeros_like": creation.zeros_like,
    "e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None, "pi": math.pi,
    "linalg": _linalg(), "fft": _fft(), "__array_namespace_info__": info,
    "__array_api_version__": VERSION,
}  # fmt: skip


array_api = ModuleType("stagrad.array_api", "The array API standard's functions on tensors.")
array_api.__dict__.update(NAMESPACE)


def namespace_of(self: Any, /, *, api_version: str | None = None) -> Any:
    """Return the namespace of the array API standard, `stagrad.array_api`."""
    known = ("2021.12", "2022.12", "2023.12", VERSION)
    if api_version is not None and api_version not in known:
        raise ValueError(
            f"__array_namespace__: api_version={api_version!r} is not supported; there are "
            f"{', '.join(known)}"
        )
    return array_api


def to_device(self: Any, device: Any, /, *, stream: Any = None) -> Any:
    """Return the tensor on a device: itself, since all are on the CPU."""
    if stream is not None:
        raise ValueError("to_device: the CPU has no streams; leave stream out")
    check_device(device)
    return self
