"""Models of tutorials train unchanged with `import stagrad as torch`."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import stagrad as torch
import stagrad.nn.functional as F
from stagrad import nn, optim


@pytest.fixture(scope="module")
def digits():
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    x = torch.tensor((images[order] / 16).astype(np.float32)).reshape(-1, 1, 8, 8)
    y = torch.tensor(labels[order])
    return (x[:1200], y[:1200]), (x[1200:], y[1200:])


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.layers = nn.Sequential(
            nn.Linear(64, 64),
            nn.ReLU(),
            nn.Linear(64, 64),
            nn.ReLU(),
            nn.Linear(64, 10),
        )

    def forward(self, x):
        return self.layers(self.flatten(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 5, padding=2)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)
        self.dropout = nn.Dropout(0.25)
        self.fc1 = nn.Linear(16 * 2 * 2, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.norm(self.conv2(x))), 2)
        x = torch.flatten(x, 1)
        x = self.dropout(F.relu(self.fc1(x)))
        return F.log_softmax(self.fc2(x), dim=1)


def train(model, loss_fn, optimizer, data, epochs, batch_size=64):
    model.train()
    x, y = data
    for _ in range(epochs):
        permutation = torch.randperm(len(x))
        for start in range(0, len(x), batch_size):
            batch = permutation[start : start + batch_size]
            optimizer.zero_grad()
            loss = loss_fn(model(x[batch]), y[batch])
            loss.backward()
            optimizer.step()


def accuracy(model, data):
    model.eval()
    with torch.no_grad():
        predicted = model(data[0]).argmax(dim=1)
        return (predicted == data[1]).float().mean().item()


def test_a_perceptron_learns_digits(digits):
    torch.manual_seed(0)
    model = Perceptron()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    train(model, nn.CrossEntropyLoss(), optimizer, digits[0], epochs=15)
    assert accuracy(model, digits[1]) > 0.96


def test_a_convolutional_network_learns_digits(digits, tmp_path):
    torch.manual_seed(0)
    model = Net()
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.8)
    for _ in range(5):
        train(model, F.nll_loss, optimizer, digits[0], epochs=1)
        scheduler.step()
    reached = accuracy(model, digits[1])
    assert reached > 0.96
    torch.save(model.state_dict(), tmp_path / "net.safetensors")
    copy = Net()
    copy.load_state_dict(torch.load(tmp_path / "net.safetensors"))
    assert accuracy(copy, digits[1]) == reached
