"""State dicts that are saved and loaded; copies; a training that is taken up again."""

import copy
import tempfile
from pathlib import Path

import stagrad as torch
from stagrad import nn, optim

model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
with torch.no_grad():
    for number, p in enumerate(model.parameters()):
        p.copy_(torch.cos(torch.arange(p.numel()) + number).view(p.shape))
x, y = torch.tensor([[1.0, 2.0], [-1.0, 0.5]]), torch.tensor([[1.0], [0.0]])
optimizer = optim.Adam(model.parameters(), lr=0.05)


def step(model, optimizer):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


print([f"{step(model, optimizer):.4f}" for _ in range(3)])
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "checkpoint"
    torch.save({"model": model.state_dict(), "epoch": 3, "loss": [0.5, 0.25]}, path)
    checkpoint = torch.load(path)
print(sorted(checkpoint), checkpoint["epoch"], checkpoint["loss"])
twin = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
print(twin.load_state_dict(checkpoint["model"]))
other = optim.Adam(twin.parameters(), lr=0.05)
other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
print([f"{step(model, optimizer):.4f}" for _ in range(3)])
print([f"{step(twin, other):.4f}" for _ in range(3)])
clone = copy.deepcopy(model)
with torch.no_grad():
    clone[0].weight.zero_()
print(model[0].weight, clone[0].weight, clone[2].bias is model[2].bias)
