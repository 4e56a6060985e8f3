"""Views share memory, and writes through them are part of the history."""

import stagrad as torch

x = torch.arange(6.0).reshape(2, 3).requires_grad_()
y = x * 1
row = y[0]
print(row, row._is_view(), x._is_view())
row.mul_(10)
print(y)
y[:, 1] = 0
print(y)
y.sum().backward()
print(x.grad)
flat = y.view(-1)
print(flat)
print(flat.data_ptr() == y.data_ptr(), y._version, flat._version)
t = torch.zeros(3, 2)
t.t()[0] = torch.tensor([1.0, 2.0, 3.0])
print(t, t.t().is_contiguous(), t.t().stride())
