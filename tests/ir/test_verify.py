"""Planted faults in graphs and schedules are found."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stagrad.errors import VerifyError
from stagrad.ir import Graph, Node, Source, input_p, parse_aval
from stagrad.ir.index import Along
from stagrad.ir.kernel import Buffer, Kernel, LibraryCall, Role, Schedule, Store
from stagrad.ir.verify import verify_graph
from stagrad.ir.verify_schedule import verify_schedule
from stagrad.ops.arithmetic import add_p
from stagrad.ops.exponential import exp_p
from stagrad.ops.reduction import sum_p
from stagrad.passes.schedule import schedule
from tests.passes.programs import graph_of

F8, F4, SHORT = map(parse_aval, ("f64[3]", "f32[3]", "f64[2]"))


def an_input(aval: Any = F8) -> Node:
    return Node(input_p, (), {}, (aval,))


def node(primitive: Any, inputs: tuple[Node, ...], aval: Any = F8, **params: Any) -> Node:
    source = Source("model.py", 7, "loss")
    return Node(primitive, inputs, params, (aval,), source)


def young_operand(x: Node) -> Graph:
    young = node(exp_p, (x,))
    old = Node(add_p, (x, young), {}, (F8,), serial=young.serial - 1)
    return Graph([x], [old])


FAULTS: dict[str, tuple[Callable[[Node], Graph], str]] = {
    "an input twice": (lambda x: Graph([x, x], [x]), "twice"),
    "an input not listed": (lambda x: Graph([], [node(exp_p, (x,))]), "does not list"),
    "an operation listed as input": (lambda x: Graph([node(exp_p, (x,))], [x]), "is none"),
    "too few operands": (lambda x: Graph([x], [node(add_p, (x,))]), "has 1 operands"),
    "a wrong aval": (lambda x: Graph([x], [node(exp_p, (x,), F4)]), "its record gives"),
    "a wrong dtype": (
        lambda x: Graph([x], [node(exp_p, (x,), parse_aval("i64[3]"))]), "its record gives",
    ),
    "implicit broadcasting": (
        lambda x: Graph([x], [node(add_p, (x, node(sum_p, (x,), parse_aval("f64[]"), axis=(0,))))]),
        "broadcasts implicitly",
    ),
    "params that do not hash": (
        lambda x: Graph([x], [node(sum_p, (x,), parse_aval("f64[]"), axis=[0])]), "be hashed",
    ),
    "an operand younger than its reader": (young_operand, "is older than its operand"),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_in_a_graph_is_found(spoil: Callable[[Node], Graph], message: str) -> None:
    with pytest.raises(VerifyError, match=message):
        verify_graph(spoil(an_input()))


def test_the_message_names_the_line() -> None:
    with pytest.raises(VerifyError, match=r"exp.*\(at model\.py:7\)"):
        verify_graph(Graph([x := an_input()], [node(exp_p, (x,), F4)]))


def program(x: Any, y: Any) -> Any:
    z = np.sort(np.exp(x) + y)
    return np.sum(np.cumsum(z) * x), z[1:]


def steps_of(result: Schedule, kind: type) -> list[Any]:
    return [step for step in result.steps if isinstance(step, kind)]


def with_step(result: Schedule, old: Any, new: Any) -> Schedule:
    steps = tuple(new if step is old else step for step in result.steps)
    return dataclasses.replace(result, steps=steps)


def with_statements(result: Schedule, change: Callable[[tuple[Any, ...]], Any]) -> Schedule:
    kernel = steps_of(result, Kernel)[0]
    changed = dataclasses.replace(kernel, statements=tuple(change(kernel.statements)))
    return with_step(result, kernel, changed)


def moved(item: Any) -> Any:
    if isinstance(item, Store):
        return dataclasses.replace(item, index=(Along(0, start=1),))
    return item


def renamed(result: Schedule) -> Schedule:
    call = steps_of(result, LibraryCall)[0]
    buffer = call.results[0]
    twin = Buffer(result.inputs[0].name, buffer.aval, Role.TEMPORARY, buffer.node)
    return with_step(result, call, dataclasses.replace(call, results=(twin,)))


SCHEDULE_FAULTS: dict[str, tuple[Callable[[Schedule], Schedule], str]] = {
    "steps out of order": (
        lambda s: dataclasses.replace(s, steps=s.steps[::-1], releases=s.releases[::-1]),
        "not there",
    ),
    "released too early": (
        lambda s: dataclasses.replace(s, releases=(s.releases[-1], *s.releases[:-1])),
        "not there",
    ),
    "a result that is an input": (
        lambda s: dataclasses.replace(s, outputs=(s.inputs[0], *s.outputs[1:])),
        "is the memory of",
    ),
    "one result twice": (
        lambda s: dataclasses.replace(s, outputs=(s.outputs[0],) * 2), "share their memory",
    ),
    "one name for two arrays": (renamed, "given to two arrays"),
    "everything at one offset": (
        lambda s: dataclasses.replace(s, offsets=dict.fromkeys(s.offsets, 0)), "overlap",
    ),
    "too small a workspace": (lambda s: dataclasses.replace(s, workspace=8), "too small"),
    "a statement before its operand": (
        lambda s: with_statements(s, lambda items: items[::-1]), "before it is computed",
    ),
    "a store outside its buffer": (
        lambda s: with_statements(s, lambda items: map(moved, items)), "leaves",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "message"), SCHEDULE_FAULTS.values(), ids=SCHEDULE_FAULTS)
def test_a_fault_in_a_schedule_is_found(
    spoil: Callable[[Schedule], Schedule], message: str
) -> None:
    result = schedule(graph_of(program, "f64[30]", "f64[30]"))
    verify_schedule(result)
    with pytest.raises(VerifyError, match=message):
        verify_schedule(spoil(result))
