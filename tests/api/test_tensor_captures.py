"""Tensors that a traced function reads without taking them as arguments."""

import numpy as np
import pytest

import stagrad


def test_a_captured_tensor_is_read_at_each_call():
    weight = stagrad.tensor([1.0, 2.0])
    double = stagrad.compile(lambda x: x * weight)
    x = np.ones(2, np.float32)
    np.testing.assert_array_equal(double(x), [1, 2])
    weight.mul_(5)
    np.testing.assert_array_equal(double(x), [5, 10])


def test_a_captured_tensor_that_requires_grad_is_refused():
    weight = stagrad.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        stagrad.compile(lambda x: x * weight)(np.ones(2))


def test_vjp_names_the_function_for_tensors():
    with pytest.raises(TypeError, match=r"autograd\.functional\.vjp"):
        stagrad.vjp(lambda x: x * x, stagrad.tensor([1.0]))
