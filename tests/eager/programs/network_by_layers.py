"""A LeNet on one image: parameters, output, loss, the graph behind it, and an update."""

import stagrad as torch
import stagrad.nn as nn
import stagrad.nn.functional as F
import stagrad.optim as optim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 3, 5)
        self.conv2 = nn.Conv2d(3, 4, 5)
        self.fc1 = nn.Linear(4 * 5 * 5, 12)
        self.fc2 = nn.Linear(12, 10)

    def forward(self, input):
        c1 = F.relu(self.conv1(input))
        s2 = F.max_pool2d(c1, (2, 2))
        s4 = F.max_pool2d(F.relu(self.conv2(s2)), 2)
        return self.fc2(F.relu(self.fc1(torch.flatten(s4, 1))))


net = Net()
print(net)
with torch.no_grad():
    for number, p in enumerate(net.parameters()):
        p.copy_(torch.sin(torch.arange(p.numel()) * (number + 1.0)).view_as(p) / 5)
params = list(net.parameters())
print(len(params))
print(params[0].size())
input = torch.cos(torch.arange(32.0 * 32)).view(1, 1, 32, 32)
out = net(input)
print(out)
net.zero_grad()
out.backward(torch.ones(1, 10))
target = torch.linspace(-1, 1, 10).view(1, -1)
criterion = nn.MSELoss()
output = net(input)
loss = criterion(output, target)
print(loss)
print(loss.grad_fn.name())
print(loss.grad_fn.next_functions[0][0].name())
print(loss.grad_fn.next_functions[0][0].next_functions[0][0].name())
net.zero_grad()
print("conv1.bias.grad before backward")
print(net.conv1.bias.grad)
loss.backward()
print("conv1.bias.grad after backward")
print(net.conv1.bias.grad)
for f in net.parameters():
    f.data.sub_(f.grad.data * 0.01)
optimizer = optim.SGD(net.parameters(), lr=0.01)
optimizer.zero_grad()
print(net.conv1.bias.grad)
loss = criterion(net(input), target)
loss.backward()
optimizer.step()
print(criterion(net(input), target))
