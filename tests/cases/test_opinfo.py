"""PyTorch's operator samples, through the functions a user of stagrad calls."""

import functools

import numpy as np
import pytest

import stagrad
from tests.cases import library, opinfo
from tests.cases.spellings import SPELLINGS, UNSPELLED

# Some samples divide by zero or overflow on purpose, and NumPy warns as it should.
pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:`axes` should not be `None`:DeprecationWarning"),
]

SPELLED = [s for s in opinfo.samples() if s.has_spelling or s.operator in SPELLINGS]
FORWARD = [sample for sample in SPELLED if sample.is_smooth and sample.has("dir")]


def spelling_of(sample):
    if sample.has_spelling:
        return sample.spelling(library.stagrad())
    return SPELLINGS[sample.operator]


def test_the_samples_without_a_spelling_are_known():
    unspelled = [sample.operator for sample in opinfo.samples() if sample not in SPELLED]
    assert set(unspelled) == set(UNSPELLED)
    assert len(unspelled) == 39


@pytest.mark.parametrize("sample", SPELLED, ids=str)
def test_value_gradient_and_second_derivative(sample):
    opinfo.check(sample, library.stagrad(), spelling_of(sample))


@pytest.mark.parametrize("sample", SPELLED, ids=str)
def test_compiled_value(sample):
    @stagrad.compile
    def outputs(*leaves):
        return sample.outputs(spelling_of(sample), np, leaves)

    opinfo.expect("output", outputs(*sample.leaves), sample.wanted("out"), sample.tolerance)


@pytest.mark.parametrize("sample", FORWARD, ids=str)
def test_forward_mode(sample):
    outputs = functools.partial(sample.outputs, spelling_of(sample), np)
    tangents = tuple(sample.wanted("dir"))
    _, got = stagrad.jvp(lambda *leaves: outputs(leaves), tuple(sample.leaves), tangents)
    recorded = iter(sample.wanted("jvp"))  # of the differentiable outputs alone
    wanted = [None if ct is None else next(recorded) for ct in sample.wanted("ct")]
    opinfo.expect("tangent", got, wanted, sample.tolerance)
