"""Value and gradient of a long elementwise sum: compiled in blocks, against NumPy as one writes it.

    python benchmarks/elementwise.py [ELEMENTS]

Prints the speed-up, and the memory that the compiled call needs beside its input and its output.
"""

import os
import sys

import numpy as np

import stagrad
from benchmarks.measure import interleaved, peak_bytes


def total(x):
    return np.sum(np.tanh(x) * np.exp(-(x**2)) + np.log1p(np.exp(x)) * np.sin(3 * x))


def by_hand(x):
    """The value and the gradient, spelled out in plain NumPy."""
    t, e, s = np.tanh(x), np.exp(-(x**2)), np.sin(3 * x)
    softplus = np.log1p(np.exp(x))
    slope = (1 - t**2) * e - 2 * x * t * e + s / (1 + np.exp(-x)) + 3 * softplus * np.cos(3 * x)
    return np.sum(t * e + softplus * s), slope


def main(elements: int) -> None:
    x = np.random.default_rng(0).normal(size=elements)
    compiled = stagrad.value_and_grad(total)
    for got, want in zip(compiled(x), by_hand(x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-13)
    times = interleaved({"compiled": lambda: compiled(x), "NumPy": lambda: by_hand(x)}, rounds=5)
    for name, seconds in times.items():
        print(f"{name:10} {seconds * 1e3:9.1f} ms {seconds / elements * 1e9:7.1f} ns an element")
    print(f"speed-up   {times['NumPy'] / times['compiled']:9.2f} (at least 1.7)")
    beside = peak_bytes(lambda: compiled(x)) - x.nbytes
    threads = min(os.cpu_count() or 1, 8)
    print(f"memory     {beside / 2**20:9.2f} MiB beside input and output (at most {threads})")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000)
