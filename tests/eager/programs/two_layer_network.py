"""A network of two layers on data made of sines; weights are set by hand."""

import stagrad as torch
import stagrad.nn.functional as F
from stagrad import nn, optim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 6)
        self.fc2 = nn.Linear(6, 3)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


net = Net()
print(net)
with torch.no_grad():
    for number, parameter in enumerate(net.parameters()):
        count = parameter.numel()
        parameter.copy_(torch.sin(torch.arange(count) + number).view(parameter.shape) / 2)
print(len(list(net.parameters())), net.fc1.weight.size(), sum(p.numel() for p in net.parameters()))
inputs = torch.cos(torch.arange(32.0)).view(8, 4)
targets = torch.arange(8) % 3
print(net(inputs)[:2])
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(5):
    optimizer.zero_grad()
    loss = criterion(net(inputs), targets)
    loss.backward()
    optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.5f}")
print(net.fc1.bias.grad)
_, predicted = torch.max(net(inputs), 1)
print(predicted, (predicted == targets).sum().item() / targets.size(0))
print(loss.grad_fn.next_functions[0][0].name())
