"""Gradients of eager tensors: PyTorch's `torch.autograd` under the same names."""

from stagrad.eager.autograd import backward, grad
from stagrad.eager.modes import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from stagrad.eager.tensor import Tensor as Variable

__all__ = [
    "Variable",
    "backward",
    "enable_grad",
    "grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
]
