"""Kernels as loops: what shares memory, how many chunks, how many sweeps."""

import math
from typing import Any

import numpy as np
import pytest

import stagrad
from stagrad.ir import Along
from stagrad.ir.kernel import Kernel, Schedule, reads, writes
from stagrad.ir.nest import Loop
from stagrad.passes import lower
from tests.passes.programs import graph_of


def scheduled(function: Any, *avals: str) -> Schedule:
    return lower(graph_of(function, *avals), native=True).schedule


def kernels(result: Schedule) -> list[Kernel]:
    return [step for step in result.steps if isinstance(step, Kernel)]


def softmax(x: Any) -> Any:
    powers = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True)


def columns_centred(x: Any) -> Any:
    return np.sum(np.exp(x - x.mean(axis=0)) ** 2)


PROGRAMS = {
    "variance of columns": (lambda x: np.var(x, axis=0), "f64[20,50]"),
    "its gradient": (stagrad.grad(lambda x: np.sum(np.var(x, axis=0) ** 2)), "f64[20,50]"),
    "gradient of centring": (stagrad.grad(columns_centred), "f64[20,50]"),
    "softmax": (softmax, "f64[20,50]"),
    "gradient of softmax": (stagrad.grad(lambda x: np.sum(softmax(x) ** 2)), "f64[20,50]"),
    "a long chain": (lambda x: np.sum(np.exp(x @ x.T) @ x, axis=0), "f64[50,50]"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_result_takes_memory_only_of_what_no_other_point_reads(name: str) -> None:
    """A row that all rows read may not become the row that they are summed into."""
    result = scheduled(*PROGRAMS[name])
    for step in kernels(result):
        for store in step.stores:
            offset = result.offsets.get(store.buffer)
            shared = [load for load in step.loads if result.offsets.get(load.buffer, -1) == offset]
            for load in shared:
                assert load.index == store.index
                moving = {entry.axis for entry in load.index if isinstance(entry, Along)}
                assert moving == set(range(len(step.space)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_step_reads_and_writes_overlaps_only_from_the_same_place(name: str) -> None:
    result = scheduled(*PROGRAMS[name])
    for step in result.steps:
        for read in reads(step):
            for written in writes(step):
                if read not in result.offsets or written not in result.offsets:
                    continue
                first, second = result.offsets[read], result.offsets[written]
                if first != second:
                    after = first >= second + written.aval.nbytes
                    assert after or second >= first + read.aval.nbytes


@pytest.mark.parametrize("rows", [1, 2, 17, 1000, 1_000_000])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_chunks_cover_the_cut_loop(rows: int, axis: int | None) -> None:
    for step in kernels(scheduled(lambda x: np.sum(np.exp(x), axis=axis), f"f64[{rows},40]")):
        assert step.nest is not None
        if step.nest.chunk is not None:
            loop, length = step.nest.chunk
            assert length >= 1
            assert step.nest.chunks == max(1, math.ceil(step.nest.extents[loop] / length))


def sweeps_of(step: Kernel) -> int:
    """Return how many loops lie side by side inside the rows of a kernel."""
    assert step.nest is not None
    body = step.nest.body
    while True:
        loops = [item for item in body if isinstance(item, Loop)]
        if len(loops) != 1 or not any(isinstance(item, Loop) for item in loops[0].body):
            return len(loops)
        body = loops[0].body


def test_softmax_is_three_sweeps_of_one_kernel() -> None:
    (step,) = kernels(scheduled(softmax, "f64[100,40]"))
    assert sweeps_of(step) == 3


def test_neighbouring_axes_are_one_loop() -> None:
    (step,) = kernels(scheduled(lambda x: np.exp(x) + 1.0, "f64[20,30,40]"))
    assert step.nest is not None
    assert step.nest.extents == (24_000,)
