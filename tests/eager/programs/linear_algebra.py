"""Decompositions and solutions, with gradients."""

import stagrad as torch

a = torch.tensor([[4.0, 1.0], [1.0, 3.0]], dtype=torch.float64, requires_grad=True)
b = torch.tensor([1.0, 2.0], dtype=torch.float64)
print(torch.linalg.solve(a, b))
print(torch.linalg.inv(a), (torch.det(a) * 1000).round(), torch.slogdet(a.detach()))
factor = torch.linalg.cholesky(a)
print(factor)
factor.sum().backward()
print(a.grad)
values, _ = torch.linalg.eigh(a.detach())
print(values, torch.linalg.norm(a), torch.trace(a), torch.linalg.matrix_rank(a))
print(torch.linalg.svdvals(a.detach()), torch.linalg.eigvals(a.detach()))
print(torch.outer(b, b), torch.dot(b, b), torch.bmm(a.detach()[None], a.detach()[None]))
