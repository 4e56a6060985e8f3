"""Making tensors of data."""

from typing import Any

import numpy as np

from stagrad.eager.tape import make_tensor
from stagrad.eager.tensor import Tensor


def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Return a tensor with a copy of the data.

    Python floats become float32, arrays keep their dtype.
    """
    if isinstance(data, Tensor):
        data = data._array
    array = np.array(data, dtype)
    if dtype is None and not isinstance(data, np.ndarray | np.generic) and array.dtype.kind == "f":
        array = array.astype(np.float32)
    result: Tensor = make_tensor(array, None)
    return result.requires_grad_() if requires_grad else result
