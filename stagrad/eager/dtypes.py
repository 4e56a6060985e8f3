"""PyTorch's names for NumPy's dtypes, and the default dtype of floats.

A dtype here is NumPy's own object, so that `x.dtype == np.float32` and every NumPy function accept
it. Texts that PyTorch prints with a dtype in them print it as PyTorch does: `torch.float64`.
"""

from typing import Any

import numpy as np

NAMES: dict[str, Any] = {
    "float16": np.float16, "half": np.float16, "float32": np.float32, "float": np.float32,
    "float64": np.float64, "double": np.float64, "complex64": np.complex64, "cfloat": np.complex64,
    "complex128": np.complex128, "cdouble": np.complex128, "uint8": np.uint8, "uint16": np.uint16,
    "uint32": np.uint32, "uint64": np.uint64, "int8": np.int8, "int16": np.int16, "short": np.int16,
    "int32": np.int32, "int": np.int32, "int64": np.int64, "long": np.int64, "bool": np.bool_,
}  # fmt: skip

DTYPES: dict[str, np.dtype] = {name: np.dtype(kind) for name, kind in NAMES.items()}

_current: dict[str, np.dtype] = {"default": DTYPES["float32"]}


def get_default_dtype() -> np.dtype:
    """Return the dtype that Python floats become; float32 unless `set_default_dtype` was called."""
    return _current["default"]


def set_default_dtype(dtype: Any) -> None:
    """Set the dtype that Python floats become: float16, float32 or float64.

    >>> import stagrad
    >>> stagrad.set_default_dtype(stagrad.float64)
    >>> stagrad.tensor([1.0]).dtype
    dtype('float64')
    >>> stagrad.set_default_dtype(stagrad.float32)
    """
    wanted = np.dtype(dtype)
    if wanted.kind != "f" or wanted.itemsize > 8:
        raise ValueError(
            "set_default_dtype: only floating-point types are supported as the default type, got "
            f"{wanted}"
        )
    _current["default"] = wanted


def complex_default() -> np.dtype:
    """Return the complex dtype whose parts have the default dtype."""
    is_single = get_default_dtype().itemsize < 8
    return DTYPES["complex64" if is_single else "complex128"]


def dtype_text(dtype: np.dtype) -> str:
    """Return a dtype as PyTorch prints it.

    >>> dtype_text(np.dtype("float64"))
    'torch.float64'
    """
    return f"torch.{dtype.name}"


def read_dtype(dtype: Any) -> np.dtype:
    """Return the NumPy dtype that an argument means: a dtype, a type, `float`, or None.

    Python's `float` means the default dtype, `complex` its complex counterpart.
    """
    if dtype is float or dtype is None:
        return get_default_dtype()
    if dtype is complex:
        return complex_default()
    found: np.dtype = np.dtype(dtype)
    return found


class Size(tuple[int, ...]):
    """The extents of a tensor: a tuple that prints as PyTorch's.

    >>> Size([2, 3])
    torch.Size([2, 3])
    """

    __slots__ = ()

    def numel(self) -> int:
        """Return the number of elements of a tensor of this shape."""
        product = 1
        for extent in self:
            product *= extent
        return product

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Any:
        return Size(super().__add__(tuple(other)))
