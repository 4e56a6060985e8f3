"""Emitted NumPy modules: what they look like, that they stand alone, and how they run."""

import math
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stagrad
from stagrad.codegen import emit_numpy
from stagrad.codegen.blocks import in_blocks
from stagrad.ir import Graph, interpret
from stagrad.passes import lower
from stagrad.passes.schedule import schedule
from stagrad.runtime import load
from tests.passes.programs import arguments_for, graph_of


def emitted(function: Any, *avals: str, name: str = "program") -> str:
    return emit_numpy(lower(graph_of(function, *avals)).schedule, name)


def body(source: str) -> list[str]:
    """Return the lines of the function, without comments."""
    lines = source[source.index('    """') :].splitlines()[1:]
    return [line.partition("  # ")[0].strip() for line in lines]


def test_a_line_of_the_program_is_a_line_of_the_source() -> None:
    def loss(x: Any, w: Any) -> Any:
        hidden = np.tanh(x @ w) + 1.0
        weights = x[:, :2] / (2.0 + hidden * hidden)
        return np.sum(weights * hidden, axis=0)

    source = emitted(loss, "f64[5,3]", "f64[3,2]")
    *lines, total, last = body(source)
    assert lines == [
        "hidden = np.tanh(x0 @ x1) + 1.0",
        "weights = x0[:, :2] / (2.0 + hidden * hidden)",
    ]
    assert total.endswith(" = np.sum(weights * hidden, axis=0)")
    assert last == f"return ({total.partition(' ')[0]},)"
    line = loss.__code__.co_firstlineno + 1
    assert f"# {Path(__file__).name}:{line}  hidden = np.tanh(x @ w) + 1.0" in source


EXPRESSIONS = {
    "products of sums": (lambda x, y: (x + y) * (x - y), "(x0 + x1) * (x0 - x1)"),
    "differences to the right": (lambda x, y: x - (y - x), "x0 - (x1 - x0)"),
    "differences to the left": (lambda x, y: x - y - x, "x0 - x1 - x0"),
    "negated sums": (lambda x, y: -(x + y), "-(x0 + x1)"),
    "sums of negated": (lambda x, y: -x - y, "-x0 - x1"),
    "quotients": (lambda x, y: x / (y / x), "x0 / (x1 / x0)"),
    "comparisons": (lambda x, y: (x < y) == (y < x), "(x0 < x1) == (x1 < x0)"),
    "negative constants": (lambda x, y: x - -2.5 * y, "x0 - -2.5 * x1"),
    "remainders": (lambda x, y: x % y // 2.0, "x0 % x1 // 2.0"),
    "views": (lambda x, y: x[1:] * y[:-1], "x0[1:] * x1[:2]"),
}


@pytest.mark.parametrize(("function", "text"), EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_operators_need_no_more_parentheses_than_python(function: Any, text: str) -> None:
    assert body(emitted(function, "f64[3]", "f64[3]"))[0].partition(" = ")[2] == text


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64", "c64", "c128"])
@pytest.mark.parametrize("number", [0.1, 1 / 3, 1e-5, -2.5, 1e4, math.inf, -0.0])
def test_constants_read_back_to_the_bit(dtype: str, number: float) -> None:
    graph = graph_of(lambda x: x * number + number, f"{dtype}[1]")
    run = load(emit_numpy(lower(graph).schedule, "program"), "program")
    for x in (np.array([3.0]), np.array([1 / 7])):
        argument = x.astype(graph.inputs[0].aval.dtype)
        with np.errstate(all="ignore"):
            want = interpret(graph, [argument])[0]
        np.testing.assert_array_equal(run(argument)[0], want)


def test_values_live_in_a_module_that_needs_numpy_alone(tmp_path: Path) -> None:
    source = emitted(
        lambda x: np.sum(np.log(1 + np.exp(x)) * np.cumsum(x)), "f64[200000]", name="loss"
    )
    (tmp_path / "loss.py").write_text(source)
    script = (
        "import sys; sys.modules['stagrad'] = None\n"
        "import numpy as np, loss\n"
        "print(repr(float(loss.loss(np.linspace(-1.0, 1.0, 200000))[0])))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    x = np.linspace(-1.0, 1.0, 200000)
    want = np.sum(np.logaddexp(0, x) * np.cumsum(x))
    np.testing.assert_allclose(float(ran.stdout), want, rtol=1e-9)


def test_no_warning_comes_from_what_was_not_asked_for() -> None:
    def function(x: Any) -> Any:
        return np.sum(np.where(x > 0, np.log(x), x))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slope = stagrad.grad(function)(np.array([0.0, -1.0, 2.0]))
    np.testing.assert_array_equal(slope, [1.0, 1.0, 0.5])


def test_the_callers_error_state_stays() -> None:
    compiled = stagrad.compile(lambda x: 1.0 / x)
    with np.errstate(divide="raise"):
        compiled(np.zeros(2))
        assert np.geterr()["divide"] == "raise"


STRIDES = {
    "transposed": lambda x: np.asfortranarray(x),
    "reversed": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "every other": lambda x: np.repeat(np.repeat(x, 2, 0), 2, 1)[::2, ::2],
    "repeated": lambda x: np.broadcast_to(x[:1], x.shape),
    "read only": lambda x: np.frombuffer(x.tobytes()).reshape(x.shape),
}


@pytest.mark.parametrize("layout", STRIDES.values(), ids=STRIDES)
@pytest.mark.parametrize("rows", [6, 60000])
def test_arguments_may_have_any_strides(layout: Any, rows: int) -> None:
    graph = graph_of(
        lambda x: (np.sin(x) * x.sum(1)[:, None], np.sum(np.exp(x), 0)), f"f64[{rows},4]"
    )
    x = layout(np.random.default_rng(0).normal(size=(rows, 4)))
    run = load(emit_numpy(lower(graph).schedule, "program"), "program")
    for got, want in zip(run(x), interpret(graph, [x]), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-11)


LARGE = {
    "a vector": (lambda x: (np.exp(x) * x, np.sum(np.exp(x) * x)), ["f64[300001]"]),
    "rows and columns": (
        lambda x, b: (np.tanh(x + b), (x * b).sum(0), (x * x).sum(1), np.max(np.abs(x))),
        ["f64[40001,7]", "f64[7]"],
    ),
    "a softmax": (
        lambda x: np.exp(x - x.max(1, keepdims=True)) / np.exp(x).sum(1)[:, None],
        ["f32[50003,5]"],
    ),
    "few long rows": (
        lambda x: (x * 2.0 - 1.0, (x * 2.0).sum(1), (x * 2.0).sum(0)), ["f64[3,90001]"],
    ),
    "neighbours": (lambda x: (x[1:] - x[:-1]) * x[1:], ["f64[300001]"]),
    "columns": (lambda x, c: x * c[:, None] + c[:, None] * 2.0, ["f64[60001,3]", "f64[60001]"]),
    "a transpose": (lambda x, y: np.exp(x.T) * y, ["f64[500,301]", "f64[301,500]"]),
    "a repeated row": (lambda x, b: (x * 0.0 + (b + b), b * 2.0), ["f64[60001,3]", "f64[3]"]),
    "minima and products": (
        lambda x: (np.min(x * x), np.prod(1 + x * 1e-6), np.any(x * 2 > 9), np.all(x * 2 < 9)),
        ["f64[300001]"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("function", "avals"), LARGE.values(), ids=LARGE)
def test_computing_in_chunks_gives_the_same(function: Any, avals: list[str]) -> None:
    graph = graph_of(function, *avals)
    arguments = arguments_for(graph)
    source = emit_numpy(lower(graph).schedule, "program")
    assert "in_blocks(k" in source
    for got, want in zip(
        load(source, "program")(*arguments), interpret(graph, arguments), strict=True
    ):
        rtol = 1e-12 if want.dtype == np.float64 else 1e-5
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol)


@given(st.integers(1, 1000), st.integers(1, 50))
def test_every_position_is_run_once(extent: int, length: int) -> None:
    counts = np.zeros(extent, int)
    numbers = []

    def kernel(rows: slice, number: int, counts: np.ndarray) -> None:
        counts[rows] += 1
        numbers.append((number, rows.start))

    in_blocks(kernel, extent, length, counts)
    assert (counts == 1).all()
    assert sorted(numbers) == [(place, place * length) for place in range(-(-extent // length))]


def test_an_error_in_a_chunk_is_the_callers() -> None:
    def kernel(rows: slice, number: int) -> None:
        if number == 90:
            raise MemoryError("chunk 90")

    with pytest.raises(MemoryError, match="chunk 90"):
        in_blocks(kernel, 100, 1)


def test_the_number_of_threads_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(lambda x: (np.sum(np.exp(x) * x), np.sin(x) * x), "f64[600000]")
    run = load(emit_numpy(lower(graph).schedule, "program"), "program")
    arguments = arguments_for(graph)
    results = []
    for processors in (1, 2, 7):
        monkeypatch.setattr("os.sched_getaffinity", lambda _, n=processors: range(n), raising=False)
        results.append([part.tobytes() for part in run(*arguments)])
    assert results[0] == results[1] == results[2]


def test_one_program_runs_in_many_threads() -> None:
    compiled = stagrad.value_and_grad(lambda x: np.sum(np.exp(x) * np.cumsum(x)))
    inputs = [np.linspace(0.0, 1.0 + place, 1000) for place in range(8)]
    wanted = [compiled(x) for x in inputs]
    found: dict[int, Any] = {}

    def work(place: int) -> None:
        for _ in range(20):
            found[place] = compiled(inputs[place])

    threads = [threading.Thread(target=work, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for place, (value, slope) in enumerate(wanted):
        assert found[place][0] == value
        np.testing.assert_array_equal(found[place][1], slope)


def test_sums_in_single_precision_are_as_good_as_numpys() -> None:
    compiled = stagrad.compile(lambda x: np.sum(np.sqrt(x) * 1.5))
    errors = []
    for seed in range(6):
        x = np.random.default_rng(seed).random(1_000_003, np.float32)
        terms = np.sqrt(x) * np.float32(1.5)
        exact = math.fsum(terms.tolist())
        errors.append([abs(float(total) - exact) for total in (compiled(x), np.sum(terms))])
    ours, numpys = np.sum(errors, axis=0)
    assert ours <= 1.5 * numpys


def test_scalars_come_back_as_numpy_scalars() -> None:
    def function(x: Any, rate: Any) -> Any:
        return np.sum(x), np.where(x[0] > 0, x[0], 1.0), x[0].reshape(()), rate * 2, rate > 1, x[1]

    results = stagrad.compile(function)(np.array([1.0, 2.0], np.float32), 3.0)
    kinds = [np.float32, np.float32, None, np.float64, np.bool_, np.float32]
    for result, kind in zip(results, kinds, strict=True):
        if kind is not None:
            assert type(result) is kind


def test_a_schedule_of_one_call_per_operation_prints_too() -> None:
    graph: Graph = graph_of(lambda x: np.sum(np.sin(x) * x), "f64[5]")
    run = load(emit_numpy(schedule(graph, kernels=False), "program"), "program")
    arguments = arguments_for(graph)
    assert run(*arguments)[0] == interpret(graph, arguments)[0]


def test_indices_of_one_element_keep_their_shape():
    def f(x, value):
        result = np.array(x)
        places = np.arange(len(value))
        result[places, places + 2] = value
        return result

    x, value = np.zeros((5, 3)), np.array([7.0])
    np.testing.assert_array_equal(stagrad.compile(f)(x, value), f(x, value))
