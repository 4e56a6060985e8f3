"""What dtypes hold and how they combine: finfo, iinfo, result_type and their kin."""

from typing import Any

import numpy as np

from stagrad.eager.dtypes import dtype, public_dtype, read_dtype
from stagrad.eager.tensor import Tensor


class finfo:
    """The limits of a floating-point dtype, or of the parts of a complex one.

    >>> import stagrad
    >>> stagrad.finfo(stagrad.float16).max
    65504.0
    """

    def __init__(self, type: Any = None) -> None:
        read = _read(type)
        if read.kind not in "fc":
            raise TypeError(f"torch.finfo() requires a floating point input type, got {read}")
        known = np.finfo(read)
        self.bits = int(known.bits)
        self.eps, self.max, self.min = float(known.eps), float(known.max), float(known.min)
        self.tiny = self.smallest_normal = float(known.smallest_normal)
        self.resolution = 10.0**-known.precision
        self.dtype = public_dtype(known.dtype)

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        numbers = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({numbers}, dtype={self.dtype.name})"


class iinfo:
    """The limits of an integer dtype.

    >>> import stagrad
    >>> stagrad.iinfo(stagrad.int8).max
    127
    """

    def __init__(self, type: Any) -> None:
        read = _read(type)
        if read.kind not in "iu":
            raise TypeError(f"torch.iinfo() requires an integer input type, got {read}")
        known = np.iinfo(read)
        self.bits, self.max, self.min = int(known.bits), int(known.max), int(known.min)
        self.dtype = public_dtype(read)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype.name})"


def _read(type: Any) -> np.dtype:
    return type._array.dtype if isinstance(type, Tensor) else read_dtype(type)


def result_type(*tensors: Any) -> dtype:
    """Return the dtype of operations on tensors, numbers and dtypes.

    >>> import stagrad
    >>> stagrad.result_type(stagrad.tensor([1.0]), 2)
    torch.float32
    """
    operands = [x._array if isinstance(x, Tensor) else x for x in tensors]
    return public_dtype(np.dtype(np.result_type(*operands)))


def promote_types(type1: Any, type2: Any) -> dtype:
    """Return the dtype of operations on tensors of two dtypes."""
    return public_dtype(np.promote_types(type1, type2))


def can_cast(from_: Any, to: Any) -> bool:
    """Say whether a dtype may be converted to another without changing its kind downwards."""
    return bool(np.can_cast(_read(from_), read_dtype(to), "same_kind"))
