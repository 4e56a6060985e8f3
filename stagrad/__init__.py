"""stagrad: a differentiating compiler for NumPy functions."""

from stagrad import random
from stagrad.api.export import export
from stagrad.api.jvp import jvp
from stagrad.api.matrices import hessian, hvp, jacobian
from stagrad.api.transforms import aval, compile, grad, value_and_grad
from stagrad.api.vjp import vjp
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
    "random",
    "value_and_grad",
    "vjp",
]
