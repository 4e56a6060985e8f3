"""Scheduling: what shares a kernel, what is stored, what is updated in place, what overlaps."""

from typing import Any

import numpy as np
import pytest

import stagrad
from stagrad.codegen import emit_numpy
from stagrad.ir import Graph
from stagrad.ir.kernel import Copy, Fill, Kernel, LibraryCall, Reduce, Schedule
from stagrad.ir.verify_schedule import verify_schedule
from stagrad.passes.fuse import KERNEL_STATEMENTS
from stagrad.passes.schedule import schedule
from stagrad.runtime import load
from tests.passes.programs import graph_of


def scheduled(function: Any, *avals: str) -> Schedule:
    result = schedule(graph_of(function, *avals))
    verify_schedule(result)
    return result


def kernels(result: Schedule) -> list[Kernel]:
    return [step for step in result.steps if isinstance(step, Kernel)]


def softmax(x: Any) -> Any:
    powers = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True)


def layer_norm(x: Any, scale: Any) -> Any:
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.mean((x - mean) ** 2, axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * scale


ONE_KERNEL = {
    "a chain": (lambda x: np.sin(np.exp(x) * 2.0) + x, ["f64[50]"]),
    "a sum at the end": (lambda x: np.sum(np.exp(x) * x), ["f64[50]"]),
    "siblings": (lambda x: (np.sin(x), np.cos(x), np.sum(x * x)), ["f64[50,3]"]),
    "sums over several axes": (lambda x: (x.sum(0), x.sum(1), x.sum()), ["f64[50,3]"]),
    "softmax": (softmax, ["f64[50,9]"]),
    "softmax of stacks": (softmax, ["f64[4,5,9]"]),
    "layer norm": (layer_norm, ["f64[50,9]", "f64[9]"]),
    "variance": (lambda x: np.var(x, axis=1), ["f64[50,9]"]),
    "cross entropy": (lambda x: np.sum(np.log(np.sum(np.exp(x), axis=1))), ["f64[50,9]"]),
    "standardising a short vector": (lambda x: (x - x.mean()) / x.std(), ["f64[50]"]),
    "a bias": (lambda x, b: np.tanh(x + b), ["f64[50,9]", "f64[9]"]),
    "reading through views": (lambda x: x[1:, ::-1] - x[:-1].T.T, ["f64[50,9]"]),
    "reading a transpose": (lambda x, y: x.T * y, ["f64[9,50]", "f64[50,9]"]),
}


@pytest.mark.parametrize(("function", "avals"), ONE_KERNEL.values(), ids=ONE_KERNEL)
def test_takes_one_kernel_and_nothing_else(function: Any, avals: list[str]) -> None:
    result = scheduled(function, *avals)
    assert len(kernels(result)) == 1
    assert not [step for step in result.steps if isinstance(step, LibraryCall)]


@pytest.mark.parametrize("function", [softmax, lambda x: layer_norm(x, x[0])])
def test_the_backward_half_of_a_normalisation_takes_one_kernel(function: Any) -> None:
    def weighted(x: Any, weights: Any) -> Any:
        return np.sum(function(x) * weights)

    x = np.ones((40, 9))
    lowered = stagrad.grad(weighted).lower(x, x)
    large = [step for step in kernels(lowered.schedule) if step.size == x.size]
    assert len(large) == 1


SEVERAL_KERNELS = {
    "a total read again, too long to sweep": (lambda x: x / np.sum(x), ["f64[100000]"], 2),
    "columns read again": (lambda x: x - x.sum(axis=0), ["f64[50,9]"], 2),
    "two spaces": (lambda x, y: (np.sin(x), np.sin(y)), ["f64[50]", "f64[51]"], 2),
    "unrelated arrays of one shape": (lambda x, y: (np.sin(x), np.sin(y)), ["f64[50]"] * 2, 2),
    "an operand that would be computed for every row": (
        lambda x, b: x + np.exp(b), ["f64[50,9]", "f64[9]"], 2,
    ),
    "neighbours of a computed value": (
        lambda x: np.exp(x)[1:] - np.exp(x)[:-1], ["f64[50]"], 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("function", "avals", "count"), SEVERAL_KERNELS.values(), ids=SEVERAL_KERNELS
)
def test_takes_several_kernels(function: Any, avals: list[str], count: int) -> None:
    assert len(kernels(scheduled(function, *avals))) == count


def test_long_chains_are_cut() -> None:
    def chain(x: Any) -> Any:
        for _ in range(3 * KERNEL_STATEMENTS):
            x = np.sin(x)
        return x

    result = kernels(scheduled(chain, "f64[50]"))
    assert len(result) == 3
    assert max(len(kernel.statements) for kernel in result) <= KERNEL_STATEMENTS + 2


def test_what_the_backward_half_alone_reads_is_computed_there() -> None:
    """Of tanh's layer only its value is stored: 1 - tanh**2 moves to its reader."""

    def loss(w: Any, v: Any, x: Any) -> Any:
        return np.sum((np.tanh(x @ w) @ v) ** 2)

    shapes = (9, 8), (8, 7), (50, 9)
    lowered = stagrad.grad(loss, argnums=(0, 1)).lower(*map(np.ones, shapes))
    first = kernels(lowered.schedule)[0]
    assert len(first.stores) == 1
    operations = [item.primitive.name for item in first.statements if hasattr(item, "primitive")]
    assert operations == ["tanh"]


def test_swept_axes_are_those_whose_reductions_are_read() -> None:
    (kernel,) = kernels(scheduled(lambda x: (softmax(x), np.sum(x, axis=0)), "f64[50,9]"))
    assert kernel.cols == (1,)
    assert kernel.rows == (0,)
    over = [item.over for item in kernel.statements if isinstance(item, Reduce)]
    assert sorted(over) == [(0,), (1,), (1,)]


def test_filling_an_array_takes_no_copies() -> None:
    def fill(x: Any) -> Any:
        y = stagrad.ops.movement.zeros((30,), np.dtype("f8"), like=x)
        for place in range(30):
            y = stagrad.ops.slicing.set_slice(y, x[place] ** 2, (place,))
        return y

    steps = scheduled(fill, "f64[30]").steps
    assert not [step for step in steps if isinstance(step, Copy)]
    assert len([step for step in steps if isinstance(step, Fill)]) == 1
    assert all(step.in_place for step in steps if isinstance(step, LibraryCall))


def test_what_is_read_later_is_copied_before_it_is_updated() -> None:
    def function(x: Any) -> Any:
        y = np.sort(x)
        z = stagrad.ops.slicing.set_slice(y, x[0], (0,))
        return y, z

    (copy,) = [s for s in scheduled(function, "f64[30]").steps if isinstance(s, Copy)]
    assert copy.operand.aval == copy.result.aval


def test_what_a_reshape_of_it_still_needs_is_copied_too() -> None:
    def function(x: Any) -> Any:
        y = np.sort(x)
        flat = np.reshape(y, (12,))
        z = stagrad.ops.slicing.set_slice(y, x[0], (0, None))
        return z, np.cumsum(flat * np.sum(z))

    assert [s for s in scheduled(function, "f64[3,4]").steps if isinstance(s, Copy)]


ALIASING = {
    "an input": lambda x: x,
    "an input twice": lambda x: (x, x),
    "views of an input": lambda x: (x.T, x[1:], np.broadcast_to(x, (2, 3, 4)), x.reshape(-1)),
    "a constant": lambda x: stagrad.ops.movement.zeros((5,), np.dtype("f8"), like=x),
    "one value twice": lambda x: (np.sort(x), np.sort(x)),
    "a value and its view": lambda x: (np.sort(x), np.sort(x).T),
    "the real part": lambda x: (x.astype(complex).real, x.astype(complex).imag),
}


@pytest.mark.parametrize("function", ALIASING.values(), ids=ALIASING)
def test_results_own_their_memory(function: Any) -> None:
    scheduled(function, "f64[3,4]")
    x = np.arange(12.0).reshape(3, 4)
    results = stagrad.compile(function)(x)
    results = results if isinstance(results, tuple) else (results,)
    for place, result in enumerate(results):
        assert not np.shares_memory(result, x)
        assert result.flags.writeable
        assert not any(np.shares_memory(result, other) for other in results[:place])


def test_the_workspace_is_reused() -> None:
    def chain(x: Any) -> Any:
        for _ in range(10):
            x = np.sort(np.cumsum(x))
        return x

    assert scheduled(chain, "f64[1000]").workspace == 2 * 8000


def test_a_kernel_writes_over_what_it_reads_last() -> None:
    result = scheduled(lambda x: np.sort(np.exp(np.sort(x))), "f64[1000]")
    assert result.workspace == 8000


def test_without_kernels_every_operation_is_a_step() -> None:
    graph = graph_of(lambda x: np.sum(np.sin(x) * x), "f64[5]")
    result = schedule(graph, kernels=False)
    verify_schedule(result)
    assert [step.primitive.name for step in result.steps] == ["sin", "multiply", "sum"]  # type: ignore[union-attr]


CHUNKED = {
    "a long vector": (lambda x: np.exp(x) * x, ["f64[1000000]"], 0, 4096),
    "single precision": (lambda x: np.exp(x) * x, ["f32[1000000]"], 0, 8192),
    "rows": (softmax, ["f64[100000,10]"], 0, 409),
    "few long rows": (lambda x: np.exp(x) * x, ["f64[3,1000000]"], 1, 1365),
    "sums of columns": (lambda x: np.sum(np.exp(x), axis=0), ["f64[10000,300]"], 0, 32),
}


@pytest.mark.parametrize(("function", "avals", "axis", "length"), CHUNKED.values(), ids=CHUNKED)
def test_is_cut_to_the_size_of_the_cache(
    function: Any, avals: list[str], axis: int, length: int
) -> None:
    (kernel,) = kernels(scheduled(function, *avals))
    assert kernel.chunks is not None
    assert (kernel.chunks.axis, kernel.chunks.length) == (axis, length)


WHOLE = {
    "short": (lambda x: np.exp(x) * x, ["f64[1000]"]),
    "one operation": (lambda x: np.exp(x), ["f64[1000000]"]),
}


@pytest.mark.parametrize(("function", "avals"), WHOLE.values(), ids=WHOLE)
def test_is_not_cut(function: Any, avals: list[str]) -> None:
    (kernel,) = kernels(scheduled(function, *avals))
    assert kernel.chunks is None


def test_a_graph_without_results_has_an_empty_schedule() -> None:
    graph = graph_of(lambda x: x, "f64[3]")
    assert schedule(Graph(graph.inputs, [])).steps == ()


def test_nothing_recurses_and_work_grows_with_the_program() -> None:
    def chain(x: Any) -> Any:
        for _ in range(2500):
            x = np.sort(np.sin(x)) * 1.5
        return x

    result = scheduled(chain, "f64[5]")
    source = emit_numpy(result, "chain")
    x = np.linspace(0.0, 1.0, 5)
    want = x
    for _ in range(2500):
        want = np.sort(np.sin(want)) * 1.5
    np.testing.assert_allclose(load(source, "chain")(x)[0], want)
