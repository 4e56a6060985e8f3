"""Three ways to leave the graph."""

import stagrad as torch

x = torch.tensor([1.5, -0.5], requires_grad=True)
print(x.requires_grad, (x**2).requires_grad)
with torch.no_grad():
    print((x**2).requires_grad, torch.is_grad_enabled())
y = x.detach()
print(y.requires_grad, x.eq(y).all(), y)


@torch.no_grad()
def double(value):
    return value * 2


print(double(x))
with torch.no_grad(), torch.enable_grad():
    print(x * 3)
with torch.set_grad_enabled(False):
    print(x * 3)
y[0] = 9
print(x)
print((x * 2).detach_())
