"""A small convolutional network, forward and backward, with its parameters printed."""

import stagrad as torch
from stagrad import nn

model = nn.Sequential(
    nn.Conv2d(1, 2, 3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(8, 2),
)
with torch.no_grad():
    for number, parameter in enumerate(model.parameters()):
        count = parameter.numel()
        parameter.copy_(torch.cos(torch.arange(count) * 0.7 + number).view(parameter.shape))
image = (torch.arange(16.0) / 16).view(1, 1, 4, 4)
out = model(image)
print(model)
print(out)
loss = nn.functional.cross_entropy(out, torch.tensor([1]))
print(loss)
loss.backward()
print(model[0].weight.grad[0], model[0].bias.grad)
for name, parameter in model.named_parameters():
    print(name, tuple(parameter.shape), parameter.grad.norm())
