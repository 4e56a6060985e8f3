"""Reading and writing elements: gather, scatter, masks, and their gradients."""

import stagrad as torch

x = torch.arange(12.0).view(3, 4).requires_grad_()
print(x[1], x[:, 0], x[1, 2], x[[0, 2]], x[-1:])
print(x.gather(1, torch.tensor([[0], [1], [3]])))
print(x.index_select(0, torch.tensor([0, 0, 2])))
print(x.masked_select(x > 8), x.masked_fill(x > 5, 0.0))
print(torch.take(x, torch.tensor([0, 5])), x.diagonal(), x.flip(1)[0])
(x[[0, 0, 1]] ** 2).sum().backward()
print(x.grad)
t = torch.zeros(2, 3)
t.scatter_(1, torch.tensor([[0, 2], [1, 0]]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
print(t)
t.scatter_add_(0, torch.tensor([[0, 0, 1]]), torch.ones(1, 3))
print(t)
t[t > 2] = -1
print(t, t.nonzero(), (t < 0).sum())
t.index_add_(0, torch.tensor([0, 0]), torch.ones(2, 3))
print(t)
