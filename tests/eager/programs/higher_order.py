"""Derivatives of derivatives."""

import stagrad as torch

x = torch.tensor([0.5, 2.0], requires_grad=True)
y = (x**4).sum()
(first,) = torch.autograd.grad(y, x, create_graph=True)
print(first)
(second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
print(second)
(third,) = torch.autograd.grad(second.sum(), x)
print(third)
penalty = (first.norm() - 1) ** 2
penalty.backward()
print(x.grad)
z = torch.tensor(1.0, requires_grad=True)
w = torch.tensor(2.0, requires_grad=True)
print(torch.autograd.grad(z * 2, [z, w], allow_unused=True))
try:
    torch.autograd.grad(z * 2, [z, w])
except RuntimeError as error:
    print(error)
