"""Self-checking compilation: right programs pass, and planted faults are found and named."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stagrad.codegen import emit_numpy
from stagrad.errors import VerifyError
from stagrad.ir import Graph, Kind, Primitive, bind
from stagrad.ops.arithmetic import add_p, subtract_p
from stagrad.passes import PIPELINE, lower
from stagrad.passes.reverse import reverse
from stagrad.passes.rewrite import Rewriter, rewrite
from stagrad.runtime import Subject, load, verified
from tests.op_cases.programs import trace


def build(graph: Graph) -> Callable[..., Any]:
    return load(emit_numpy(lower(graph).schedule, "program"), "program")


def build_without_passes(graph: Graph) -> Callable[..., Any]:
    from stagrad.passes.schedule import schedule

    return load(emit_numpy(schedule(graph), "program"), "program")


def subject(function: Callable[..., Any], *arguments: Any, **fields: Any) -> Subject:
    graph = trace(function, arguments).graph
    return Subject(
        **{
            "graph": graph,
            "run": build(graph),
            "passes": dict(PIPELINE),
            "build": build_without_passes,
            "primal": graph,
            "differentiate": lambda graph, wrt: reverse(graph, wrt),
            **fields,
        }
    )


X = np.linspace(-1.0, 2.0, 7)


def smooth(x: Any) -> Any:
    height = np.sin(x) * x
    return np.sum(np.exp(-height) + x)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_a_right_program_passes(dtype: str) -> None:
    x = X.astype(dtype)
    np.testing.assert_allclose(verified(subject(smooth, x))(x)[0], smooth(x), rtol=1e-5)


@pytest.mark.parametrize(
    "function", [np.abs, np.sign, np.floor, np.sqrt, np.log, lambda x: np.maximum(x, 0.0)]
)
def test_kinks_poles_and_steps_are_no_faults(function: Callable[..., Any]) -> None:
    x = np.array([0.0, -0.0, 1.0, -2.0, np.inf, np.nan])
    with np.errstate(all="ignore"):
        verified(subject(function, x))(x)


def test_sums_that_cancel_are_no_faults() -> None:
    x = np.concatenate([X * 1e12, -X * 1e12, [1.0]])
    verified(subject(lambda x: np.sum(x) / 3.0, x))(x)


def minus_for_plus(graph: Graph) -> Graph:
    def spoil(rewriter: Rewriter, node: Any) -> Any:
        return rewriter.make(subtract_p, *node.inputs)

    return rewrite(graph, {add_p: (spoil,)})


def test_a_wrong_pass_is_named_with_the_line_it_spoils() -> None:
    program = subject(smooth, X)
    spoilt = Subject(
        program.graph,
        build(minus_for_plus(program.graph)),
        {"fold": dict(PIPELINE)["fold"], "spoil": minus_for_plus},
        build_without_passes,
    )
    with pytest.raises(VerifyError) as caught:
        verified(spoilt)(X)
    message = str(caught.value)
    line = smooth.__code__.co_firstlineno + 2
    assert "The pass spoil changes it, first in add" in message
    assert f"test_verify.py:{line}" in message


def test_wrong_source_is_named_with_the_line_it_spoils() -> None:
    def spoilt(graph: Graph) -> Callable[..., Any]:
        text = emit_numpy(lower(graph).schedule, "program")
        return load(text.replace("np.exp", "np.expm1"), "program")

    program = subject(smooth, X)
    with pytest.raises(VerifyError, match=r"The emitted source changes it, first in exp"):
        verified(subject(smooth, X, run=spoilt(program.graph), build=spoilt))(X)


wrong_p = Primitive(
    name="wrong_square",
    kind=Kind.ELEMENTWISE,
    doc="A square with a wrong derivative.",
    vjps=(lambda ct, out, x: ct * x,),
    abstract_eval=lambda avals, params: avals[0],
    py="xp.square({0})",
    c="{0} * {0}",
)


def test_a_wrong_derivative_is_named_with_its_line() -> None:
    def function(x: Any) -> Any:
        y = np.sin(x)
        z = bind(wrong_p, y)
        return np.sum(z * x)

    with pytest.raises(VerifyError) as caught:
        verified(subject(function, X))(X)
    assert "the derivative is wrong, first that of wrong_square" in str(caught.value)
    assert f"test_verify.py:{function.__code__.co_firstlineno + 2}" in str(caught.value)
