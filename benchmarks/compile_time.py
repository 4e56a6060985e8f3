"""What compiling costs: importing, a first gradient, and chains of operations of growing length.

python benchmarks/compile_time.py [LENGTH ...]
"""

import sys
import time

IMPORT_START = time.perf_counter()
import numpy as np  # noqa: E402  the import itself is what is timed

import stagrad  # noqa: E402

IMPORTED = time.perf_counter() - IMPORT_START


def ten_operations(x):
    y = np.sin(x) * x + 1.0
    z = np.exp(-y) / (1.0 + y * y)
    return np.sum(z * np.tanh(y))


def chain(length):
    def function(x):
        for _ in range(length // 2):
            x = np.sin(x) * 1.001
        return np.sum(x)

    return function


def timed(function):
    x = np.linspace(0.0, 1.0, 10)
    start = time.perf_counter()
    stagrad.value_and_grad(function)(x)
    return time.perf_counter() - start


def main(lengths) -> None:
    print(f"import: {IMPORTED:.2f} s (at most 0.35)")
    print(f"first gradient, 10 operations: {timed(ten_operations) * 1e3:.1f} ms (at most 100)")
    for length in lengths:
        print(f"chain of {length}: {timed(chain(length)):.2f} s")


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or [1000, 10_000])
