"""Batching does to a batch what a Python loop does to each element, for every row of the table."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stagrad
from stagrad.errors import UnsupportedError
from stagrad.ir import ZERO, Builder, Graph, Kind, Primitive, parse_aval, project_p
from stagrad.passes.batch import batch
from stagrad.passes.reverse import reverse
from stagrad.trace.trees import flatten
from tests.op_cases.case import Case
from tests.op_cases.programs import run_checked, trace
from tests.test_ops import CASES, differentiated, fresh, inexact_arguments, rows

# Scaled operands leave the domains of some functions, about which NumPy warns as it should.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SCALES = (1.0, 0.75, 1.25)


def stacked(argument: Any) -> np.ndarray:
    """Return a batch: multiples, which keep what a matrix is (positive, regular)."""
    array = np.asarray(argument)
    if array.dtype.kind not in "fc":
        return np.stack([array] * len(SCALES))
    return np.stack([(array * scale).astype(array.dtype) for scale in SCALES])


def assert_as_loop(graph: Graph, arguments: list[Any], batched: list[int]) -> None:
    """Hold a batched graph against its runs for one element after another."""
    whole = [
        stacked(argument) if place in batched else argument
        for place, argument in enumerate(arguments)
    ]
    got = run_checked(batch(graph, len(SCALES), batched), whole)
    for element in range(len(SCALES)):
        one = [value[element] if place in batched else value for place, value in enumerate(whole)]
        for ours, want in zip(got, run_checked(graph, one), strict=True):
            assert ours.dtype == want.dtype
            np.testing.assert_allclose(ours[element], want, rtol=1e-8, atol=1e-10)


def values_graph(case: Case) -> tuple[Graph, list[Any], list[int]]:
    """Return a row's graph with arguments, and which of them to batch."""
    traced = trace(case.function, fresh(case.operands))
    arguments = [*flatten(fresh(case.operands))[0], *traced.captures]
    own = list(range(len(arguments) - len(traced.captures)))
    return traced.graph, arguments, inexact_arguments(traced) or own


def gradient_graph(case: Case) -> tuple[Graph, list[Any], list[int]]:
    """Return the graph of a row's gradient with arguments, and which of them to batch."""
    function, operands = differentiated(case)
    traced = trace(function, operands)
    wrt = inexact_arguments(traced)
    graph = reverse(traced.graph, wrt)
    arguments = [*flatten(fresh(operands))[0], *traced.captures]
    seeds = graph.inputs[len(arguments) :]
    batched = [*wrt, *range(len(arguments), len(graph.inputs))]
    return graph, arguments + [np.ones(node.aval.shape, node.aval.dtype) for node in seeds], batched


@rows(CASES)
def test_values_of_a_batch_are_those_of_a_loop(case: Case) -> None:
    graph, arguments, batched = values_graph(case)
    assert_as_loop(graph, arguments, batched)
    for place in batched if len(batched) > 1 else ():
        assert_as_loop(graph, arguments, [place])


@rows([case for case in CASES if case.order])
def test_gradients_of_a_batch_are_those_of_a_loop(case: Case) -> None:
    graph, arguments, batched = gradient_graph(case)
    assert_as_loop(graph, arguments, batched)
    assert_as_loop(graph, arguments, batched[-1:])


@rows(CASES)
def test_an_empty_batch_is_empty(case: Case) -> None:
    graph, arguments, batched = values_graph(case)
    empty = [
        stacked(argument)[:0] if place in batched else argument
        for place, argument in enumerate(arguments)
    ]
    results = run_checked(batch(graph, 0, batched), empty)
    assert [result.shape for result in results] == [(0, *node.aval.shape) for node in graph.outputs]


STEPS = {
    "sin": (1, np.sin),
    "product": (2, np.multiply),
    "matmul": (2, np.matmul),
    "difference": (2, np.subtract),
    "turned": (1, np.transpose),
    "running": (1, lambda x: np.cumsum(x, axis=0)),
    "sorted": (1, lambda x: np.sort(x, axis=1)),
    "total": (1, lambda x: np.broadcast_to(np.sum(x, axis=0), x.shape)),
    "written": (2, lambda x, y: _written(x, y)),
    "chosen": (2, lambda x, y: np.where(x > y, x, y * y)),
    "picked": (1, lambda x: x[[2, 0, 0]]),
    "constant": (0, lambda: np.arange(9.0).reshape(3, 3) / 9),
}


def _written(x: Any, y: Any) -> Any:
    copy = x.copy()
    copy[1] = y[:, 0]
    return copy


programs = st.lists(
    st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 99), st.integers(0, 99)), max_size=8
)


@given(programs, st.sampled_from([(0, 0), (0, None), (None, 0), (1, 2)]), st.sampled_from([0, 3]))
@settings(deadline=None, max_examples=60)
def test_random_programs_map_as_they_loop(
    program: list[tuple[str, int, int]], in_axes: tuple[int | None, int | None], size: int
) -> None:
    def function(x: Any, w: Any) -> Any:
        values = [x, w]
        for name, *places in program:
            count, step = STEPS[name]
            values.append(step(*(values[place % len(values)] for place in places[:count])))
        return sum(value.mean() for value in values), values[-1]

    rng = np.random.default_rng(0)
    operands = [
        rng.uniform(-1, 1, (3, 3) if axis is None else np.insert([3, 3], axis, size))
        for axis in in_axes
    ]

    def entry(place: int) -> list[np.ndarray]:
        return [
            operand if axis is None else np.take(operand, place, axis)
            for operand, axis in zip(operands, in_axes, strict=True)
        ]

    got = stagrad.vmap(function, in_axes)(*operands)
    slopes = stagrad.vmap(stagrad.grad(lambda x, w: function(x, w)[0], (0, 1)), in_axes)(*operands)
    gradient = stagrad.grad(lambda x, w: function(x, w)[0], (0, 1))
    assert [part.shape for part in (*got, *slopes)] == [(size,), *[(size, 3, 3)] * 3]
    for place in range(size):
        for ours, want in zip(got, function(*entry(place)), strict=True):
            np.testing.assert_allclose(ours[place], want, rtol=1e-10, atol=1e-12)
        for ours, want in zip(slopes, gradient(*entry(place)), strict=True):
            np.testing.assert_allclose(ours[place], want, rtol=1e-10, atol=1e-12)


def test_an_operation_without_a_batcher_is_repeated_for_few_elements_and_refused_for_many() -> None:
    lone = Primitive(
        name="lone",
        kind=Kind.LIBRARY,
        doc="An operation that cannot be batched.",
        vjps=(ZERO, ZERO),
        abstract_eval=lambda avals, params: (avals[0], avals[1]),
        py="(xp.flip({0}), {1} + 1)",
        multiple=True,
    )

    def graph_of(size: int) -> Graph:
        builder = Builder()
        x, y = (builder.input(parse_aval("f64[3]")) for _ in range(2))
        node = builder.add(lone, (x, y))
        parts = [builder.add(project_p, (node,), {"index": index}) for index in range(2)]
        return batch(builder.graph([x, y], parts), size, [0])

    x, y = np.arange(6.0).reshape(2, 3), np.ones(3)
    turned, more = run_checked(graph_of(2), [x, y])
    np.testing.assert_array_equal(turned, x[:, ::-1])
    np.testing.assert_array_equal(more, np.full((2, 3), 2.0))
    with pytest.raises(UnsupportedError, match=r"lone cannot be batched.*65 elements"):
        graph_of(65)


def test_what_does_not_depend_on_the_batch_is_computed_once() -> None:
    traced = trace(lambda x, w: (x + np.sin(w), np.exp(w)), (np.ones(3), np.ones(3)))
    whole = batch(traced.graph, 5, [0])
    shapes = {node.primitive.name: node.aval.shape for node in whole.nodes}
    assert shapes["sin"] == shapes["exp"] == (3,)
    assert [node.aval.shape for node in whole.outputs] == [(5, 3), (5, 3)]
    kept = batch(traced.graph, 5, [0], of=[0])
    assert kept.outputs[1] is traced.graph.outputs[1]


def test_lines_and_names_stay_with_what_was_batched() -> None:
    def function(x: Any) -> Any:
        wave = np.sin(x)
        return wave @ wave

    graph = trace(function, (np.ones(3),)).graph
    whole = batch(reverse(graph, [0]), 4, [0, 1])
    told = {node.name: node.origin for node in whole.nodes if node.name}
    assert told["wave"] == next(node.source for node in graph.nodes if node.name == "wave")
    assert all(node.origin is not None for node in whole.nodes if node.primitive.name == "cos")
