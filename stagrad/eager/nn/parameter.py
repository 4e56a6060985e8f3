"""Parameters: the tensors that a module's optimizer changes."""

from typing import Any

import numpy as np

from stagrad.eager.tensor import Tensor


class Parameter(Tensor):
    """A leaf tensor that a module registers when it is assigned as an attribute.

    It shares the memory of `data` and requires grad unless told otherwise.

    >>> import stagrad
    >>> stagrad.nn.Parameter(stagrad.ones(2)).requires_grad
    True
    """

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> "Parameter":
        """Make a parameter of a tensor or an array."""
        made = object.__new__(cls)
        if isinstance(data, Tensor):
            made._array, made._counter = data._array, data._counter
        else:
            made._array = np.zeros(0, np.float32) if data is None else np.asarray(data)
            made._counter = [0]
        made.requires_grad_(requires_grad)
        return made

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        """Nothing is left to do."""

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"
