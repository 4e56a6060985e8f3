"""The digits networks, trained in eager mode and compiled: the same numbers, the same accuracy."""

import numpy as np
import pytest
import scipy.special
from sklearn.datasets import load_digits

import stagrad as torch
import stagrad.nn.functional as F

BATCH = 64


@pytest.fixture(scope="module")
def digits():
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    x, y = (images[order] / 16).astype(np.float32), labels[order]
    return (x[:1200], y[:1200]), (x[1200:], y[1200:])


def scaled(random, *shape):
    fan_in = np.prod(shape[1:])
    return (random.normal(size=shape) * np.sqrt(2.0 / fan_in)).astype(np.float32)


def cross_entropy(scores, y):
    logarithms = scipy.special.log_softmax(scores, axis=1)
    return -np.mean(logarithms[np.arange(len(y)), y])


class Perceptron:
    epochs, rate = 12, 3e-3

    def parameters(self, random):
        sizes = [(64, 64), (64, 64), (10, 64)]
        return [part for size in sizes for part in (scaled(random, *size), np.zeros(size[0], "f"))]

    def mask(self, random, count):
        return None

    def eager(self, parameters, x, mask):
        w1, b1, w2, b2, w3, b3 = parameters
        x = F.relu(F.linear(x, w1, b1))
        return F.linear(F.relu(F.linear(x, w2, b2)), w3, b3)

    def plain(self, parameters, x, mask):
        w1, b1, w2, b2, w3, b3 = parameters
        x = np.maximum(x @ w1.T + b1, 0)
        return np.maximum(x @ w2.T + b2, 0) @ w3.T + b3


class Convolutional:
    epochs, rate = 5, 1e-2

    def parameters(self, random):
        sizes = [(8, 1, 5, 5), (16, 8, 3, 3), (10, 64)]
        return [part for size in sizes for part in (scaled(random, *size), np.zeros(size[0], "f"))]

    def mask(self, random, count):
        """Dropout of a quarter; the same mask for both, as their generators differ."""
        return (random.random((count, 64)) < 0.75).astype(np.float32) / np.float32(0.75)

    def eager(self, parameters, x, mask):
        k1, b1, k2, b2, w, b = parameters
        x = F.max_pool2d(F.relu(F.conv2d(x.reshape(-1, 1, 8, 8), k1, b1, padding=2)), 2)
        x = F.max_pool2d(F.relu(F.conv2d(x, k2, b2, padding=1)), 2).flatten(1)
        return F.linear(x if mask is None else x * mask, w, b)

    def plain(self, parameters, x, mask):
        k1, b1, k2, b2, w, b = parameters
        x = torch.conv(x.reshape(-1, 1, 8, 8), k1, b1, padding=2)
        x = torch.max_pool(np.maximum(x, 0), 2)
        x = torch.max_pool(np.maximum(torch.conv(x, k2, b2, padding=1), 0), 2)
        x = x.reshape(x.shape[0], -1)
        return (x if mask is None else x * mask) @ w.T + b


def trained(network, data, start, gradients):
    """Train by Adam with `gradients(leaves, x, y, mask)`; return the parameters and the losses."""
    random = np.random.default_rng(2)
    leaves = [torch.tensor(part, requires_grad=True) for part in start]
    optimizer = torch.optim.Adam(leaves, lr=network.rate)
    x, y = data
    losses = []
    for _ in range(network.epochs):
        order = random.permutation(len(x))
        for batch in order[: len(x) // BATCH * BATCH].reshape(-1, BATCH):
            optimizer.zero_grad()
            mask = network.mask(random, BATCH)
            losses.append(gradients(leaves, x[batch], y[batch], mask))
            optimizer.step()
    return [leaf.detach() for leaf in leaves], losses


def eager_gradients(network):
    def gradients(leaves, x, y, mask):
        mask = None if mask is None else torch.tensor(mask)
        loss = F.cross_entropy(network.eager(leaves, torch.tensor(x), mask), torch.tensor(y))
        loss.backward()
        return loss.item()

    return gradients


def compiled_gradients(network):
    def loss(parameters, x, y, mask):
        return cross_entropy(network.plain(parameters, x, mask), y)

    value_and_gradient = torch.value_and_grad(loss)

    def gradients(leaves, x, y, mask):
        value, found = value_and_gradient([leaf.detach().numpy() for leaf in leaves], x, y, mask)
        for leaf, gradient in zip(leaves, found, strict=True):
            leaf.grad = torch.tensor(gradient)
        return float(value)

    return gradients


@pytest.mark.parametrize("network", [Perceptron(), Convolutional()], ids=["mlp", "cnn"])
def test_eager_training_reaches_the_compiled_accuracy(digits, network):
    start = network.parameters(np.random.default_rng(1))
    (train, (x, y)), accuracies, losses = digits, [], []
    for gradients in (eager_gradients(network), compiled_gradients(network)):
        parameters, history = trained(network, train, start, gradients)
        scores = network.eager(parameters, torch.tensor(x), None)
        accuracies.append((scores.argmax(dim=1) == torch.tensor(y)).float().mean().item())
        losses.append(history)
    # Adam makes full steps of gradients that are nothing but rounding, so that paths part later.
    np.testing.assert_allclose(losses[0][:8], losses[1][:8], rtol=1e-3)
    assert accuracies[1] > 0.95
    assert accuracies[0] >= accuracies[1] - 0.01
