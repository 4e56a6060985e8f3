"""stagrad: a differentiating compiler for NumPy functions."""

from stagrad.api.export import export
from stagrad.api.jvp import jvp
from stagrad.api.matrices import hessian, hvp, jacobian
from stagrad.api.transforms import aval, compile, grad, value_and_grad
from stagrad.api.vjp import vjp

__all__ = [
    "aval",
    "compile",
    "export",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "value_and_grad",
    "vjp",
]
