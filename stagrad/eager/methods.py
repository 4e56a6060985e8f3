"""What a tensor says of itself, and its conversions: dtypes, devices, copies, pickles."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.eager import creation, limits, random, standard
from stagrad.eager.define import operation
from stagrad.eager.device import CPU, check_device, device
from stagrad.eager.dtypes import DTYPES, Size, read_dtype
from stagrad.eager.functions.registry import METHODS, NAMES, in_place_form
from stagrad.eager.tape import make_tensor
from stagrad.eager.tensor import Tensor
from stagrad.ops.convert import cast


@operation("ToCopyBackward0")
def _converted(input: Any, dtype: np.dtype) -> Any:
    return cast(input, dtype, casting="unsafe", copy=True)


def to(self: Any, *args: Any, dtype: Any = None, copy: bool = False, **kwargs: Any) -> Any:
    """Return the tensor in a dtype, on a device, or like another tensor; itself if it is so.

    >>> import stagrad
    >>> stagrad.tensor([1, 2]).to(stagrad.float64)
    tensor([1., 2.], dtype=torch.float64)
    """
    check_device(kwargs.get("device"))
    for argument in args:
        if isinstance(argument, Tensor):
            dtype = argument._array.dtype
        elif isinstance(argument, str | device):
            check_device(argument)
        elif argument is not None and not isinstance(argument, bool):
            dtype = argument
    wanted = self._array.dtype if dtype is None else read_dtype(dtype)
    if wanted == self._array.dtype:
        return self.clone() if copy else self
    return _converted(self, wanted)


def type_(self: Any, dtype: Any = None) -> Any:
    """Return the tensor in a dtype; without one, the name of the tensor's type."""
    if dtype is None:
        kinds = {
            "float32": "Float",
            "float64": "Double",
            "float16": "Half",
            "int64": "Long",
            "int32": "Int",
            "int16": "Short",
            "int8": "Char",
            "uint8": "Byte",
            "bool": "Bool",
        }
        name = self._array.dtype.name
        return f"torch.{kinds.get(name, camel_name(name))}Tensor"
    return to(self, dtype)


def camel_name(name: str) -> str:
    """Return a dtype's name as it stands in that of a tensor type."""
    return name[:1].upper() + name[1:]


def type_as(self: Any, other: Any) -> Any:
    """Return the tensor in the dtype of another."""
    return to(self, other._array.dtype)


def _conversion(name: str, dtype: np.dtype) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        return to(self, dtype)

    method.__name__ = name
    method.__doc__ = f"Return the tensor in {dtype.name}."
    return method


_CONVERSIONS = {
    name: DTYPES[name]
    for name in ("half", "float", "double", "cfloat", "cdouble", "short", "int", "long", "bool")
} | {"byte": DTYPES["uint8"], "char": DTYPES["int8"]}


def cpu(self: Any) -> Any:
    """Return the tensor: its memory is the CPU's."""
    return self


def cuda(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Raise UnsupportedError: eager tensors live on the CPU."""
    check_device("cuda")


def size(self: Any, dim: int | None = None) -> Any:
    """Return the extents of all axes, or of one."""
    shape = Size(self._array.shape)
    return shape if dim is None else shape[dim]


def dim(self: Any) -> int:
    """Return the number of axes."""
    return int(self._array.ndim)


def numel(self: Any) -> int:
    """Return the number of elements."""
    return int(self._array.size)


def element_size(self: Any) -> int:
    """Return the bytes of one element."""
    return int(self._array.itemsize)


def stride(self: Any, dim: int | None = None) -> Any:
    """Return how many elements apart neighbours along each axis lie in memory."""
    steps = tuple(step // max(self._array.itemsize, 1) for step in self._array.strides)
    return steps if dim is None else steps[dim]


def data_ptr(self: Any) -> int:
    """Return the address of the first element."""
    return int(self._array.ctypes.data)


def is_contiguous(self: Any, memory_format: Any = None) -> bool:
    """Say whether the elements lie in order."""
    return bool(self._array.flags.c_contiguous)


def contiguous(self: Any, memory_format: Any = None) -> Any:
    """Return the tensor itself if its elements lie in order, else a copy."""
    return self if is_contiguous(self) else self.clone()


def _is_view(self: Any) -> bool:
    """Say whether the tensor shows the memory of another, of which it is a recorded view."""
    return self._base is not None


def is_floating_point(self: Any) -> bool:
    """Say whether the elements are floats."""
    return bool(self._array.dtype.kind == "f")


def is_complex(self: Any) -> bool:
    """Say whether the elements are complex."""
    return bool(self._array.dtype.kind == "c")


def is_signed(self: Any) -> bool:
    """Say whether the dtype has negative numbers."""
    return bool(self._array.dtype.kind in "ifc")


def is_tensor(value: Any) -> bool:
    """Say whether a value is a tensor."""
    return isinstance(value, Tensor)


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Write a tensor's elements into this one, broadcast and cast; gradients flow to `src`."""
    return self.assign(src, "copy_")


def fill_(self: Any, value: Any) -> Any:
    """Write one number everywhere."""
    return self.assign(value, "fill_")


def zero_(self: Any) -> Any:
    """Write zeros everywhere."""
    return self.assign(0, "zero_")


def fill_diagonal_(self: Any, fill_value: Any, wrap: bool = False) -> Any:
    """Write one number on the diagonal."""
    view = self.diagonal()
    view.assign(fill_value, "fill_diagonal_")
    return self


def _reduce(self: Any) -> Any:
    return rebuild, (type(self), self._array, self._requires_grad)


def rebuild(kind: type, array: np.ndarray, requires_grad: bool) -> Any:
    """Return the tensor that a pickle holds."""
    made = make_tensor(array, None)
    if kind is not Tensor:
        made.__class__ = kind
    return made.requires_grad_() if requires_grad else made


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment. Copy x.detach(), or use clone()."
        )
    if id(self) not in memo:
        copied = rebuild(type(self), self._array.copy(), self._requires_grad)
        memo[id(self)] = copied
        if self._grad is not None:
            copied._grad = _deepcopy(self._grad, memo)
    return memo[id(self)]


def _copy(self: Any) -> Any:
    made = self.detach()
    made.__class__ = type(self)
    made._requires_grad, made._edge = self._requires_grad, self._edge
    return made


def _dlpack(
    self: Any, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
    copy: bool | None = None,
) -> Any:  # fmt: skip
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return self._array.__dlpack__(
        stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
    )


def _dlpack_device(self: Any) -> Any:
    return self._array.__dlpack_device__()


def _format(self: Any, specification: str) -> str:
    if self._array.ndim == 0:
        return format(self._array.item(), specification)
    return object.__format__(self, specification) if specification else str(self)


def _len(self: Any) -> int:
    if self._array.ndim == 0:
        raise TypeError("len() of a 0-d tensor")
    return len(self._array)


def _iterate(self: Any) -> Any:
    if self._array.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


_CREATION: tuple[Callable[..., Any], ...] = (
    creation.tensor, creation.as_tensor, creation.from_numpy, creation.from_dlpack,
    creation.frombuffer, creation.zeros, creation.ones, creation.full, creation.eye,
    creation.arange, creation.range, creation.linspace, creation.logspace, creation.complex,
    creation.zeros_like, creation.ones_like, creation.full_like, random.rand, random.randn,
    random.randint, random.randperm, random.rand_like, random.randn_like, random.randint_like,
    random.normal, random.bernoulli, random.multinomial, random.poisson,
)  # fmt: skip
_METHODS: tuple[Callable[..., Any], ...] = (
    to, type_as, cpu, cuda, size, dim, numel, element_size, stride, data_ptr, is_contiguous,
    contiguous, _is_view, is_floating_point, is_complex, is_signed, copy_, fill_, zero_,
    fill_diagonal_,
    *creation.NEW_METHODS, *random.FILLING_METHODS,
)  # fmt: skip
_SPECIAL: dict[str, Any] = {
    "type": type_, "ndimension": dim, "nelement": numel, "new_empty": creation.new_empty,
    "__reduce_ex__": lambda self, protocol: _reduce(self), "__deepcopy__": _deepcopy,
    "__copy__": _copy, "__dlpack__": _dlpack, "__dlpack_device__": _dlpack_device,
    "__array_namespace__": standard.namespace_of,
    "to_device": standard.to_device, "__format__": _format, "__len__": _len, "__iter__": _iterate,
    "device": property(lambda self: CPU), "is_cuda": False,
    "shape": property(lambda self: Size(self._array.shape)),
    "T": property(lambda self: METHODS["permute"](self, tuple(range(self._array.ndim))[::-1])),
    "mT": property(lambda self: METHODS["transpose"](self, -2, -1)),
    "H": property(lambda self: METHODS["transpose"](self, 0, 1).conj()),
    "mH": property(lambda self: METHODS["transpose"](self, -2, -1).conj()),
    "__rdiv__": lambda self, other: self.__rtruediv__(other),
    "itemsize": property(element_size),
    "nbytes": property(lambda self: int(self._array.nbytes)),
}  # fmt: skip


_QUESTIONS: tuple[Callable[..., Any], ...] = (
    is_tensor, numel, is_floating_point, is_complex, limits.finfo, limits.iinfo,
    limits.result_type, limits.promote_types, limits.can_cast,
)  # fmt: skip
_ALSO_NAMES = (
    "batch_norm", "bilinear", "celu", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "cosine_similarity", "dropout", "embedding",
    "group_norm", "hardshrink", "instance_norm", "layer_norm", "max_pool1d", "max_pool2d",
    "max_pool3d", "pairwise_distance", "pdist", "prelu", "relu", "rms_norm", "selu", "threshold",
)  # fmt: skip
_ALSO_METHODS = ("hardshrink", "prelu", "relu")


def install(functional: Any) -> None:
    """Give Tensor the methods of all modules of functions, `nn.functional` among them."""
    for method in _METHODS:
        METHODS[method.__name__] = method
    for name, dtype in _CONVERSIONS.items():
        METHODS[name] = _conversion(name, dtype)
    NAMES.update(empty=creation.empty, empty_like=creation.empty_like, asarray=creation.asarray)
    for name, value in standard.NAMESPACE.items():
        if name not in ("fft", "linalg"):  # modules of PyTorch's names
            NAMES.setdefault(name, value)
    NAMES["array_api"] = standard.array_api
    NAMES.update(e=math.e, pi=math.pi, inf=math.inf, nan=math.nan, newaxis=None)
    METHODS.update(bernoulli=random.bernoulli, multinomial=random.multinomial)
    for function in (*_CREATION, *_QUESTIONS):
        NAMES[function.__name__] = function
    for name in _ALSO_NAMES:
        NAMES[name] = getattr(functional, name)
    for name in _ALSO_METHODS:
        METHODS[name] = getattr(functional, name)
    METHODS["relu_"] = in_place_form(functional.relu, "relu_")
    for name, member in (METHODS | _SPECIAL).items():
        setattr(Tensor, name, member)
