"""A compiled function consumes random streams as the plain one does: nothing drawn is frozen."""

import random

import numpy as np
import pytest

import stagrad
from stagrad.errors import TraceError

X = np.array([1.0, 2.0, 3.0])
GENERATOR = np.random.default_rng(7)


class Holder:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def noisy(self, x):
        return x + self.rng.normal(size=3) * self.rng.uniform(1.0, 2.0)


def noisy_global(x):
    return x * np.random.rand(3) + np.random.normal(0.0, 2.0)  # noqa: NPY002


def noisy_captured(x):
    return x + GENERATOR.normal(size=3)


def noisy_python(x):
    return x * random.gauss(0.0, 1.0)


def noisy_steps(x, steps):
    total = np.zeros(3)
    for _ in range(steps):
        total = total + x * np.random.uniform(size=3)  # noqa: NPY002
    return total


@pytest.mark.parametrize("function", [noisy_global, noisy_captured, noisy_python])
def test_every_call_draws_as_the_plain_function_does(function):
    compiled = stagrad.compile(function)
    streams = []
    for call in (function, compiled):
        np.random.seed(3)  # noqa: NPY002
        random.seed(3)
        GENERATOR.bit_generator.state = np.random.default_rng(5).bit_generator.state
        streams.append([call(X) for _ in range(4)])
    np.testing.assert_allclose(*streams)
    assert not np.array_equal(streams[1][0], streams[1][1])


def test_draws_survive_a_trace_begun_again():
    compiled = stagrad.compile(noisy_steps)
    streams = []
    for call in (noisy_steps, compiled):
        np.random.seed(3)  # noqa: NPY002
        streams.append([call(X, 2) for _ in range(3)])
    np.testing.assert_allclose(*streams)


def test_a_generator_held_by_an_object_or_passed_as_an_argument():
    plain, traced = Holder(1), Holder(1)
    compiled = stagrad.compile(traced.noisy)
    for _ in range(3):
        np.testing.assert_allclose(compiled(X), plain.noisy(X))
    assert isinstance(traced.rng, np.random.Generator)

    def f(x, rng):
        return x * rng.standard_normal(3)

    first, second = np.random.default_rng(2), np.random.default_rng(2)
    compiled = stagrad.compile(f)
    for _ in range(3):
        np.testing.assert_allclose(compiled(X, first), f(X, second))


def test_value_and_gradient_see_the_same_numbers():
    np.random.seed(0)  # noqa: NPY002
    value_and_grad = stagrad.value_and_grad(lambda x: np.sum(x * np.random.rand(3)))  # noqa: NPY002
    for _ in range(2):
        value, gradient = value_and_grad(X)
        np.testing.assert_allclose(value, X @ gradient)
        _, pullback = stagrad.vjp(lambda x: x * np.random.rand(3), X)  # noqa: NPY002
        np.testing.assert_array_equal(pullback(np.ones(3))[0], pullback(np.ones(3))[0])
    outer = stagrad.compile(lambda x: stagrad.grad(lambda y: np.sum(y * np.random.rand(3)))(x))  # noqa: NPY002
    assert not np.array_equal(outer(X), outer(X))


def test_a_generator_seeded_inside_gives_the_same_numbers_each_time():
    def f(x):
        return x + np.random.default_rng(4).normal(size=3)

    compiled = stagrad.compile(f)
    for _ in range(2):
        np.testing.assert_allclose(compiled(X), f(X))
    unseeded = stagrad.compile(lambda x: x + np.random.default_rng().normal(size=3))
    assert not np.array_equal(unseeded(X), unseeded(X))


def test_draws_that_cannot_be_repeated_are_refused():
    for function in (
        lambda x: np.random.normal(x),  # noqa: NPY002
        lambda x: np.random.seed(0) or x,  # noqa: NPY002
        lambda x: x if np.random.shuffle([1, 2]) else -x,  # noqa: NPY002
    ):
        with pytest.raises(TraceError, match=r"stagrad\.random"):
            stagrad.compile(function)(X)
