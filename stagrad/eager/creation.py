"""Making tensors of data and of numbers."""

import builtins
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from stagrad.eager.device import check_device
from stagrad.eager.dtypes import complex_default, default_dtype, read_dtype
from stagrad.eager.tape import make_tensor
from stagrad.eager.tensor import Tensor

DLPACK_CPU = (1, 0)
"""How `__dlpack_device__` says CPU."""


def finish(array: Any, requires_grad: bool = False, device: Any = None, out: Any = None) -> Tensor:
    """Return a new array as a tensor, or write it into `out` and return that."""
    check_device(device)
    if out is not None:
        return out.assign(array, "out")  # type: ignore[no-any-return]
    result: Tensor = make_tensor(np.asarray(array), None)
    return result.requires_grad_() if requires_grad else result


def numbers_of(data: Any, dtype: Any = None) -> np.ndarray:
    """Return data as an array of its own; Python's floats take the default dtype."""
    if isinstance(data, Tensor):
        return np.array(data._array, None if dtype is None else read_dtype(dtype))
    if isinstance(data, list | tuple):
        data = _without_tensors(data)
    if dtype is not None:
        return np.array(data, read_dtype(dtype))
    array = np.array(data)
    if isinstance(data, np.ndarray | np.generic) or any(
        isinstance(leaf, np.ndarray | np.generic) for leaf in _leaves(data)
    ):
        return array
    if array.dtype.kind == "f":
        return array.astype(default_dtype())
    if array.dtype.kind == "c":
        return array.astype(complex_default())
    if array.dtype.kind not in "biu":
        raise TypeError(f"new(): invalid data type {type(data).__name__!r}; give numbers")
    return array


def _without_tensors(data: Any) -> Any:
    if isinstance(data, Tensor):
        return data._array
    return [_without_tensors(part) for part in data] if isinstance(data, list | tuple) else data


def _leaves(data: Any) -> Iterator[Any]:
    """Return the leftmost leaf of nested lists: its type stands for that of all."""
    while isinstance(data, list | tuple) and data:
        data = data[0]
    yield data


def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Return a tensor with a copy of the data.

    Python floats take the default dtype, integers int64; arrays keep their dtype.

    >>> import stagrad
    >>> stagrad.tensor([[1.0, 2.0], [3.0, 4.0]])
    tensor([[1., 2.],
            [3., 4.]])
    """
    return finish(numbers_of(data, dtype), requires_grad, device)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Return the data as a tensor: tensors themselves, arrays sharing memory, the rest copied."""
    check_device(device)
    if isinstance(data, Tensor):
        return data if dtype is None or data.dtype == read_dtype(dtype) else _converted(data, dtype)
    if isinstance(data, np.ndarray) and dtype in (None, data.dtype):
        return from_numpy(data)
    return tensor(data, dtype=dtype)


def _converted(data: Tensor, dtype: Any) -> Any:
    from stagrad.eager.methods import to

    return to(data, dtype)


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Return an object as a tensor; `copy` says whether it must or must not be copied.

    Raises ValueError where `copy=False` and a copy is needed.
    """
    shared = obj if isinstance(obj, Tensor | np.ndarray) else None
    is_kept = shared is not None and (dtype is None or shared.dtype == read_dtype(dtype))
    if copy is False and not is_kept:
        raise ValueError(
            f"asarray: copy=False, but a {type(obj).__name__} cannot become a tensor"
            f"{'' if dtype is None else f' of {np.dtype(dtype)}'} without a copy; leave copy out"
        )
    made = as_tensor(obj, dtype, device)
    if copy and is_kept:
        made = made.clone()
    return made.requires_grad_() if requires_grad else made


def from_numpy(array: np.ndarray) -> Tensor:
    """Return a tensor on the memory of an array: writes to one show in the other.

    >>> import numpy as np
    >>> import stagrad
    >>> array = np.zeros(2)
    >>> stagrad.from_numpy(array)[0] = 5.0
    >>> array
    array([5., 0.])
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return finish(array)


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Return a tensor on the memory of an object with `__dlpack__`, or a copy if asked for."""
    return finish(np.from_dlpack(ext_tensor, copy=copy), device=device)


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0) -> Tensor:
    """Return a one-dimensional tensor on the memory of a buffer."""
    return finish(np.frombuffer(buffer, read_dtype(dtype), count, offset))


def _shape_of(size: tuple[Any, ...], options: dict[str, Any], name: str) -> tuple[int, ...]:
    """Return the shape given by position, or as `size` or `shape`; refuse other options."""
    for word in ("size", "shape"):
        if not size and word in options:
            size = (options.pop(word),)
    unknown = _known(options)
    if unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(unknown))!r}")
    return shape_from(size)


def shape_from(size: tuple[Any, ...]) -> tuple[int, ...]:
    """Return a shape given as one sequence or as several integers."""
    if len(size) == 1 and isinstance(size[0], list | tuple):
        size = tuple(size[0])
    shape = tuple(int(extent) for extent in size)
    for extent in shape:
        if extent < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {extent}: {list(shape)}"
            )
    return shape


def zeros(
    *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    out: Any = None, **layout: Any,
) -> Tensor:  # fmt: skip
    """Return a tensor of zeros; its size is one sequence or several integers."""
    shape = _shape_of(size, layout, "zeros")
    return finish(np.zeros(shape, read_dtype(dtype)), requires_grad, device, out)


def ones(
    *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    out: Any = None, **layout: Any,
) -> Tensor:  # fmt: skip
    """Return a tensor of ones; its size is one sequence or several integers."""
    shape = _shape_of(size, layout, "ones")
    return finish(np.ones(shape, read_dtype(dtype)), requires_grad, device, out)


empty = zeros
"""PyTorch leaves the numbers undefined; here they are zero."""


def full(
    size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, out: Any = None,
) -> Tensor:  # fmt: skip
    """Return a tensor of one number, whose type decides the dtype if none is given."""
    value = numbers_of(fill_value, dtype)
    return finish(np.full(shape_from((size,)), value), requires_grad, device, out)


def eye(
    n: int, m: int | None = None, *, k: int = 0, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, out: Any = None,
) -> Tensor:  # fmt: skip
    """Return a matrix of n rows and m columns with ones on the k-th diagonal."""
    return finish(np.eye(n, m, k, dtype=read_dtype(dtype)), requires_grad, device, out)


def arange(
    start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, out: Any = None,
) -> Tensor:  # fmt: skip
    """Return the numbers from `start` up to but not including `end`, `step` apart.

    >>> import stagrad
    >>> stagrad.arange(1, 2.5, 0.5)
    tensor([1.0000, 1.5000, 2.0000])
    """
    if end is None:
        start, end = 0, start
    start, end, step = (x.item() if isinstance(x, Tensor) else x for x in (start, end, step))
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if dtype is None:
        is_whole = all(isinstance(x, int | np.integer) for x in (start, end, step))
        dtype = np.int64 if is_whole else default_dtype()
    count = math.ceil((end - start) / step)
    numbers = start + step * np.arange(count)
    return finish(numbers.astype(read_dtype(dtype)), requires_grad, device, out)


def range(start: Any = 0, end: Any = None, step: Any = 1, **options: Any) -> Tensor:
    """Return the numbers from `start` to `end`, this included, `step` apart, as floats."""
    count = math.floor((end - start) / step) + 1
    options.setdefault("dtype", default_dtype())
    return arange(start, start + count * step - step / 2, step, **options)


def linspace(
    start: Any, end: Any, steps: int, *, endpoint: bool = True, dtype: Any = None,
    device: Any = None, requires_grad: bool = False, out: Any = None,
) -> Tensor:  # fmt: skip
    """Return `steps` numbers at equal distances; `endpoint` says whether `end` is the last."""
    start, end = (x.item() if isinstance(x, Tensor) else x for x in (start, end))
    if dtype is None and (isinstance(start, builtins.complex) or isinstance(end, builtins.complex)):
        dtype = complex_default()
    numbers = np.linspace(start, end, int(steps), endpoint).astype(read_dtype(dtype))
    return finish(numbers, requires_grad, device, out)


def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None,
    device: Any = None, requires_grad: bool = False, out: Any = None,
) -> Tensor:  # fmt: skip
    """Return `steps` numbers whose logarithms to the base are at equal distances."""
    numbers = np.logspace(start, end, int(steps), base=base).astype(read_dtype(dtype))
    return finish(numbers, requires_grad, device, out)


def complex(real: Any, imag: Any) -> Any:
    """Return the complex tensor of these parts."""
    from stagrad.eager.functions.pointwise import complex_from_parts

    return complex_from_parts(real, imag)


def _like(input: Any, dtype: Any) -> np.dtype:
    return input._array.dtype if dtype is None else read_dtype(dtype)


def zeros_like(input: Any, *, dtype: Any = None, device: Any = None, **options: Any) -> Tensor:
    """Return zeros of the shape and dtype of a tensor."""
    return zeros(input.shape, dtype=_like(input, dtype), device=device, **_known(options))


def ones_like(input: Any, *, dtype: Any = None, device: Any = None, **options: Any) -> Tensor:
    """Return ones of the shape and dtype of a tensor."""
    return ones(input.shape, dtype=_like(input, dtype), device=device, **_known(options))


empty_like = zeros_like


def full_like(
    input: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, **options: Any
) -> Tensor:
    """Return one number in the shape and dtype of a tensor."""
    wanted = _like(input, dtype)
    return full(input.shape, fill_value, dtype=wanted, device=device, **_known(options))


def _known(options: dict[str, Any]) -> dict[str, Any]:
    """Drop the layout options, of which there is one choice here."""
    return {
        name: value for name, value in options.items()
        if name not in ("memory_format", "layout", "pin_memory")
    }  # fmt: skip


def new_tensor(self: Any, data: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return a tensor of the data, by default in this tensor's dtype."""
    return tensor(data, dtype=_like(self, dtype), **options)


def new_zeros(self: Any, *size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Return zeros in this tensor's dtype."""
    return zeros(*size, dtype=_like(self, dtype), **_known(options))


def new_ones(self: Any, *size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Return ones in this tensor's dtype."""
    return ones(*size, dtype=_like(self, dtype), **_known(options))


new_empty = new_zeros


def new_full(self: Any, size: Any, fill_value: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return one number in this tensor's dtype."""
    return full(size, fill_value, dtype=_like(self, dtype), **_known(options))


NEW_METHODS = (new_tensor, new_zeros, new_ones, new_full)
