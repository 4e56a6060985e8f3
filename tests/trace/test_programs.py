"""Traced programs give NumPy's values and right derivatives, whatever they store and where."""

import numpy as np
import pytest

import stagrad
from tests.trace.programs import PROGRAMS

POINT = np.array([0.9, 0.4, 1.7, 1.1])


def parts(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", PROGRAMS)
def test_value_is_numpys(name):
    function = PROGRAMS[name]
    want = parts(function(POINT.copy()))
    got = parts(stagrad.compile(function)(POINT.copy()))
    assert len(got) == len(want)
    for mine, numpys in zip(got, want, strict=True):
        np.testing.assert_allclose(mine, numpys, rtol=1e-14)
        assert np.asarray(mine).dtype == np.asarray(numpys).dtype
        assert np.shape(mine) == np.shape(numpys)


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradient_is_the_difference_quotient(name):
    function = PROGRAMS[name]

    def loss(x):
        return sum(np.sum(np.sin(part) * 1.3) for part in parts(function(x)))

    direction = np.array([0.3, -0.7, 0.2, 0.5])
    step = 1e-6
    want = (loss(POINT + step * direction) - loss(POINT - step * direction)) / (2 * step)
    point = POINT.copy()
    gradient = stagrad.grad(loss)(point)
    np.testing.assert_array_equal(point, POINT)
    if name in ("integer_array_truncates", "asarray_passes_through"):
        return
    np.testing.assert_allclose(gradient @ direction, want, rtol=1e-7, atol=1e-8)


def test_compile_writes_what_the_function_writes_to_its_arguments():
    def step(weights, gradient):
        weights -= 0.1 * gradient
        weights[0] = 5.0

    weights, gradient = np.ones(3), np.arange(3.0)
    want = weights.copy()
    step(want, gradient)
    assert stagrad.compile(step)(weights, gradient) is None
    np.testing.assert_array_equal(weights, want)


def test_gradients_never_write_to_the_arguments():
    def loss(x):
        x *= 2.0
        return np.sum(x * x)

    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(stagrad.grad(loss)(x), [8.0, 16.0])
    np.testing.assert_array_equal(x, [1.0, 2.0])
