"""Arithmetic, shapes and joins, printed at each step."""

import stagrad as torch

x = torch.arange(1.0, 7.0).reshape(2, 3)
y = torch.ones(2, 3)
print(x + y, torch.add(x, y), torch.add(x, y, alpha=10))
result = torch.empty(2, 3)
torch.add(x, y, out=result)
print(result)
print(y.add_(x))
print(x[:, 1], x[0, -1], x[..., ::2], x[x > 2])
print(x.view(6), x.view(-1, 2), x.T.reshape(-1))
print(torch.cat([x, y], dim=0), torch.stack([x, y]).shape, torch.cat([x, y], 1).size())
print(x @ y.T, x.mm(y.t()), torch.einsum("ij,ij->i", x, y))
print(x.sum(), x.sum(dim=0), x.mean(1, keepdim=True), x.max(), x.argmax())
print(x.max(dim=1))
print(torch.sort(torch.tensor([3, 1, 2]), descending=True))
print(x.unsqueeze(0).shape, x.squeeze().shape, x.permute(1, 0).shape, x.expand(2, 2, 3).shape)
print(x.chunk(3, dim=1), x.split([1, 2], 1)[1], x.unbind())
print(x.clamp(2, 4), x.where(x > 3, -x), x.cumsum(1), x.std(), x.var(0))
print(torch.topk(x, 2), x.long(), x.to(torch.float64).dtype, x.int() // 2, x % 2)
