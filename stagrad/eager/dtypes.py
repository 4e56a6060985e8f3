"""PyTorch's dtypes, each standing for one of NumPy's, and the default dtype of floats.

What users see is a `dtype`, which prints as PyTorch's, equals NumPy's and is accepted wherever
NumPy takes a dtype. Inside, arrays and rules go by NumPy's own.
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


class dtype:
    """The type of a tensor's elements.

    It is equal to NumPy's dtype of that name and has its attributes.

    >>> import numpy as np
    >>> import stagrad
    >>> x = stagrad.tensor([1.0])
    >>> x.dtype, x.dtype == np.float32, np.zeros(2, x.dtype).dtype
    (torch.float32, True, dtype('float32'))
    """

    __slots__ = ("dtype", "is_complex", "is_floating_point")

    def __init__(self, numpy_dtype: Any) -> None:
        self.dtype: np.dtype = np.dtype(numpy_dtype)  # NumPy asks for an attribute of this name.
        self.is_complex = self.dtype.kind == "c"
        self.is_floating_point = self.dtype.kind == "f"

    @property
    def is_signed(self) -> bool:
        """Whether there are negative numbers."""
        return self.dtype.kind in "ifc"

    def to_real(self) -> "dtype":
        """Return the dtype of the parts of a complex number; itself if it is real."""
        return public_dtype(self.dtype.type(0).real.dtype)

    def to_complex(self) -> "dtype":
        """Return the complex dtype whose parts have this one."""
        return public_dtype(np.result_type(self.dtype, np.complex64))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dtype, name)

    def __eq__(self, other: object) -> bool:
        if type(other) is dtype:
            return self.dtype == other.dtype
        try:
            return other is not None and bool(self.dtype == other)
        except (TypeError, ValueError):  # NumPy reads texts that name no dtype, too
            return False

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return dtype_text(self.dtype)

    def __reduce__(self) -> Any:
        return public_dtype, (self.dtype,)


DTYPES: dict[str, np.dtype] = {name: np.dtype(kind) for name, kind in NAMES.items()}

_PUBLIC: dict[np.dtype, dtype] = {
    numpy_dtype: dtype(numpy_dtype) for numpy_dtype in DTYPES.values()
}


def public_dtype(numpy_dtype: np.dtype) -> dtype:
    """Return the dtype that stands for one of NumPy's, always the same object.

    >>> public_dtype(np.dtype("float64"))
    torch.float64
    """
    found = _PUBLIC.get(numpy_dtype)
    if found is None:
        found = _PUBLIC[numpy_dtype] = dtype(numpy_dtype)
    return found


PUBLIC_DTYPES = {name: public_dtype(numpy_dtype) for name, numpy_dtype in DTYPES.items()}

_current: dict[str, np.dtype] = {"default": DTYPES["float32"]}


def default_dtype() -> np.dtype:
    """Return the dtype that Python floats become, as NumPy's."""
    return _current["default"]


def get_default_dtype() -> dtype:
    """Return the dtype that Python floats become; float32 unless `set_default_dtype` was called."""
    return public_dtype(default_dtype())


def set_default_dtype(d: Any) -> None:
    """Set the dtype that Python floats become: float16, float32 or float64.

    >>> import stagrad
    >>> stagrad.set_default_dtype(stagrad.float64)
    >>> stagrad.tensor([1.0]).dtype
    torch.float64
    >>> stagrad.set_default_dtype(stagrad.float32)
    """
    wanted: np.dtype = np.dtype(d)
    if wanted.kind != "f" or wanted.itemsize > 8:
        raise TypeError(
            f"only floating-point types are supported as the default type, not {wanted}"
        )
    _current["default"] = wanted


def complex_default() -> np.dtype:
    """Return the complex dtype whose parts have the default dtype."""
    is_single = default_dtype().itemsize < 8
    return DTYPES["complex64" if is_single else "complex128"]


def dtype_text(numpy_dtype: np.dtype) -> str:
    """Return a dtype as PyTorch prints it.

    >>> dtype_text(np.dtype("float64"))
    'torch.float64'
    """
    return f"torch.{numpy_dtype.name}"


def read_dtype(given: Any) -> np.dtype:
    """Return the NumPy dtype that an argument means: a dtype, a type, `float`, or None.

    Python's `float` means the default dtype, `complex` its complex counterpart.
    """
    if type(given) is dtype:
        return given.dtype
    if given is float or given is None:
        return default_dtype()
    if given is complex:
        return complex_default()
    found: np.dtype = np.dtype(given)
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
