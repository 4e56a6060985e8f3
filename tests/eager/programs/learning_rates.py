"""Optimizers and schedules: the path of one parameter."""

import stagrad as torch
from stagrad import optim
from stagrad.optim import lr_scheduler

for kind, options in [
    (optim.SGD, {"lr": 0.1, "momentum": 0.5, "nesterov": True}),
    (optim.Adam, {"lr": 0.1}),
    (optim.AdamW, {"lr": 0.1, "weight_decay": 0.1}),
    (optim.RMSprop, {"lr": 0.1}),
]:
    x = torch.tensor([2.0, -1.0], requires_grad=True)
    optimizer = kind([x], **options)
    scheduler = lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    for _ in range(5):
        optimizer.zero_grad()
        (x**2).sum().backward()
        optimizer.step()
        scheduler.step()
    print(kind.__name__, x, scheduler.get_last_lr())
x = torch.tensor([2.0, -1.0], requires_grad=True)
optimizer = optim.LBFGS([x], lr=0.5)


def closure():
    optimizer.zero_grad()
    loss = ((x - 1) ** 2).sum()
    loss.backward()
    return loss


for _ in range(3):
    print(optimizer.step(closure))
print(x)
