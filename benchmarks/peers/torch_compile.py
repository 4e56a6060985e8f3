"""torch.compile(f) (inductor, AOTAutograd), then torch.autograd.grad: the documented way."""

import torch

from benchmarks.peers import torch_eager

VENV = "torch"


def build(name, spec):
    if spec.kind in ("hvp", "hess"):
        raise NotImplementedError("AOTAutograd has no double backward: see torch_compile_fn")
    return torch_eager.build(name, spec, lambda f: torch.compile(f, dynamic=False))
