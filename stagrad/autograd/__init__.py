"""Gradients of eager tensors: PyTorch's `torch.autograd` under the same names."""

from stagrad.autograd import function, functional, graph
from stagrad.eager.autograd import backward, grad
from stagrad.eager.function import Function
from stagrad.eager.gradcheck import GradcheckError, gradcheck, gradgradcheck
from stagrad.eager.graph import detect_anomaly, set_detect_anomaly
from stagrad.eager.modes import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from stagrad.eager.tensor import Tensor as Variable

__all__ = [
    "Function",
    "GradcheckError",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]
