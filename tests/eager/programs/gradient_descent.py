"""Linear regression by gradient descent on data without noise, printed at each step."""

import stagrad as torch

X = torch.linspace(0, 1, 11).unsqueeze(1)
Y = 3 * X + 2
w = torch.zeros(1, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for epoch in range(100):
    y_hat = X @ w + b
    loss = ((y_hat - Y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.5 * w.grad
        b -= 0.5 * b.grad
    w.grad.zero_()
    b.grad.zero_()
    if epoch % 20 == 0:
        print(f"epoch {epoch}: w = {w.item():.3f}, b = {b.item():.3f}, loss = {loss.item():.4f}")
print(w, b)
print(loss)
print(y_hat[:3], y_hat.shape, X[:, 0])
