"""Doubling until the norm is large, then a vector in place of the scalar."""

import stagrad as torch

x = torch.tensor([0.3, -1.1, 0.7], requires_grad=True)
y = x * 2
while y.data.norm() < 1000:
    y = y * 2
print(y)
v = torch.tensor([0.1, 1.0, 0.0001], dtype=torch.float)
y.backward(v)
print(x.grad)
try:
    (x * 2).backward()
except RuntimeError as error:
    print(str(error)[:54])
