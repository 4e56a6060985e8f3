"""Eager mode: tensors with a dynamic graph, on the table of operations the compiler uses."""

import stagrad.eager.core as _core  # noqa: F401  (gives Tensor its operators)
from stagrad.eager.creation import tensor
from stagrad.eager.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from stagrad.eager.tensor import Tensor
from stagrad.eager.viz import viz

MODULES = ("autograd",)
"""Modules of the package that belong to eager mode and re-export what is here."""

__all__ = [
    "Tensor",
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
    "tensor",
    "viz",
]
