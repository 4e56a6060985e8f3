"""Frozen parameters and fine-tuning."""

import stagrad as torch
from stagrad import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
with torch.no_grad():
    for parameter in model.parameters():
        parameter.fill_(0.5)
for parameter in model[0].parameters():
    parameter.requires_grad = False
out = model(torch.tensor([[1.0, -1.0]]))
print(out)
out.backward()
print([parameter.grad for parameter in model.parameters()])
print([name for name, p in model.named_parameters() if p.requires_grad])
model.train(False)
print(model.training, model[1].training)
print(model.state_dict()["2.weight"], list(model.state_dict()))
with torch.no_grad():
    print(model(torch.tensor([[1.0, -1.0]])))
