"""Train a classifier of handwritten digits: minibatch Adam on a plain NumPy network.

The data are the 1,797 images of 8 x 8 pixels that scikit-learn bundles (UCI Optical Recognition of
Handwritten Digits). `loss` is ordinary NumPy code over a list of dictionaries of arrays;
`stagrad.value_and_grad` turns it into a compiled function that returns the loss and a gradient
of the same structure. Everything else here is what one would write without stagrad.

Run with `python examples/digits_mlp.py`. The exit status is 1 if the test accuracy is below 0.97.
"""

import argparse
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import optree
from matplotlib.figure import Figure
from scipy.special import log_softmax
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import trange

import stagrad

LAYER_SIZES = (64, 128, 64, 10)
BATCH_SIZE = 64
WEIGHT_DECAY = 1e-4
REQUIRED_ACCURACY = 0.97


def initial_parameters(rng):
    """Return one dictionary of weights and biases per layer, scaled for the ReLU (He et al.)."""
    return [
        {
            "weights": rng.normal(0.0, np.sqrt(2.0 / fan_in), (fan_in, fan_out)),
            "biases": np.zeros(fan_out),
        }
        for fan_in, fan_out in pairwise(LAYER_SIZES)
    ]


def logits(parameters, images):
    """Return the unnormalised log-probabilities of the ten digits, one row per image."""
    *hidden_layers, last = parameters
    activations = images
    for layer in hidden_layers:
        activations = np.maximum(activations @ layer["weights"] + layer["biases"], 0.0)
    return activations @ last["weights"] + last["biases"]


def loss(parameters, images, labels):
    """Return the mean cross-entropy plus a quadratic penalty on the weights."""
    log_probabilities = log_softmax(logits(parameters, images), axis=1)
    cross_entropy = -np.mean(log_probabilities[np.arange(len(labels)), labels])
    penalty = sum(np.sum(layer["weights"] ** 2) for layer in parameters)
    return cross_entropy + 0.5 * WEIGHT_DECAY * penalty


class Adam:
    """Adam (Kingma and Ba, 2015) on any tree of arrays; `step` updates the parameters in place."""

    def __init__(self, parameters):
        self.mean = optree.tree_map(np.zeros_like, parameters)
        self.square = optree.tree_map(np.zeros_like, parameters)
        self.count = 0

    def step(self, parameters, gradient, learning_rate):
        """Move every array of `parameters` against its entry of `gradient`."""
        self.count += 1
        unbias_mean, unbias_square = 1.0 - 0.9**self.count, 1.0 - 0.999**self.count

        def update(parameter, slope, mean, square):
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            scale = np.sqrt(square / unbias_square) + 1e-8
            parameter -= learning_rate * (mean / unbias_mean) / scale

        optree.tree_map_(update, parameters, gradient, self.mean, self.square)


def accuracy(parameters, images, labels):
    """Return the share of images whose most probable digit is the right one."""
    return np.mean(logits(parameters, images).argmax(axis=1) == labels)


def train(images, labels, test_images, test_labels, epochs, rng):
    """Return the trained parameters and, per epoch, the mean loss and the test accuracy."""
    parameters = initial_parameters(rng)
    optimiser = Adam(parameters)
    loss_and_gradient = stagrad.value_and_grad(loss)
    losses, accuracies = [], []
    progress = trange(epochs, desc="epochs")
    for epoch in progress:
        learning_rate = 1e-3 * (1.0 + np.cos(np.pi * epoch / epochs))
        order = rng.permutation(len(images))
        batches = order[: len(order) // BATCH_SIZE * BATCH_SIZE].reshape(-1, BATCH_SIZE)
        batch_losses = []
        for batch in batches:
            value, gradient = loss_and_gradient(parameters, images[batch], labels[batch])
            optimiser.step(parameters, gradient, learning_rate)
            batch_losses.append(float(value))
        losses.append(np.mean(batch_losses))
        accuracies.append(accuracy(parameters, test_images, test_labels))
        progress.set_postfix(loss=f"{losses[-1]:.4f}", accuracy=f"{accuracies[-1]:.4f}")
    return parameters, losses, accuracies


def plot(losses, accuracies, images, labels, predictions, path):
    """Draw the learning curves and the first test images that were misread."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    curves, mistakes = figure.subfigures(1, 2)
    loss_axes, accuracy_axes = curves.subplots(2, 1, sharex=True)
    loss_axes.semilogy(losses)
    loss_axes.set(ylabel="training loss", title="Learning curves")
    accuracy_axes.plot(accuracies, color="tab:green")
    accuracy_axes.set(xlabel="epoch", ylabel="test accuracy")
    mistakes.suptitle("Misread test images (truth → answer)")
    wrong = np.flatnonzero(predictions != labels)
    for axes, index in zip(mistakes.subplots(3, 4).flat, [*wrong, *[None] * 12], strict=False):
        axes.axis("off")
        if index is not None:
            axes.imshow(images[index].reshape(8, 8), cmap="gray_r")
            axes.set_title(f"{labels[index]} → {predictions[index]}", fontsize=9)
    figure.savefig(path, dpi=120)


def main(argv=None):
    """Train, plot and print the result; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="six epochs, for a quick check")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
    options = parser.parse_args(argv)
    options.output.mkdir(parents=True, exist_ok=True)

    pixels, labels = load_digits(return_X_y=True)
    train_images, test_images, train_labels, test_labels = train_test_split(
        pixels / 16.0, labels, test_size=0.25, stratify=labels, random_state=0
    )
    start = time.perf_counter()
    epochs = 6 if options.short else 40
    parameters, losses, accuracies = train(
        train_images, train_labels, test_images, test_labels, epochs, np.random.default_rng(0)
    )
    seconds = time.perf_counter() - start
    predictions = logits(parameters, test_images).argmax(axis=1)
    path = options.output / "digits_mlp.png"
    plot(losses, accuracies, test_images, test_labels, predictions, path)
    print(f"digits_mlp: test accuracy {accuracies[-1]:.4f} after {epochs} epochs, {seconds:.1f} s")
    return 0 if options.short or accuracies[-1] >= REQUIRED_ACCURACY else 1


if __name__ == "__main__":
    sys.exit(main())
