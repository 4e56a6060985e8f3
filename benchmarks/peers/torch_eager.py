"""PyTorch eager: forward, then torch.autograd.grad. ``wrap`` lets torch_compile reuse it."""

import numpy as np
import torch

from benchmarks.peers import torch_fns
from benchmarks.workloads import LR, base

VENV = "torch"


def to_torch(spec):
    args = [torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in spec.args]
    for i in spec.wrt:
        args[i] = args[i].detach().requires_grad_()
    return args


def to_numpy(out):
    return tuple(o.detach().numpy() for o in out)


def build(name, spec, wrap=lambda f: f):
    f = wrap(getattr(torch_fns, base(name)))
    wrt = spec.wrt

    if spec.kind == "hvp":

        def step(w, X, y, v):
            # the double-backward spelling; torch.autograd.functional.hvp does the same
            (g,) = torch.autograd.grad(f(w, X, y), w, create_graph=True)
            return torch.autograd.grad(g, w, v)
    elif spec.kind == "hess":

        def step(w, X, y):
            return (torch.func.hessian(f)(w, X, y),)
    else:

        def step(*args):
            p = [args[i] for i in wrt]
            out = f(*args)
            g = torch.autograd.grad(out, p, None if spec.kind != "vector" else torch.ones_like(out))
            if spec.kind == "sgd":
                with torch.no_grad():
                    g = [torch.sub(a, b, alpha=LR) for a, b in zip(p, g, strict=False)]
            return (out, *g)

    targs = to_torch(spec)

    def native():
        return step(*targs)

    def numpy():
        return to_numpy(step(*to_torch(spec)))

    return native, numpy, numpy
