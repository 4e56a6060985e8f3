"""Sharpen a blurred photograph: total-variation deconvolution through the fast Fourier transform.

The photograph of a flower that scikit-learn bundles is blurred by a Gaussian, noise is added, and
the image is recovered as the minimum of |blur(image) - observed|² / 2 + strength · total variation.
The objective is four lines of NumPy with `np.fft` inside; L-BFGS minimises it over all the pixels,
each of which needs its partial derivative in every iteration.

Run with `python examples/deblur.py`. The exit status is 1 if the peak signal-to-noise ratio rises
by less than 1.5 decibels.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize
from sklearn.datasets import load_sample_image
from tqdm import tqdm

import stagrad

BLUR_WIDTH = 2.0
NOISE = 0.01
STRENGTH = 5e-4
SMOOTHING = 1e-2
REQUIRED_GAIN = 1.5


def photograph(size):
    """Return a square from the middle of the flower, in grey levels between 0 and 1."""
    grey = load_sample_image("flower.jpg").mean(axis=2) / 255.0
    top, left = ((length - size) // 2 for length in grey.shape)
    return grey[top : top + size, left : left + size]


def gaussian_transfer(size, width):
    """Return the Fourier transform of a periodic Gaussian blur, laid out as `np.fft.rfft2` does."""
    rows, columns = np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size)[None, :]
    return np.exp(-2.0 * (np.pi * width) ** 2 * (rows**2 + columns**2))


def blur(image, transfer):
    """Return the periodic convolution of the image with the kernel that `transfer` stands for."""
    return np.fft.irfft2(transfer * np.fft.rfft2(image), image.shape)


def objective(pixels, observed, transfer):
    """Return misfit plus penalty of an image, given as a flat vector of its pixels."""
    image = pixels.reshape(observed.shape)
    misfit = 0.5 * np.sum((blur(image, transfer) - observed) ** 2)
    down, right = np.roll(image, -1, axis=0) - image, np.roll(image, -1, axis=1) - image
    variation = np.sum(np.sqrt(down**2 + right**2 + SMOOTHING**2))
    return misfit + STRENGTH * variation


def deblur(observed, transfer, iterations):
    """Return the recovered image and the value of the objective after each iteration."""
    history = []
    with tqdm(total=iterations, desc="L-BFGS iterations") as progress:

        def report(intermediate_result):
            history.append(intermediate_result.fun)
            progress.set_postfix(objective=f"{history[-1]:.4f}")
            progress.update()

        result = minimize(
            stagrad.value_and_grad(objective),
            observed.ravel(),
            args=(observed, transfer),
            jac=True,
            method="L-BFGS-B",
            callback=report,
            options={"maxiter": iterations},
        )
    return result.x.reshape(observed.shape), history


def peak_signal_to_noise(image, truth):
    """Return the ratio in decibels for images between 0 and 1."""
    return -10.0 * np.log10(np.mean((image - truth) ** 2))


def plot(truth, observed, restored, path):
    """Draw the three images side by side."""
    figure = Figure(figsize=(12, 4.4), layout="constrained")
    titled = {
        "photograph": truth,
        f"observed, {peak_signal_to_noise(observed, truth):.1f} dB": observed,
        f"restored, {peak_signal_to_noise(restored, truth):.1f} dB": restored,
    }
    for axes, (title, image) in zip(figure.subplots(1, 3), titled.items(), strict=True):
        axes.imshow(image, cmap="gray", vmin=0.0, vmax=1.0)
        axes.set_title(title)
        axes.axis("off")
    figure.savefig(path, dpi=120)


def main(argv=None):
    """Blur, restore, plot and print the result; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="a small crop, for a quick check")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
    options = parser.parse_args(argv)
    options.output.mkdir(parents=True, exist_ok=True)

    size, iterations = (128, 60) if options.short else (256, 200)
    truth = photograph(size)
    transfer = gaussian_transfer(size, BLUR_WIDTH)
    noise = NOISE * np.random.default_rng(0).normal(size=truth.shape)
    observed = blur(truth, transfer) + noise

    start = time.perf_counter()
    restored, history = deblur(observed, transfer, iterations)
    seconds = time.perf_counter() - start
    before, after = (peak_signal_to_noise(image, truth) for image in (observed, restored))
    plot(truth, observed, restored, options.output / "deblur.png")
    print(
        f"deblur: {before:.2f} dB to {after:.2f} dB on {size} x {size} pixels, "
        f"{len(history)} iterations, {seconds:.1f} s"
    )
    return 0 if after - before > REQUIRED_GAIN else 1


if __name__ == "__main__":
    sys.exit(main())
