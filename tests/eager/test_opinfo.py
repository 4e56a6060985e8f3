"""Samples of PyTorch's operators, in NumPy's spelling, on tensors: values and derivatives."""

import numpy as np
import pytest
import scipy.special

import stagrad
from tests.cases import opinfo
from tests.cases.library import Library

# scipy.special.polygamma is a Python function that makes arrays of its arguments.
NOT_DISPATCHED = {"polygamma.polygamma_n_1"}


def tensor(array):
    return array if isinstance(array, stagrad.Tensor) else stagrad.tensor(np.array(array))


def grad(function, count):
    """Return the gradients of a scalar function of tensors, to be differentiated again."""

    def gradients(*arguments):
        leaves = [
            argument if argument.requires_grad else argument.requires_grad_()
            for argument in map(tensor, arguments)
        ]
        # A sample may write into its arguments, which a leaf that requires grad does not allow.
        value = function(*(leaf.clone() for leaf in leaves))
        if not isinstance(value, stagrad.Tensor) or not value.requires_grad:
            return [stagrad.tensor(np.zeros(leaf.shape)) for leaf in leaves]
        return list(
            stagrad.autograd.grad(value, leaves[:count], create_graph=True, materialize_grads=True)
        )

    return gradients


EAGER = Library("eager", np, scipy.special, grad, lambda *arguments: None)


def plain(tensors):
    return [getattr(value, "detach", lambda value=value: value)() for value in tensors]


def check(sample):
    spelling, leaves = sample.spelling(EAGER), sample.leaves

    def outputs(leaves):
        return sample.outputs(spelling, np, leaves)

    values = outputs([tensor(leaf) for leaf in leaves])
    opinfo.expect("output", values, sample.wanted("out"), sample.tolerance)
    if not sample.is_smooth:
        return

    def weighted(*leaves):
        terms = zip(outputs(leaves), sample.wanted("ct"), strict=True)
        return sum((np.sum(out * ct) for out, ct in terms if ct is not None), start=0.0)

    gradients = grad(weighted, len(leaves))
    found = plain(gradients(*leaves))
    opinfo.expect("gradient", found, sample.wanted("vjp"), sample.tolerance)
    if not sample.has("hvp"):
        return

    def directional(*leaves):
        terms = zip(gradients(*leaves), sample.wanted("dir"), strict=True)
        return sum((np.sum(gradient * tangent) for gradient, tangent in terms), start=0.0)

    second = plain(grad(directional, len(leaves))(*leaves))
    tolerance = 10 * max(sample.tolerance, 1e-8)
    opinfo.expect("second derivative", second, sample.wanted("hvp"), tolerance)


def spelled():
    return [
        sample
        for sample in opinfo.samples()
        if sample.has_spelling and sample.operator not in NOT_DISPATCHED
    ]


# NumPy says so itself of fftn, which plain tensors are handed to.
@pytest.mark.filterwarnings("ignore:`axes` should not be:DeprecationWarning")
@pytest.mark.parametrize("sample", spelled(), ids=str)
def test_sample(sample):
    check(sample)
