"""Directional finite differences of numpy_hand: the reference must itself be right."""

import numpy as np

from benchmarks import workloads
from benchmarks.peers import numpy_hand


def main():
    for name in workloads.REGISTRY:
        spec = workloads.make(name)
        if spec.kind not in ("scalar", "vector"):
            continue
        fn = getattr(numpy_hand, workloads.base(name))

        def up(a):
            return a.astype("float64") if isinstance(a, np.ndarray) and a.dtype == np.float32 else a

        args = [up(a) for a in spec.args]
        rng = np.random.default_rng(0)
        dirs = {i: rng.normal(size=np.shape(args[i])) * 0.1 for i in spec.wrt}
        h = 1e-6

        def f(s, fn=fn, args=args, dirs=dirs):
            a = [x + s * dirs[i] if i in dirs else x for i, x in enumerate(args)]
            return np.sum(fn(*a)[0])

        fd = (f(h) - f(-h)) / (2 * h)
        out = fn(*args)
        an = sum(np.sum(g * dirs[i]) for i, g in zip(spec.wrt, out[1:], strict=False))
        print(f"{name:14s} fd={fd:.8g} grad={an:.8g} rel={abs(fd - an) / (abs(fd) + 1e-12):.1e}")


if __name__ == "__main__":
    main()
