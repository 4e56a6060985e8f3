"""torch.compile of the functional gradient, torch.func.grad_and_value(f): one graph for value and
gradient,
so nothing is saved between a forward and a backward kernel. Less known, usually the stronger of
the two."""

import torch
from torch.func import grad, grad_and_value, hessian, jvp, vjp

from benchmarks.peers import torch_fns
from benchmarks.peers.torch_eager import to_numpy
from benchmarks.workloads import LR, base

VENV = "torch"


def build(name, spec):
    import numpy as np

    f = getattr(torch_fns, base(name))
    wrt = spec.wrt

    if spec.kind == "hvp":

        def step(w, X, y, v):
            return (jvp(lambda w: grad(f)(w, X, y), (w,), (v,))[1],)
    elif spec.kind == "hess":

        def step(w, X, y):
            return (hessian(f)(w, X, y),)
    elif spec.kind == "vector":

        def step(*args):
            out, pull = vjp(f, *args)
            return (out, *pull(torch.ones_like(out)))
    else:

        def step(*args):
            g, out = grad_and_value(f, argnums=wrt)(*args)
            if spec.kind == "sgd":
                g = [torch.sub(args[i], b, alpha=LR) for i, b in zip(wrt, g, strict=False)]
            return (out, *g)

    step = torch.compile(step, dynamic=False)

    def conv():
        return [torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in spec.args]

    targs = conv()

    def native():
        with torch.no_grad():
            return step(*targs)

    def numpy():
        with torch.no_grad():
            return to_numpy(step(*conv()))

    return native, numpy, numpy
