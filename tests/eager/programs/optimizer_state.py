"""Optimizers print, save and restore their state; groups have rates of their own."""

import stagrad as torch
from stagrad import nn, optim

model = nn.Linear(2, 1)
with torch.no_grad():
    model.weight.copy_(torch.tensor([[0.5, -0.5]]))
    model.bias.zero_()
optimizer = optim.SGD(
    [{"params": [model.weight]}, {"params": [model.bias], "lr": 0.5}], lr=0.1, momentum=0.9
)
x, y = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0], [2.0]])
for _ in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print(loss, norm)
print([group["lr"] for group in optimizer.param_groups])
state = optimizer.state_dict()
print(sorted(state), state["state"][0])
other = optim.SGD(model.parameters(), lr=1.0)
print(len(other.param_groups), other.defaults["lr"])
scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
for _ in range(4):
    optimizer.step()
    scheduler.step()
    print([f"{rate:.4f}" for rate in scheduler.get_last_lr()])
for name, value in model.state_dict().items():
    print(name, value.shape)
