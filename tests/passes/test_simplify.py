"""Rewrites: what becomes of a program as one claim, that its numbers stay as the other."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stagrad.ir import Literal, constant_p, interpret
from stagrad.ops.movement import broadcast_to, constant, reshape, transpose
from stagrad.ops.slicing import pad, set_slice
from stagrad.passes.fold import FOLDED_ELEMENTS, fold
from stagrad.passes.simplify import simplify
from tests.passes.programs import SPECIAL, arguments_for, assert_same_bits, canonical, graph_of

V, M, F = f"f64[{SPECIAL.size}]", "f64[3,4]", "f32[5]"


def pair(before: Callable[..., Any], after: Callable[..., Any], *avals: str, name: str) -> Any:
    return pytest.param(before, after, avals, id=name)


def ones(x: Any) -> Any:
    return broadcast_to(constant(1.0, like=x), x.shape)


PAIRS = [
    pair(lambda x: x * 1.0, lambda x: x, V, name="times one"),
    pair(lambda x: 1.0 * x, lambda x: x, V, name="one times"),
    pair(lambda x: x * -1.0, lambda x: -x, V, name="times minus one"),
    pair(lambda x: x / 1.0, lambda x: x, V, name="over one"),
    pair(lambda x: np.negative(-x), lambda x: x, V, name="minus minus"),
    pair(lambda x: x - 0.0, lambda x: x, V, name="minus zero"),
    pair(lambda x: x + -0.0, lambda x: x, V, name="plus minus zero"),
    pair(lambda x: +x, lambda x: x, V, name="plus sign"),
    pair(lambda x, y: x + -y, lambda x, y: x - y, V, V, name="plus minus"),
    pair(lambda x, y: -x + y, lambda x, y: y - x, V, V, name="minus in front"),
    pair(lambda x, y: x - np.negative(y), lambda x, y: x + y, V, V, name="minus minus behind"),
    pair(lambda x, y: -x * -y, lambda x, y: x * y, V, V, name="product of negatives"),
    pair(lambda x, y: -x * y, lambda x, y: -(x * y), V, V, name="sign out of a product"),
    pair(lambda x, y: x / -y, lambda x, y: -(x / y), V, V, name="sign out of a quotient"),
    pair(lambda x: -(x * 3.0), lambda x: -3.0 * x, V, name="sign into a constant"),
    pair(lambda x: 3.0 * (2.0 * x), lambda x: 6.0 * x, V, name="powers of two"),
    pair(lambda x: np.maximum(x, -np.inf), lambda x: x, V, name="maximum with -inf"),
    pair(lambda x, y: np.where(True, x, y), lambda x, y: x, V, V, name="where true"),
    pair(lambda x, y: np.where(x > 0, y, y), lambda x, y: y, V, V, name="where equal"),
    pair(lambda x: x.astype("f8").astype("f4"), lambda x: x, F, name="there and back"),
    pair(lambda x: x.T.T, lambda x: x, M, name="transpose twice"),
    pair(
        lambda x: transpose(transpose(x, (1, 2, 0)), (1, 0, 2)),
        lambda x: transpose(x, (2, 1, 0)),
        "f64[2,3,4]",
        name="transposes",
    ),
    pair(lambda x: reshape(reshape(x, (2, 6)), (12,)), lambda x: reshape(x, (12,)), M,
         name="reshapes"),
    pair(lambda x: reshape(reshape(x, (12,)), (3, 4)), lambda x: x, M, name="reshape back"),
    pair(
        lambda x: broadcast_to(broadcast_to(x, (3, 4)), (2, 3, 4)),
        lambda x: broadcast_to(x, (2, 3, 4)),
        "f64[4]",
        name="broadcasts",
    ),
    pair(lambda x: np.sum(x.reshape(-1)), lambda x: np.sum(x), M, name="sum of a reshape"),
    pair(lambda x: np.sum(x.T), lambda x: np.sum(x), M, name="sum of a transpose"),
    pair(
        lambda x, y: broadcast_to(x, (5, 4)) * broadcast_to(y, (5, 4)),
        lambda x, y: broadcast_to(x * y, (5, 4)),
        "f64[4]", "f64[4]",
        name="repeated product",
    ),
    pair(lambda x: np.sqrt(2.0) * (x * ones(x)), lambda x: np.sqrt(2.0) * x, V, name="ones"),
    pair(
        lambda x: x * (constant(np.arange(9.0), like=x) + 1.0),
        lambda x: x * constant(np.arange(1.0, 10.0), like=x),
        V,
        name="constants",
    ),
    pair(
        lambda x: pad(x, (7,), ((1, 6, 1),)),
        lambda x: set_slice(broadcast_to(constant(0.0, like=x), (7,)), x, ((1, 6, 1),)),
        "f64[5]",
        name="zeros around",
    ),
]  # fmt: skip


def optimised(graph: Any) -> Any:
    return simplify(fold(graph))


@pytest.mark.parametrize(("before", "after", "avals"), PAIRS)
def test_becomes(before: Any, after: Any, avals: tuple[str, ...]) -> None:
    assert canonical(optimised(graph_of(before, *avals))) == canonical(graph_of(after, *avals))


@pytest.mark.parametrize(("before", "after", "avals"), PAIRS)
def test_keeps_the_numbers(before: Any, after: Any, avals: tuple[str, ...]) -> None:
    graph = graph_of(before, *avals)
    assert_same_bits(optimised(graph), graph, arguments_for(graph))
    if set(avals) == {V}:
        turned = [np.roll(SPECIAL, 3 * place) for place in range(len(avals))]
        assert_same_bits(optimised(graph), graph, turned)


UNSOUND = {
    "x * 0": lambda x: x * 0.0,
    "x - x": lambda x: x - x,
    "x / x": lambda x: x / x,
    "x + 0": lambda x: x + 0.0,
    "0 / x": lambda x: 0.0 / x,
    "x == x": lambda x: x == x,
    "3 * (0.5 * x)": lambda x: 3.0 * (0.5 * x),
    "0.1 * (2 * x)": lambda x: 0.1 * (2.0 * x),
    "(x + 1) - 1": lambda x: (x + 1.0) - 1.0,
    "x * y / y": lambda x: x * 3.0 / 3.0,
    "maximum with 0": lambda x: np.maximum(x, 0.0),
    "sqrt of square": lambda x: np.sqrt(x * x),
}


@pytest.mark.parametrize("function", UNSOUND.values(), ids=UNSOUND)
def test_leaves_alone_what_special_numbers_would_tell(function: Any) -> None:
    graph = graph_of(function, V)
    after = optimised(graph)
    assert canonical(after) == canonical(graph)


def test_a_sum_of_equal_numbers_is_a_product() -> None:
    graph = graph_of(lambda x: np.sum(broadcast_to(x, (7, 4)), axis=0), "f64[4]")
    after = optimised(graph)
    assert canonical(after) == canonical(graph_of(lambda x: x * 7.0, "f64[4]"))
    (x,) = arguments_for(graph)
    np.testing.assert_array_equal(interpret(after, [x])[0], 7.0 * x)


@pytest.mark.parametrize("shape", [(0, 4), (70_000, 4)])
def test_sums_of_none_or_more_than_the_dtype_counts_stay(shape: tuple[int, int]) -> None:
    graph = graph_of(lambda x: np.sum(broadcast_to(x, shape), axis=0, dtype="f2"), "f16[4]")
    assert canonical(optimised(graph)) == canonical(graph)


def test_complex_factors_of_one_stay() -> None:
    graph = graph_of(lambda z: z * 1.0, "c128[1]")
    assert_same_bits(optimised(graph), graph, [np.array([complex(np.inf, 1.0)])])


def test_wide_integers_do_not_go_through_floats_unnoticed() -> None:
    graph = graph_of(lambda x: x.astype("f8").astype("i8"), "i64[1]")
    assert_same_bits(optimised(graph), graph, [np.array([2**53 + 1])])


def test_large_constants_are_not_folded() -> None:
    def function(x: Any) -> Any:
        numbers = np.arange(float(FOLDED_ELEMENTS + 1))
        return x * np.exp(constant(numbers, like=x))

    graph = optimised(graph_of(function, f"f64[{FOLDED_ELEMENTS + 1}]"))
    assert [node.primitive.name for node in graph.nodes] == ["input", "constant", "exp", "multiply"]


def test_a_number_repeated_is_no_array_constant() -> None:
    graph = optimised(graph_of(lambda x: x + ones(x) * 2.0, M))
    constants = [node for node in graph.nodes if node.primitive is constant_p]
    assert [node.params["value"] for node in constants] == [Literal(2.0)]


def test_lines_and_names_stay() -> None:
    def function(x: Any) -> Any:
        y = x * 1.0 + np.sin(x)
        return y * 2.0

    graph = optimised(graph_of(function, V))
    (named,) = [node for node in graph.nodes if node.name == "y"]
    assert named.primitive.name == "add"
    assert named.source is not None
    assert named.source.line == function.__code__.co_firstlineno + 1
