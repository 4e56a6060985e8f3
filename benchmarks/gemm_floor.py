"""The matrix products alone of the BLAS-bound workloads (torch.mm, MKL): a floor.

    PEERS=... $PEERS/torch/bin/python benchmarks/gemm_floor.py [THREADS]

Products per value+gradient, (batch, m, k, n). Prints GFLOP, the minimum wall time and the minimum
CPU time.
"""

import sys
import time

import torch

B, T, D, H = 8, 128, 256, 4
SHAPES = {
    "mlp": (
        "float32",
        [
            (1, 128, 784, 512),
            (1, 128, 512, 256),
            (1, 128, 256, 10),
            (1, 128, 10, 256),
            (1, 256, 128, 10),
            (1, 128, 256, 512),
            (1, 512, 128, 256),
            (1, 784, 128, 512),
        ],
    ),
    "attn": (
        "float32",
        [
            (1, B * T, D, 3 * D),
            (1, B * T, 3 * D, D),
            (1, D, B * T, 3 * D),
            (1, B * T, D, D),
            (1, B * T, D, D),
            (1, D, B * T, D),
        ]
        + [(B * H, T, 64, T)] * 2
        + [(B * H, T, T, 64)] * 4,
    ),
    "lstm_stepwise": (
        "float32",
        [(1, 32, 128, 512)] * 128 + [(1, 32, 512, 128)] * 64 + [(1, 128, 32, 512)] * 128,
    ),
    "lstm_hoisted": (
        "float32",
        [(1, 32, 128, 512)] * 64
        + [(1, 32, 512, 128)] * 64
        + [(1, 2048, 128, 512)]
        + [(1, 128, 2048, 512)] * 2,
    ),
    "gmm_d64_K50": ("float64", [(1, 1000, 64, 3200), (1, 3200, 1000, 64)]),
    "logreg": ("float64", [(1, 20000, 100, 1), (1, 1, 20000, 100)]),
    "lr_hess": ("float64", [(1, 50, 5000, 50)]),
}


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    for name, (dt, shapes) in SHAPES.items():
        dt = getattr(torch, dt)
        ops = []
        for b, m, k, n in shapes:
            lead = () if b == 1 else (b,)
            ops.append(
                (
                    torch.mm if b == 1 else torch.bmm,
                    torch.randn((*lead, m, k), dtype=dt),
                    torch.randn((*lead, k, n), dtype=dt),
                    torch.empty((*lead, m, n), dtype=dt),
                )
            )

        def run(ops=ops):
            for f, a, c, o in ops:
                f(a, c, out=o)

        end = time.perf_counter() + 2  # warm up: the scheduler takes a while to part the threads
        while time.perf_counter() < end:
            run()
        wall, cpu = [], []
        end = time.perf_counter() + 2
        while time.perf_counter() < end or len(wall) < 5:
            c0, t0 = time.process_time(), time.perf_counter()
            run()
            wall.append(time.perf_counter() - t0)
            cpu.append(time.process_time() - c0)
        gf = sum(2 * b * m * k * n for b, m, k, n in shapes) / 1e9
        print(
            f"{name:14s} {gf:7.3f} GFLOP  wall {min(wall) * 1e3:8.3f} ms  "
            f"cpu {min(cpu) * 1e3:8.3f} ms  {gf / min(wall):7.1f} GFLOP/s"
        )


if __name__ == "__main__":
    main()
