"""Broadcasting, comparisons, reductions and dtypes."""

import stagrad as torch

x = torch.arange(6.0).view(2, 3)
print(x + torch.tensor([[10.0], [20.0]]), x * torch.tensor([1.0, 0.0, 2.0]))
print(x > 2, x == 3, (x > 1) & (x < 4), ~(x > 1))
print(torch.where(x > 2, x, torch.zeros(())), x.any(), (x >= 0).all(), (x > 2).sum())
print(x.mean(), x.prod(), x.std(dim=1), x.var(dim=0, unbiased=False), x.median(), x.norm())
print(x.min(0), x.argmin(1), torch.maximum(x, x.flip(1)))
print(x.type(torch.int32), x.double(), x.bool(), x.half().dtype, x.to(torch.complex64)[0])
print(torch.tensor([5, 7]) // 2, torch.tensor([5, 7]) % 3, torch.tensor([1.0, 2.0]) + 1)
print(torch.tensor([True, False]) + 1, -torch.tensor([1, 2]), abs(torch.tensor([-1.5])))
print(2 ** torch.tensor([1.0, 3.0]), torch.tensor([2, 3]) ** 2, 1 / torch.tensor([2.0, 4.0]))
print(torch.round(torch.tensor([0.5, 1.5, -2.6])), torch.floor(x / 2), torch.remainder(x, 2))
print(torch.isnan(torch.tensor([float("nan"), 1.0])), torch.isinf(torch.tensor(float("inf"))))
print(x.sum(0, keepdim=True).shape, x.sum((0, 1)), torch.cumprod(x + 1, 1))
print(torch.sigmoid(x), torch.tanh(x), torch.exp(x), torch.log(x + 1), torch.sqrt(x))
print(torch.softmax(x, 1), torch.log_softmax(x, 0), torch.logsumexp(x, 1))
print(torch.unique(torch.tensor([3, 1, 3])), torch.bincount(torch.tensor([0, 1, 1])))
print(torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij"))
print(torch.tril(torch.ones(3, 3)), torch.diag(torch.tensor([1.0, 2.0])), torch.histc(x, 3))
print(torch.repeat_interleave(torch.tensor([1, 2]), 2), torch.tensor([1, 2]).repeat(2, 2))
print(torch.roll(x, 1, 1), torch.rot90(x), torch.tensor([1.0, 2.0]).lerp(torch.ones(2), 0.5))
