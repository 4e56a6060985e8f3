"""Jacobians, Hessians and products with them."""

import stagrad as torch
from stagrad.autograd.functional import hessian, hvp, jacobian, jvp, vjp


def outer(x):
    return torch.stack([x[0] * x[1], x[0].exp(), x.sum()])


def cubic(x):
    return (x**3).sum() + x[0] * x[1]


x = torch.tensor([1.0, 2.0])
print(jacobian(outer, x))
print(hessian(cubic, x))
print(vjp(outer, x, torch.tensor([1.0, 0.0, 2.0])))
print(jvp(outer, x, torch.tensor([1.0, -1.0])))
print(hvp(cubic, x, torch.tensor([1.0, 1.0])))
print(jacobian(lambda a, b: a * b, (x, x + 1)))
