"""Duplicate indices and gradients of odd shapes: lines of docs/conventions.md, pinned."""

import numpy as np
import pytest

import stagrad

PLACES = np.array([1, 1, 3])
WEIGHTS = np.array([1.0, 10.0, 100.0])


def test_a_gathers_gradient_accumulates():
    gradient = stagrad.grad(lambda x: np.sum(x[PLACES] * WEIGHTS))(np.arange(4.0))
    np.testing.assert_array_equal(gradient, [0, 11, 0, 100])


def test_the_last_write_wins_and_gets_the_gradient():
    def function(x, v):
        y = x.copy()
        y[PLACES] = v
        return np.sum(y * np.array([1.0, 10.0, 100.0, 1000.0]))

    x, v = stagrad.grad(function, argnums=(0, 1))(np.ones(4), np.ones(3))
    np.testing.assert_array_equal(x, [1, 0, 100, 0])
    np.testing.assert_array_equal(v, [0, 10, 1000])


@pytest.mark.parametrize("places", [[0, 0], np.array([0, 0])])
def test_an_augmented_assignment_adds_once(places):
    def function(x):
        y = x.copy()
        y[places] += 1.0
        y[places] *= x[1]
        return y

    x = np.array([2.0, 3.0])
    np.testing.assert_array_equal(stagrad.compile(function)(x), function(x))
    jacobian = stagrad.jacobian(function)(x)
    np.testing.assert_array_equal(jacobian, [[3, 3], [0, 1]])


def test_add_at_adds_as_often_as_it_is_told():
    def function(x, v):
        y = x.copy()
        np.add.at(y, PLACES, v)
        return np.sum(y**2)

    x, v = stagrad.grad(function, argnums=(0, 1))(np.zeros(4), WEIGHTS)
    np.testing.assert_array_equal(x, [0, 22, 0, 200])
    np.testing.assert_array_equal(v, [22, 22, 200])


def test_positions_of_the_extreme_are_constants():
    gradient = stagrad.grad(lambda x: x[np.argmax(x)])(np.array([1.0, 5.0, 5.0, 2.0]))
    np.testing.assert_array_equal(gradient, [0, 1, 0, 0])


@pytest.mark.parametrize("shape", [(), (1,), (0,), (0, 3), (1, 1), (2, 0)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(x[...] * 2),
        lambda x: np.sum(np.ravel(x)[::-1]),
        lambda x: np.sum(np.broadcast_to(x, (4, *x.shape))),
        lambda x: np.sum(np.tile(x, 3)),
        lambda x: np.sum(np.concatenate([x.ravel(), x.ravel()])),
        lambda x: np.sum(np.repeat(x, 0)),
        lambda x: np.sum(np.pad(x.ravel(), 1)),
        lambda x: np.sum(np.stack([x, x])[1]),
    ],
)
def test_gradients_have_the_shape_and_dtype_of_their_input(function, shape, dtype):
    x = np.ones(shape, dtype)
    gradient = stagrad.grad(lambda x: np.real(function(x)))(x)
    assert isinstance(gradient, np.ndarray | np.generic)
    assert gradient.shape == shape
    assert gradient.dtype == dtype


def test_the_diagonal_of_a_tall_matrix_ends_with_its_columns():
    gradient = stagrad.grad(lambda x: np.sum(np.diagonal(x)))(np.ones((4, 2)))
    np.testing.assert_array_equal(gradient, [[1, 0], [0, 1], [0, 0], [0, 0]])


def test_an_unselected_branch_leaves_no_trace():
    def function(x):
        y = np.zeros(3)
        y[:] = x
        y[x <= 0] = 1.0
        return np.sum(np.log(y))

    gradient = stagrad.grad(function)(np.array([0.0, 2.0, -1.0]))
    np.testing.assert_array_equal(gradient, [0, 0.5, 0])
