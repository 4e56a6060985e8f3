"""Logistic loss of one layer: the nodes at its ends and the gradients of its parameters."""

import stagrad as torch

x = torch.ones(5)
y = torch.zeros(3)
w = (torch.arange(15.0).reshape(5, 3) / 10 - 0.6).requires_grad_()
b = torch.tensor([0.1, -0.2, 0.3], requires_grad=True)
z = torch.matmul(x, w) + b
loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)
print(z)
print(loss)
print(z.grad_fn.name(), loss.grad_fn.name())
loss.backward()
print(w.grad)
print(b.grad)
with torch.no_grad():
    z = torch.matmul(x, w) + b
print(z.requires_grad, z.detach().requires_grad)
