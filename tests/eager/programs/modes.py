"""Modes as contexts, decorators, calls, and in generators."""

import stagrad as torch

x = torch.tensor([1.0], requires_grad=True)


@torch.no_grad()
def numbers():
    for k in range(2):
        yield k, torch.is_grad_enabled()


for k, inside in numbers():
    print(k, inside, torch.is_grad_enabled())


@torch.enable_grad()
def tripler(t):
    return t * 3


@torch.set_grad_enabled(False)
def plain(t):
    return t * 3


with torch.no_grad():
    print(tripler(x).requires_grad, plain(x).requires_grad)
print(plain(x).requires_grad, tripler(x).requires_grad)
torch.set_grad_enabled(False)
print((x * 2).requires_grad)
torch.set_grad_enabled(True)
print((x * 2).requires_grad)
try:
    with torch.no_grad():
        raise ValueError("inside")
except ValueError as error:
    print(error, torch.is_grad_enabled())
with torch.inference_mode():
    t = x * 2
    print(t.requires_grad, t.is_inference() if hasattr(t, "is_inference") else True)
y = x.detach().requires_grad_()
(y * 5).backward()
print(x.grad, y.grad)
