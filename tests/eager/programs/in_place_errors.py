"""What in-place operations may not do."""

import stagrad as torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
try:
    x.add_(1)
except RuntimeError as error:
    print(str(error)[:74])
try:
    x[0] = 5.0
except RuntimeError as error:
    print(str(error)[:84])
y = x.exp()
y.add_(1)
try:
    y.sum().backward()
except RuntimeError as error:
    print(str(error).split(":")[0])
with torch.no_grad():
    x.add_(1)
print(x, x._version)
x.data.mul_(2)
print(x)
