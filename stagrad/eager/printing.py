"""How tensors print."""

from typing import Any

import numpy as np


def tensor_text(tensor: Any) -> str:
    """Return a tensor as text: its numbers, and where they came from."""
    numbers = np.array2string(tensor._array, separator=", ", prefix="tensor(", precision=4)
    suffix = ""
    if tensor.grad_fn is not None:
        suffix = f", grad_fn=<{tensor.grad_fn.name()}>"
    elif tensor.requires_grad:
        suffix = ", requires_grad=True"
    return f"tensor({numbers}{suffix})"
