"""Every pitfall record, through each way a user can ask for a value or a derivative."""

from functools import partial

import numpy as np
import pytest

import stagrad
from tests.cases.pitfalls import RECORDS, complaints

# The records probe poles, overflow and invalid operations, about which NumPy warns as it should.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

DIFFERENTIABLE = [record for record in RECORDS if record.argnums]


def each(records):
    return pytest.mark.parametrize("record", records, ids=str)


@pytest.fixture
def inputs(record):
    """Fresh inputs, and after the test the check that nothing was written into them."""
    given = record.inputs()
    before = [_identity(array) for array in given]
    yield given
    assert [_identity(array) for array in given] == before, "an input was changed"


def _identity(array):
    return array.dtype, array.shape, array.strides, array.tobytes()


def test_there_are_88_records_with_distinct_names():
    assert len({record.id for record in RECORDS}) == len({str(r) for r in RECORDS}) == 88


@each(RECORDS)
def test_plain_numpy_gives_the_value(record, inputs):
    value = record.function(np, *inputs)
    assert not complaints(record, value=value)


@each(RECORDS)
def test_the_compiled_function_gives_the_value(record, inputs):
    compiled = stagrad.compile(partial(record.function, np))
    for _call in range(2):
        assert not complaints(record, value=compiled(*inputs))


@each(DIFFERENTIABLE)
def test_vjp(record, inputs):
    value, pull = stagrad.vjp(*restricted(record, inputs))
    cotangent = np.ones_like(value) if record.cotangent is None else record.cotangent
    gradients = pull(cotangent)
    assert not complaints(record, value=value, gradients=gradients)
    assert all(gradient is not cotangent for gradient in gradients)


@each(DIFFERENTIABLE)
def test_value_and_grad(record, inputs):
    value, gradients = stagrad.value_and_grad(weighted(record), argnums=record.argnums)(*inputs)
    want = np.sum(record.value if record.cotangent is None else record.cotangent * record.value)
    np.testing.assert_allclose(value, want, rtol=record.rtol, atol=record.atol)
    assert not complaints(record, gradients=gradients)


@each(DIFFERENTIABLE)
def test_a_gradient_inside_a_compiled_function(record, inputs):
    gradient = stagrad.compile(stagrad.grad(weighted(record), argnums=record.argnums))
    assert not complaints(record, gradients=gradient(*inputs))


@each([record for record in RECORDS if record.hessian is not None])
def test_hessian(record, inputs):
    function = partial(record.function, np)
    assert not complaints(record, hessian=stagrad.hessian(function)(*inputs))


def restricted(record, inputs):
    """Return the function of the differentiated arguments alone, and those arguments."""

    def function(*chosen):
        arguments = list(inputs)
        for argnum, argument in zip(record.argnums, chosen, strict=True):
            arguments[argnum] = argument
        return record.function(np, *arguments)

    return function, *(inputs[argnum] for argnum in record.argnums)


def weighted(record):
    """Return the record's function as a scalar one: its output weighted by the cotangent."""

    def function(*inputs):
        output = record.function(np, *inputs)
        return output if record.cotangent is None else np.sum(record.cotangent * output)

    return function
