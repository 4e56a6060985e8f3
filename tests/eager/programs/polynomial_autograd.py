"""A cubic fitted to the sine, with gradients by backward()."""

import math

import stagrad as torch

dtype, device = torch.float, torch.device("cpu")
x = torch.linspace(-math.pi, math.pi, 200, device=device, dtype=dtype)
y = torch.sin(x)
a, b, c, d = (
    torch.tensor(value, device=device, dtype=dtype, requires_grad=True)
    for value in (0.1, -0.2, 0.3, 0.05)
)
learning_rate = 1e-5
for t in range(500):
    y_pred = a + b * x + c * x**2 + d * x**3
    loss = (y_pred - y).pow(2).sum()
    if t % 100 == 99:
        print(t, f"{loss.item():.3f}")
    loss.backward()
    with torch.no_grad():
        for parameter in (a, b, c, d):
            parameter -= learning_rate * parameter.grad
            parameter.grad = None
print(loss)
print(a, b, c, d)
