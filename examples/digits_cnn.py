"""Train a convolutional network on handwritten digits in eager mode, as one would in PyTorch.

The program is written for PyTorch, apart from its imports: a Module with 5 x 5 and 3 x 3
convolutions, pooling and dropout, the loss and Adam from the library, one backward pass a batch.
The data are the 1,797 images of 8 x 8 pixels that scikit-learn bundles.

Run with `python examples/digits_cnn.py`. The exit status is 1 if the test accuracy is below 0.97.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import trange

import stagrad as torch
import stagrad.nn.functional as F
from stagrad import nn, optim

BATCH_SIZE = 32
REQUIRED_ACCURACY = 0.97


class Network(nn.Module):
    """Two convolutions, each followed by pooling, and two dense layers with dropout between."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 5, padding=2)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.dropout = nn.Dropout(0.25)
        self.dense1 = nn.Linear(32 * 2 * 2, 64)
        self.dense2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = self.dropout(F.relu(self.dense1(torch.flatten(x, 1))))
        return self.dense2(x)


def evaluate(model, images, labels):
    """Return the predicted digits and the share of right ones."""
    model.eval()
    with torch.no_grad():
        predicted = model(images).argmax(dim=1)
    return predicted, (predicted == labels).float().mean().item()


def train(model, images, labels, test_images, test_labels, epochs):
    """Train by Adam with a falling rate; return the mean loss and test accuracy of each epoch."""
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    losses, accuracies = [], []
    progress = trange(epochs, desc="epochs")
    for _ in progress:
        model.train()
        total, count = 0.0, 0
        for batch in torch.randperm(len(images)).split(BATCH_SIZE):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total, count = total + loss.item() * len(batch), count + len(batch)
        scheduler.step()
        losses.append(total / count)
        accuracies.append(evaluate(model, test_images, test_labels)[1])
        progress.set_postfix(loss=f"{losses[-1]:.4f}", accuracy=f"{accuracies[-1]:.4f}")
    return losses, accuracies


def plot(losses, accuracies, kernels, path):
    """Draw the learning curves and the first layer's kernels."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    curves, pictures = figure.subfigures(1, 2)
    loss_axes, accuracy_axes = curves.subplots(2, 1, sharex=True)
    loss_axes.semilogy(losses)
    loss_axes.set(ylabel="training loss", title="Learning curves")
    accuracy_axes.plot(accuracies, color="tab:green")
    accuracy_axes.set(xlabel="epoch", ylabel="test accuracy")
    pictures.suptitle("The first layer's 5 × 5 kernels")
    limit = float(np.abs(kernels).max())
    for axes, kernel in zip(pictures.subplots(4, 4).flat, kernels[:, 0], strict=True):
        axes.axis("off")
        axes.imshow(kernel, cmap="RdBu", vmin=-limit, vmax=limit)
    figure.savefig(path, dpi=120)


def main(argv=None):
    """Train, plot and print the result; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="four epochs, for a quick check")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
    options = parser.parse_args(argv)
    options.output.mkdir(parents=True, exist_ok=True)

    pixels, digits = load_digits(return_X_y=True)
    parts = train_test_split(pixels / 16.0, digits, test_size=0.25, stratify=digits, random_state=0)
    images, test_images = (torch.tensor(part).float().view(-1, 1, 8, 8) for part in parts[:2])
    labels, test_labels = map(torch.tensor, parts[2:])
    torch.manual_seed(0)
    model = Network()
    start = time.perf_counter()
    epochs = 4 if options.short else 40
    losses, accuracies = train(model, images, labels, test_images, test_labels, epochs)
    seconds = time.perf_counter() - start
    kernels = model.conv1.weight.detach().numpy()
    plot(losses, accuracies, kernels, options.output / "digits_cnn.png")
    print(f"digits_cnn: test accuracy {accuracies[-1]:.4f} after {epochs} epochs, {seconds:.1f} s")
    return 0 if options.short or accuracies[-1] >= REQUIRED_ACCURACY else 1


if __name__ == "__main__":
    sys.exit(main())
