"""stagrad: a differentiating compiler for NumPy functions.

The names of eager mode (`tensor`, `no_grad`, `nn`, …) are loaded when one of them is first used.
"""

import importlib as _importlib
from typing import Any as _Any

from stagrad import random
from stagrad.api.constants import stop_gradient
from stagrad.api.export import export
from stagrad.api.jvp import jvp
from stagrad.api.matrices import hessian, hvp, jacobian
from stagrad.api.profile import profile
from stagrad.api.transforms import aval, compile, grad, value_and_grad
from stagrad.api.vjp import vjp
from stagrad.api.vmap import vmap
from stagrad.ops.images import avg_pool, conv, conv_transpose, max_pool

__all__ = [
    "aval",
    "avg_pool",
    "compile",
    "conv",
    "conv_transpose",
    "export",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "max_pool",
    "profile",
    "random",
    "stop_gradient",
    "value_and_grad",
    "vjp",
    "vmap",
]


# Importing the layer of this name has set it as an attribute; users mean the trace of a matrix.
globals().pop("trace", None)


def __getattr__(name: str) -> _Any:
    if name == "testing":
        return _importlib.import_module("stagrad.testing")
    eager = _importlib.import_module("stagrad.eager")
    if name in eager.MODULES:
        return _importlib.import_module(f"stagrad.{name}")
    if name in eager.__all__:
        return getattr(eager, name)
    raise AttributeError(f"module 'stagrad' has no attribute {name!r}")


def __dir__() -> list[str]:
    eager = _importlib.import_module("stagrad.eager")
    return sorted({*globals(), *eager.__all__, *eager.MODULES})
