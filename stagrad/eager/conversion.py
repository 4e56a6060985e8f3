"""What leaves a tensor: NumPy arrays, Python numbers, and NumPy's functions called on it."""

import dis
import sys
from typing import Any, NoReturn

import numpy as np

_STORE = dis.opmap["STORE_SUBSCR"]


class Conversions:
    """The conversions of a tensor; nothing here loses a gradient without saying so."""

    _array: np.ndarray
    requires_grad: Any

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        from stagrad.eager.protocols import call_ufunc

        return call_ufunc(ufunc, method, *inputs, **keywords)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from stagrad.eager.protocols import call_function

        return call_function(function, args, kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if self.requires_grad:
            self._refuse_numpy()
        if copy:
            return np.array(self._array, dtype)
        return self._array if dtype is None else np.asarray(self._array, dtype)

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """Return the array itself, sharing memory; raises where that would lose a gradient."""
        if self.requires_grad and not force:
            self._refuse_numpy()
        return self._array

    def _refuse_store(self) -> None:
        """Raise where NumPy asks for a number to write into an array, as `array[i] = tensor` does.

        Python code that calls `float(tensor)` is at a call, not at a store into something.
        """
        if not self.requires_grad:
            return
        frame = sys._getframe(2)
        if frame.f_code.co_code[frame.f_lasti] == _STORE:
            # NumPy shows this as the cause of an error of its own.
            raise RuntimeError(
                "a tensor that requires grad cannot be written into a NumPy array: its gradient "
                "would be lost. Make the array a tensor first (stagrad.tensor(array)), or write "
                "tensor.detach()."
            )

    def _refuse_numpy(self) -> NoReturn:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )

    def item(self) -> Any:
        """Return the only element as a Python number."""
        if self._array.size != 1:
            raise RuntimeError(
                f"a Tensor with {self._array.size} elements cannot be converted to Scalar"
            )
        return self._array.item()

    def tolist(self) -> Any:
        """Return the numbers as nested lists."""
        return self._array.tolist()

    def _only(self) -> Any:
        if self._array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self._array.item()

    def __float__(self) -> float:
        self._refuse_store()
        return float(self._only())

    def __int__(self) -> int:
        return int(self._only())

    def __complex__(self) -> complex:
        self._refuse_store()
        return complex(self._only())

    def __bool__(self) -> bool:
        if self._array.size != 1:
            raise RuntimeError(
                "Boolean value of Tensor with "
                f"{'no values' if not self._array.size else 'more than one value'} is ambiguous"
            )
        return bool(self._array.item())

    def __index__(self) -> int:
        if self._array.dtype.kind not in "iub" or self._array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._array.item())
