"""C programs as a whole: their sizes, their chunks and sweeps, their threads, their names."""

from typing import Any

import numpy as np
import pytest

import stagrad
from stagrad.codegen import emit_c
from stagrad.passes import lower
from tests.codegen.native_programs import load_together, without_comments
from tests.codegen.test_numpy_rows import traced_program, with_cotangents
from tests.test_random_programs import assert_agrees

pytestmark = [pytest.mark.compiler, pytest.mark.filterwarnings("ignore::RuntimeWarning")]


def softmax_loss(x, y):
    z = x - np.max(x, axis=1, keepdims=True)
    e = np.exp(z)
    p = e / np.sum(e, axis=1, keepdims=True)
    return np.sum(p * y)


def layer_norm(x, y):
    centred = x - np.mean(x, axis=1, keepdims=True)
    return np.sum(y * centred / np.sqrt(np.mean(centred**2, axis=1, keepdims=True) + 1e-5))


def columns(x, y):
    return np.sum(np.sum(x * y, axis=0) ** 2) + np.mean(np.tanh(x)) + np.sum(np.max(x, axis=1))


def stencil(x, y):
    return np.sum((x[1:] - x[:-1]) ** 2 * y[1:]) + np.sum(x[::-1] * y) + np.sum(x.T @ y)


def products(x, y):
    return np.sum(np.tanh(x @ y.T) @ x)


FUNCTIONS = [softmax_loss, layer_norm, columns, stencil, products]


def arguments(rows: int, count: int = 23, dtype: Any = np.float64) -> list[np.ndarray]:
    generator = np.random.default_rng(rows)
    return [generator.normal(size=(rows, count)).astype(dtype) for _ in range(2)]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_batch_size_has_the_same_text(function):
    gradient = stagrad.value_and_grad(function)
    texts = set()
    for rows in (20, 33, 128, 1000):
        schedule = lower(gradient.lower(*arguments(rows)).graph, native=True).schedule
        texts.add(without_comments(emit_c(schedule, "program").text))
    assert len(texts) == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_chunks_and_sweeps_give_what_the_interpreter_gives(function, dtype, monkeypatch):
    monkeypatch.setattr("stagrad.passes.cut.CHUNK_NANOSECONDS", 50.0)
    monkeypatch.setattr("stagrad.passes.cut.SHORTEST_ROW", 4)
    graphs = [
        with_cotangents(*traced_program(function, tuple(arguments(rows, 37, dtype))), 2)
        for rows in (1, 5, 64)
    ]
    runs = load_together([graph for graph, _ in graphs])
    for (graph, given_), run in zip(graphs, runs, strict=True):
        assert_agrees(graph, run(*given_), given_)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_do_not_depend_on_the_number_of_threads(function, monkeypatch):
    gradient = stagrad.compile(stagrad.value_and_grad(function), backend="c")
    results = []
    for threads in (1, 2, 8):
        monkeypatch.setattr(stagrad.config, "num_threads", threads)
        results.append(gradient(*arguments(700, 61)))
    for value, cotangent in results[1:]:
        assert value == results[0][0]
        np.testing.assert_array_equal(cotangent, results[0][1])


def test_names_that_mean_something_in_c_are_changed():
    def program(double, int_, n, exp):
        register = np.exp(double) * n
        task = register + int_ + np.sin(exp)
        return task, register

    numbers = [np.linspace(0, 1, 5) + shift for shift in range(4)]
    got = stagrad.compile(program, backend="c")(*numbers)
    np.testing.assert_allclose(got, program(*numbers), rtol=1e-14)


def test_a_function_may_be_called_as_one_of_c():
    def exp(x):
        return np.exp(x)

    def main(x):
        return x + 1

    x = np.ones(3)
    np.testing.assert_allclose(stagrad.compile(exp, backend="c")(x), np.exp(x), rtol=1e-15)
    np.testing.assert_array_equal(stagrad.compile(main, backend="c")(x), x + 1)


def test_verification_checks_the_c_program():
    checked = stagrad.compile(stagrad.grad(softmax_loss), backend="c", verify=True)
    np.testing.assert_allclose(
        checked(*arguments(9)), stagrad.grad(softmax_loss)(*arguments(9)), rtol=1e-9, atol=1e-12
    )
