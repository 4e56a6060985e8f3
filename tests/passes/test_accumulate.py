"""Cotangents of parts: added into one array, in place, without arrays that are mostly zero."""

from typing import Any

import numpy as np
import pytest

import stagrad
from stagrad.ir import Graph
from stagrad.ir.kernel import Copy, LibraryCall
from tests.passes.programs import canonical, graph_of

X = np.random.default_rng(0).normal(size=9)


def names(graph: Graph) -> list[str]:
    return [node.primitive.name for node in graph.nodes]


def neighbours(x: Any) -> Any:
    return np.sum((x[1:] - x[:-1]) ** 2) + np.sum(x[::2]) * x[3]


def picked(x: Any) -> Any:
    return np.sum(x[[0, 1, 1]] ** 3) + np.sum(x[[2, 2]] * x[:2])


@pytest.mark.parametrize("function", [neighbours, picked])
def test_one_array_takes_all_parts(function: Any) -> None:
    lowered = stagrad.grad(function).lower(X)
    after = names(lowered.stages["accumulate"])
    assert "pad" not in after
    steps = lowered.schedule.steps
    assert not [step for step in steps if isinstance(step, Copy)]
    updates = [s for s in steps if isinstance(s, LibraryCall) and s.primitive.update is not None]
    assert len(updates) > 1
    assert all(step.in_place for step in updates)
    assert len({step.results[0].name for step in updates}) == 1


def test_the_numbers_are_those_of_differences() -> None:
    for function in (neighbours, picked):
        stagrad.testing.check_grads(function, (X,), order=2)


def test_what_the_user_pads_and_adds_stays() -> None:
    def function(x: Any) -> Any:
        return np.pad(x[1:], (1, 0)) + np.pad(x[:-1], (0, 1))

    lowered = stagrad.compile(function).lower(X)
    assert "add_slice" not in names(lowered.stages["accumulate"])
    graph = lowered.stages["simplify"]
    assert canonical(lowered.stages["accumulate"]) == canonical(graph)


def test_a_loop_that_fills_an_array_is_differentiated_without_copies() -> None:
    def function(x: Any) -> Any:
        y = np.zeros(9)
        for place in range(1, 9):
            y[place] = x[place] * y[place - 1] + 1.0
        return np.sum(y * y)

    lowered = stagrad.grad(function).lower(X)
    assert not [step for step in lowered.schedule.steps if isinstance(step, Copy)]
    stagrad.testing.check_grads(function, (X,), order=1)


def test_parts_that_are_needed_elsewhere_are_not_taken_over() -> None:
    graph = graph_of(lambda x: x, "f64[9]")
    assert canonical(graph) == canonical(graph)

    def function(x: Any) -> Any:
        return np.sum(stagrad.grad(neighbours)(x) ** 2)

    stagrad.testing.check_grads(function, (X,), order=1)
