"""Spelled-out compositions: what they are recognised as, and derivatives where they overflow."""

from typing import Any

import numpy as np
import pytest
import scipy.special

import stagrad
from stagrad.ir import interpret
from stagrad.passes.recognize import recognize
from tests.passes.programs import canonical, graph_of

V, M = "f64[5]", "f64[3,4]"


def softmax_rows(x: Any) -> Any:
    powers = np.exp(x)
    return powers / np.sum(powers, axis=1, keepdims=True)


def shifted_softmax_rows(x: Any) -> Any:
    powers = np.exp(x - np.max(x, axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def log_softmax_rows(x: Any) -> Any:
    shifted = x - np.max(x, axis=1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))


def shifted_logsumexp_rows(x: Any) -> Any:
    largest = np.max(x, axis=1)
    return np.log(np.sum(np.exp(x - largest[:, None]), axis=1)) + largest


SPELLINGS = {
    "softplus": (lambda x: np.log(1 + np.exp(x)), V, "softplus"),
    "softplus, turned": (lambda x: np.log(np.exp(x) + 1.0), V, "softplus"),
    "softplus by log1p": (lambda x: np.log1p(np.exp(-x)), V, "softplus"),
    "logistic": (lambda x: 1 / (1 + np.exp(-x)), V, "expit"),
    "logistic of a product": (lambda x: 1.0 / (np.exp(-(2.0 * x)) + 1), V, "expit"),
    "logistic by reciprocal": (lambda x: np.reciprocal(1 + np.exp(x)), V, "expit"),
    "logistic by power": (lambda x: (1 + np.exp(-x)) ** -1, V, "expit"),
    "logistic as a quotient": (lambda x: np.exp(x) / (1 + np.exp(x)), V, "expit"),
    "log of logistic": (lambda x: np.log(1 / (1 + np.exp(-x))), V, "softplus"),
    "log of the rest": (lambda x: np.log(1 - 1 / (1 + np.exp(-x))), V, "softplus"),
    "log1p of the rest": (lambda x: np.log1p(-(1 / (1 + np.exp(-x)))), V, "softplus"),
    "logsumexp": (lambda x: np.log(np.sum(np.exp(x))), V, "stop_gradient"),
    "logsumexp of rows": (lambda x: np.log(np.exp(x).sum(1, keepdims=True)), M, "stop_gradient"),
    "logaddexp": (lambda x: np.log(np.exp(x) + np.exp(2.0 * x)), V, "logaddexp"),
    "softmax": (lambda x: np.exp(x) / np.sum(np.exp(x)), V, "stop_gradient"),
    "softmax of rows": (softmax_rows, M, "stop_gradient"),
    "softmax of columns": (lambda x: np.exp(x) / np.exp(x).sum(axis=0), M, "stop_gradient"),
    "shifted softmax of rows": (shifted_softmax_rows, M, "stop_gradient"),
    "log_softmax of rows": (log_softmax_rows, M, "stop_gradient"),
    "log_softmax, squeezed": (
        lambda x: (x - x.max()) - np.log(np.sum(np.exp(x - x.max()))), V, "stop_gradient",
    ),
    "shifted logsumexp": (
        lambda x: np.max(x) + np.log(np.sum(np.exp(x - np.max(x)))), V, "stop_gradient",
    ),
    "shifted logsumexp of rows": (shifted_logsumexp_rows, M, "stop_gradient"),
    "norm": (lambda x: np.sqrt(np.sum(x**2)), V, "where"),
    "norm of rows": (lambda x: np.sqrt(np.sum(x * x, axis=1)), M, "where"),
    "norm by power": (lambda x: np.sum(x * x) ** 0.5, V, "where"),
    "norm by dot": (lambda x: np.sqrt(x @ x), V, "where"),
    "root mean square": (lambda x: np.sqrt(np.mean(x**2)), V, "where"),
    "distance": (lambda x: np.sqrt((x[0] - 1) ** 2 + x[1] ** 2 + 4 * x[2] ** 2), V, "where"),
    "modulus": (lambda x: np.sqrt(x**2), V, "where"),
}  # fmt: skip


@pytest.mark.parametrize(("function", "aval", "sign"), SPELLINGS.values(), ids=SPELLINGS)
def test_is_recognised(function: Any, aval: str, sign: str) -> None:
    graph = graph_of(function, aval)
    assert sign not in {node.primitive.name for node in graph.nodes}
    assert sign in {node.primitive.name for node in recognize(graph).nodes}


@pytest.mark.parametrize(("function", "aval", "sign"), SPELLINGS.values(), ids=SPELLINGS)
def test_keeps_the_numbers_and_comes_to_rest(function: Any, aval: str, sign: str) -> None:
    graph = graph_of(function, aval)
    once = recognize(graph)
    x = np.random.default_rng(0).normal(size=graph.inputs[0].aval.shape)
    np.testing.assert_allclose(
        interpret(once, [x])[0], interpret(graph, [x])[0], rtol=1e-13, atol=1e-15
    )
    assert canonical(recognize(once)) == canonical(once)


LOOK_ALIKES = {
    "another constant": (lambda x: np.log(2 + np.exp(x)), V),
    "a sum of others": (lambda x: np.exp(x) / np.sum(np.exp(2.0 * x)), V),
    "over the wrong axis": (lambda x: np.exp(x) / np.sum(np.exp(x), axis=0)[:, None], "f64[3,3]"),
    "the maximum of others added": (
        lambda x: np.max(2 * x) + np.log(np.sum(np.exp(x - np.max(x)))),
        V,
    ),
    "a shift by other numbers": (lambda x: np.exp(x - x[0]) / np.sum(np.exp(x)), V),
    "a sum of no squares": (lambda x: np.sqrt(np.sum(x * x[::-1])), V),
    "a difference of squares": (lambda x: np.sqrt(x[0] ** 2 - x[1] ** 2), V),
    "minus squares": (lambda x: np.sqrt(np.sum(x * x) * -1.0), V),
    "guarded already": (lambda x: np.where(x > 0, np.sqrt(x * x), x), V),
    "complex": (lambda z: np.log(1 + np.exp(z)), "c128[2]"),
    "a product with another vector": (lambda x: np.sqrt(x @ x[::-1]), V),
    "a complex norm": (lambda z: np.sqrt(np.sum(z * z)), "c128[2]"),
}


@pytest.mark.parametrize(("function", "aval"), LOOK_ALIKES.values(), ids=LOOK_ALIKES)
def test_look_alikes_are_left_alone(function: Any, aval: str) -> None:
    graph = graph_of(function, aval)
    assert recognize(graph) is graph


def test_lines_and_names_stay() -> None:
    def function(x: Any) -> Any:
        p = 1 / (1 + np.exp(-x))
        length = np.sqrt(np.sum(p * p))
        return p * length

    nodes = recognize(graph_of(function, V)).nodes
    line = function.__code__.co_firstlineno
    places = {node.name: node.source and node.source.line - line for node in nodes if node.name}
    assert places == {"x0": None, "p": 1, "length": 2}
    assert all(node.source for node in nodes if node.inputs)


X = np.array([1000.0, -1000.0, 40.0, -40.0, 0.0])


def test_softplus_to_all_orders_where_it_overflows() -> None:
    function = lambda x: np.sum(np.log(1 + np.exp(x)))  # noqa: E731
    slope = scipy.special.expit(X)
    np.testing.assert_allclose(stagrad.grad(function)(X), slope, rtol=1e-14)
    curvature = np.diag(stagrad.hessian(function)(X))
    np.testing.assert_allclose(curvature, slope * scipy.special.expit(-X), rtol=1e-10, atol=1e-16)


def test_cross_entropy_of_certain_answers_is_finite() -> None:
    def loss(x: Any) -> Any:
        p = 1 / (1 + np.exp(-x))
        return -np.sum(0.25 * np.log(p) + 0.75 * np.log(1 - p))

    value, slope = stagrad.value_and_grad(loss)(X)
    wanted = np.sum(0.25 * np.logaddexp(0, -X) + 0.75 * np.logaddexp(0, X))
    np.testing.assert_allclose(value, wanted, rtol=1e-14)
    np.testing.assert_allclose(slope, scipy.special.expit(X) - 0.25, rtol=1e-12)


@pytest.mark.parametrize("rows", [softmax_rows, shifted_softmax_rows])
def test_log_of_a_softmax_by_hand(rows: Any) -> None:
    x = np.array([[1000.0, 0.0, -1000.0], [1.0, 2.0, 3.0]])
    weights = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])

    def loss(x: Any) -> Any:
        return -np.sum(np.log(rows(x)) * weights)

    value, slope = stagrad.value_and_grad(loss)(x)
    wanted = -np.sum(scipy.special.log_softmax(x, axis=1) * weights)
    np.testing.assert_allclose(value, wanted, rtol=1e-14)
    np.testing.assert_allclose(slope, scipy.special.softmax(x, axis=1) - weights, atol=1e-13)


@pytest.mark.parametrize("order", [1, 2])
def test_a_norm_is_flat_at_zero(order: int) -> None:
    derivative = stagrad.grad if order == 1 else stagrad.hessian
    result = derivative(lambda x: np.sqrt(np.sum(x**2)))(np.zeros(3))
    np.testing.assert_array_equal(result, np.zeros(result.shape))
