"""A leaf, three operations, and the gradient of their mean."""

import stagrad as torch

x = torch.ones(2, 2, requires_grad=True)
print(x)
y = x + 2
print(y)
print(y.grad_fn is not None, x.grad_fn)
z = y * y * 3
out = z.mean()
print(z, out)
out.backward()
print(x.grad)
out = (x**3).sum() / 2
print(out)
x.grad = None
out.backward()
print(x.grad, x.grad.dtype, x.grad.shape)
