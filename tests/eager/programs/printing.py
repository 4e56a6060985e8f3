"""How numbers print."""

import stagrad as torch

print(torch.tensor([1.0, 10.5, 1000.25]))
print(torch.tensor([1e-5, 1.0]))
print(torch.tensor([float("nan"), float("inf"), -1.0]))
print(torch.tensor([1e8, 1.0]))
print(torch.arange(2000).reshape(2, 1000))
print(torch.zeros(3, 0), torch.zeros(2, 0, 3).shape)
print(torch.ones(2, 2, 2, dtype=torch.float64, requires_grad=True))
print(torch.tensor([0.1, 0.25], dtype=torch.float16), torch.tensor([1, 2], dtype=torch.int8))
torch.set_printoptions(precision=2, sci_mode=False)
print(torch.tensor([3.14159, 2.71828e-5]))
torch.set_printoptions(profile="default")
x = torch.tensor([2.0], requires_grad=True)
print(x * 2, (x * 2).sum(), x.detach(), x.view(1, 1), x.T if x.ndim == 2 else x[0])
print([x, x.exp()], {"loss": x.sum()})
print(f"{x.item():.3f} {x.sum()}", str(x), repr(x.data), torch.Size([2, 3]), torch.float32)
print(torch.tensor([[1.0, 2.0], [3.0, 4.0]]).softmax(1))
