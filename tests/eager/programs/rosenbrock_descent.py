"""Newton's method on Rosenbrock's function, the Hessian from double backward."""

import stagrad as torch


def rosenbrock(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


p = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
for step in range(5):
    value = rosenbrock(p)
    (gradient,) = torch.autograd.grad(value, p, create_graph=True)
    rows = [torch.autograd.grad(part, p, retain_graph=True)[0] for part in gradient]
    hessian = torch.stack(rows)
    print(step, value, gradient.detach())
    with torch.no_grad():
        p -= torch.linalg.solve(hessian, gradient)
print(p)
print(hessian)
