"""Products with the identity matrix vanish; other products stay."""

import numpy as np
import pytest

import stagrad


def products(function, *arguments):
    lowered = stagrad.compile(function).lower(*arguments)
    return [n for n in lowered.stages["simplify"].nodes if n.primitive.name == "matmul"]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x @ np.eye(4),
        lambda x: np.eye(3) @ x,
        lambda x: x @ (np.arange(4)[:, None] == np.arange(4)).astype(float),
    ],
)
def test_a_product_with_the_identity_is_the_other_operand(function):
    x = np.arange(12.0).reshape(3, 4)
    assert not products(function, x)
    np.testing.assert_array_equal(stagrad.compile(function)(x), x)


@pytest.mark.parametrize(
    "matrix", [np.eye(4)[::-1].copy(), np.eye(4, k=1), np.ones((4, 4)), 2 * np.eye(4)]
)
def test_other_constant_matrices_are_multiplied_with(matrix):
    x = np.arange(12.0).reshape(3, 4)
    result = stagrad.compile(lambda x: x @ matrix)
    np.testing.assert_array_equal(result(x), x @ matrix)


def test_a_hessian_multiplies_by_no_identity():
    hessian = stagrad.hessian(lambda w, x: np.sum(np.log1p(np.exp(x @ w))))
    w, x = np.ones(5), np.linspace(-1, 1, 100).reshape(20, 5)
    p = 1 / (1 + np.exp(-x @ w))
    np.testing.assert_allclose(hessian(w, x), x.T @ ((p * (1 - p))[:, None] * x))
    names = [n.primitive.name for n in hessian.lower(w, x).stages["simplify"].nodes]
    assert names.count("matmul") == 2
