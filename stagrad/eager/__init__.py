"""Eager mode: tensors with a dynamic graph, on the table of operations the compiler uses."""

from typing import Any

import stagrad.eager.core as _core  # gives Tensor its operators
import stagrad.eager.functions as _functions
import stagrad.eager.nn.functional as _functional
from stagrad.eager.creation import tensor
from stagrad.eager.device import device
from stagrad.eager.dtypes import (
    PUBLIC_DTYPES,
    Size,
    dtype,
    get_default_dtype,
    set_default_dtype,
)
from stagrad.eager.functions.registry import NAMES
from stagrad.eager.generator import (
    Generator,
    default_generator,
    initial_seed,
    manual_seed,
    seed,
)
from stagrad.eager.methods import install
from stagrad.eager.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from stagrad.eager.printing import set_printoptions
from stagrad.eager.serialization import load, save
from stagrad.eager.tensor import Tensor
from stagrad.eager.viz import viz

FAMILIES = (_core, _functions, _functional)
"""Imported for what they enter: operators, functions and methods."""

install(_functional)

MODULES = ("autograd", "fft", "linalg", "nn", "optim", "special")
"""Modules of the package that belong to eager mode and re-export what is here."""

__all__ = [
    "Generator",
    "Size",
    "Tensor",
    "default_generator",
    "device",
    "dtype",
    "enable_grad",
    "get_default_dtype",
    "inference_mode",
    "initial_seed",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "load",
    "manual_seed",
    "no_grad",
    "save",
    "seed",
    "set_default_dtype",
    "set_grad_enabled",
    "set_printoptions",
    "tensor",
    "viz",
]

_FUNCTIONS = {**NAMES, **PUBLIC_DTYPES}
__all__ += sorted(_FUNCTIONS)


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
