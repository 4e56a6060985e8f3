"""Gradients add up until they are set to zero."""

import stagrad as torch

inp = torch.eye(4, 5, requires_grad=True)
out = (inp + 1).pow(2).t()
out.backward(torch.ones_like(out), retain_graph=True)
print(f"First call\n{inp.grad}")
out.backward(torch.ones_like(out), retain_graph=True)
print(f"\nSecond call\n{inp.grad}")
inp.grad.zero_()
out.backward(torch.ones_like(out))
print(f"\nCall after zeroing gradients\n{inp.grad}")
try:
    out.backward(torch.ones_like(out))
except RuntimeError as error:
    print(str(error).split(".")[0].split(" (")[0])
