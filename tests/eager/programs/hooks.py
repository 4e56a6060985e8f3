"""Hooks on tensors, in order, with and without a changed gradient."""

import stagrad as torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x**2
handle = y.register_hook(lambda grad: print("y:", grad))
x.register_hook(lambda grad: grad * 10)
x.register_hook(lambda grad: print("x:", grad))
x.register_post_accumulate_grad_hook(lambda tensor: print("accumulated:", tensor.grad))
y.retain_grad()
y.sum().backward()
print(y.grad, x.grad)
handle.remove()
x.grad = None
(x**2).sum().backward()
