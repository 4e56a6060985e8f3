"""requires_grad spreads from operands to results, and can be asked for in place."""

import stagrad as torch

a = torch.tensor([[0.5, -1.25], [2.0, 4.0]])
a = (a * 3) / (a - 1)
print(a, a.requires_grad)
a.requires_grad_(True)
print(a.requires_grad, a.is_leaf)
b = (a * a).sum()
print(b.grad_fn.name(), b)
c = torch.tensor([1.0, 2.0])
print((a + c).requires_grad, (c * 2).requires_grad)
print((a + c).is_leaf, (c * 2).is_leaf)
try:
    torch.tensor([1, 2], requires_grad=True)
except RuntimeError as error:
    print(str(error)[:70])
