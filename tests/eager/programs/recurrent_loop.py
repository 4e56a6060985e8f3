"""A recurrence unrolled by hand, differentiated through time."""

import stagrad as torch

W_h = (torch.eye(3) * 0.5).requires_grad_()
W_x = (torch.arange(6.0).view(3, 2) / 10).requires_grad_()
h = torch.zeros(3, 1)
inputs = torch.sin(torch.arange(8.0)).view(4, 2, 1)
for step, x in enumerate(inputs):
    h = torch.tanh(W_h @ h + W_x @ x)
    print(step, h.squeeze(), h.grad_fn.name())
loss = h.pow(2).sum()
print(loss)
loss.backward()
print(W_h.grad)
print(W_x.grad)
