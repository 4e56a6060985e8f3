"""Saved tensors, leaves, gradients of chosen inputs, and graphs that are kept."""

import stagrad as torch

a = torch.tensor([2.0, 3.0], requires_grad=True)
b = torch.tensor([6.0, 4.0], requires_grad=True)
Q = 3 * a**3 - b**2
print(Q)
external_grad = torch.tensor([1.0, 1.0])
Q.backward(gradient=external_grad)
print(9 * a**2 == a.grad)
print(-2 * b == b.grad)
x = torch.tensor([1.0, 2.0, 3.0, 4.0])
y = torch.tensor([5.0, 6.0, 7.0, 8.0])
z = torch.tensor([1.0, 1.0, 1.0, 1.0], requires_grad=True)
print(f"Does `a` require gradients?: {(x + y).requires_grad}")
print(f"Does `b` require gradients?: {(x + z).requires_grad}")
u = torch.tensor(1.0, requires_grad=True)
v = torch.tensor(2.0, requires_grad=True)
w = u * v
w.backward(inputs=[u])
print(u.grad, v.grad)
w = u * v
w.retain_grad()
w.backward()
print(w.grad, u.grad, v.grad, w.retains_grad)
print(torch.autograd.grad((u * v) ** 2, (u, v)))
s = (u * v).exp()
torch.autograd.backward([s, s * 2], retain_graph=True)
print(u.grad)
u.grad = None
with torch.inference_mode():
    print((u * 2).requires_grad, torch.is_inference_mode_enabled())
print(torch.is_grad_enabled(), u.is_leaf, s.is_leaf)
p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
print(p, p.requires_grad, type(p).__name__)
print(p * 2, p.data, p.detach())
