"""The functional interface of autograd on several inputs and outputs."""

import stagrad as torch
from stagrad.autograd import functional


def pair(x, y):
    return x * y, (x + y).sum()


def energy(x, y):
    return (x**2 * y).sum()


x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
print(functional.jacobian(pair, (x, y)))
print(functional.hessian(energy, (x, y)))
print(functional.vhp(energy, (x, y), (x, y)))
print(functional.hvp(energy, (x, y), (y, x)))
print(functional.jvp(energy, (x, y), (y, x)))
print(functional.vjp(pair, (x, y), (torch.ones(2), torch.tensor(1.0))))
jacobian = functional.jacobian(lambda x: x.exp().sum(dim=0), torch.zeros(2, 2), create_graph=True)
print(jacobian, jacobian.requires_grad)
print(functional.jacobian(lambda x: x**2, x, vectorize=True, strict=False))
