"""Samples of PyTorch's operators called by PyTorch's names on tensors: values and derivatives."""

import operator

import numpy as np
import pytest

import stagrad as torch
from tests.cases import opinfo

# The rows of Vh beyond the smaller extent are any basis of what the matrix maps to zero.
FREE_BASIS = {629: 3}


def function_of(call):
    """Return the function that a sample's call names: `torch.add`, `F.relu`, `method:view`."""
    if call == "getitem":
        return operator.getitem
    if call.startswith("method:"):
        name = call.removeprefix("method:")
        if name.endswith("."):
            return operator.attrgetter(name[:-1])
        return lambda tensor, *others, **options: getattr(tensor, name)(*others, **options)
    space, _, path = call.partition(".")
    return operator.attrgetter(path)(torch.nn.functional if space == "F" else torch)


class Namespace:
    """What the forms in which outputs are recorded ask of NumPy, on tensors."""

    abs = staticmethod(torch.abs)
    stack = staticmethod(lambda tensors, dim: torch.stack(tensors, dim))
    real, imag = staticmethod(torch.real), staticmethod(torch.imag)
    swapaxes = staticmethod(torch.swapaxes)


def numbers(tensors, leaves):
    """Return gradients as arrays, zeros where there is none."""
    return [
        np.zeros(leaf.shape) if tensor is None else tensor.detach().numpy()
        for tensor, leaf in zip(tensors, leaves, strict=True)
    ]


def weighted(tensors, weights):
    terms = zip(tensors, weights, strict=True)
    return sum(((t * torch.tensor(w)).sum() for t, w in terms if w is not None), start=0.0)


@pytest.mark.parametrize("sample", opinfo.samples(), ids=str)
def test_sample(sample):
    leaves = [torch.tensor(leaf, requires_grad=True) for leaf in sample.leaves]
    outputs = sample.outputs(function_of(sample.call), Namespace, leaves, torch.tensor)
    values = [output.detach().numpy() for output in outputs]
    wanted = sample.wanted("out")
    if sample.number in FREE_BASIS:
        count = FREE_BASIS[sample.number]
        values[-1], wanted[-1] = values[-1][:, :count], wanted[-1][:, :count]
    opinfo.expect("output", values, wanted, sample.tolerance)
    if not sample.is_smooth:
        return
    total = weighted(outputs, sample.wanted("ct"))
    gradients = torch.autograd.grad(total, leaves, create_graph=True, allow_unused=True)
    found = numbers(gradients, leaves)
    opinfo.expect("gradient", found, sample.wanted("vjp"), sample.tolerance)
    if not sample.has("hvp"):
        return
    known = [(g, d) for g, d in zip(gradients, sample.wanted("dir"), strict=True) if g is not None]
    directional = weighted(*zip(*known, strict=True))
    if directional.requires_grad:
        second = torch.autograd.grad(directional, leaves, allow_unused=True)
    else:
        second = [None] * len(leaves)
    tolerance = 10 * max(sample.tolerance, 1e-8)
    opinfo.expect("second", numbers(second, leaves), sample.wanted("hvp"), tolerance)
