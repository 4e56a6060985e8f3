"""Making tensors, and what they say of themselves."""

import numpy as np

import stagrad as torch

print(torch.empty(0), torch.zeros(2, 3), torch.ones(3, dtype=torch.int))
print(torch.tensor([5.5, 3]))
x = torch.zeros(5, 3, dtype=torch.long)
print(x, x.size(), x.dtype, x.device)
x = x.new_ones(2, 3, dtype=torch.double)
print(x)
print(torch.full_like(x, 0.25, dtype=torch.float).sum())
print(torch.arange(5), torch.arange(1, 2, 0.25), torch.linspace(0, 1, 5), torch.eye(2))
a = np.ones(3)
t = torch.from_numpy(a)
np.add(a, 1, out=a)
print(a, t)
t.add_(1)
print(a, t.numpy() is not None, t.tolist())
print(torch.tensor(3).item(), torch.tensor(2.5).item(), torch.tensor([True, False]))
print(torch.tensor([1 + 2j]), torch.tensor([[1, 2], [3, 4]]).T)
print(torch.logspace(0, 2, 3), torch.tensor([]).shape, torch.numel(x), x.element_size())
