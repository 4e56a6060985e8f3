"""Hand-written C (one fused pass, OpenMP, libmvec), called through ctypes: the physical-limit
proxy."""

import ctypes
import os
import subprocess
import tempfile

import numpy as np

from benchmarks.workloads import base

VENV = "misc"
SRC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "c_hand.c")
# gcc merges sin(a), cos(a) into cexpi(a), which it cannot vectorise: hide them from it
FLAGS = [
    "-O3",
    "-march=native",
    "-mprefer-vector-width=512",
    "-ffast-math",
    "-fopenmp",
    "-shared",
    "-fPIC",
    "-fno-builtin-sin",
    "-fno-builtin-cos",
    "-fno-builtin-sinf",
    "-fno-builtin-cosf",
]
SUPPORTED = {"rosen", "chain", "bs", "logreg", "heat1d", "heat2d", "ops", "lr_hvp"}


def lib():
    d = tempfile.mkdtemp()
    so = os.path.join(d, "c_hand.so")
    subprocess.run(["gcc", *FLAGS, SRC, "-o", so, "-lmvec", "-lm"], check=True)
    return ctypes.CDLL(so)


def build(name, spec):
    b = base(name)
    if b not in SUPPORTED:
        raise NotImplementedError("elementwise workloads only")
    L = lib()

    def P(a):
        return ctypes.c_void_p(a.ctypes.data)

    A = spec.args
    f64 = A[0].dtype == np.float64

    if b in ("rosen", "chain", "ops", "heat1d", "heat2d"):
        # preallocated-buffer call (native) and a call that allocates its result (numpy)
        fn = getattr(L, b if f64 else b + "_f32")
        fn.restype = ctypes.c_double
        x = A[0]
        extra = {
            "ops": lambda: (ctypes.c_int(A[1]),),
            "heat1d": lambda: (ctypes.c_int(A[1]),),
            "heat2d": lambda: (ctypes.c_int(x.shape[1]), ctypes.c_int(A[1])),
        }.get(b, lambda: ())()
        n = ctypes.c_long(x.shape[0] if b == "heat2d" else x.size)
        g0 = np.empty_like(x)
        xp, gp = P(x), P(g0)

        def native():
            return (fn(xp, gp, n, *extra), g0)

        def numpy():
            g = np.empty_like(x)
            return x.dtype.type(fn(P(x), P(g), n, *extra)), g
    elif b == "bs":
        n = ctypes.c_long(A[0].size)

        def run(out):
            L.bs(*(P(a) for a in A), *(P(o) for o in out), n)
            return tuple(out)

        o0 = [np.empty_like(A[0]) for _ in range(6)]

        def native():
            return run(o0)

        def numpy():
            return run([np.empty_like(A[0]) for _ in range(6)])
    elif b == "logreg":
        w, bb, X, y = A
        L.logreg.restype = ctypes.c_double

        def numpy():
            g = np.empty(len(w) + 1)
            f = L.logreg(
                P(w),
                ctypes.c_double(float(bb)),
                P(X),
                P(y),
                P(g),
                ctypes.c_int(len(y)),
                ctypes.c_int(len(w)),
            )
            return f, g[:-1], g[-1]

        native = numpy
    else:
        w, X, y, v = A

        def numpy():
            g = np.empty(len(w))
            L.lr_hvp(P(w), P(X), P(y), P(v), P(g), ctypes.c_int(len(y)), ctypes.c_int(len(w)))
            return (g,)

        native = numpy
    return native, numpy, numpy
