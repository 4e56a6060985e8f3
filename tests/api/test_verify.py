"""`verify=True` and STAGRAD_VERIFY: wrong results do not go unnoticed, right ones pass."""

from typing import Any

import numpy as np
import pytest

import stagrad
import stagrad.api.lowering as lowering
from stagrad.errors import VerifyError
from stagrad.ops.arithmetic import add_p, subtract_p
from stagrad.passes.rewrite import Rewriter, rewrite

X = np.linspace(0.1, 2.0, 7)


def curve(x: Any) -> Any:
    height = np.sin(x) * x
    return np.sum(np.exp(height) + x)


def spoil(graph: Any) -> Any:
    def minus_for_plus(rewriter: Rewriter, node: Any) -> Any:
        return rewriter.make(subtract_p, *node.inputs)

    return rewrite(graph, {add_p: (minus_for_plus,)})


@pytest.fixture
def spoilt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler with a wrong pass in it."""
    pipeline = (("spoil", spoil), *lowering.PIPELINE)
    monkeypatch.setattr(lowering, "PIPELINE", pipeline)
    monkeypatch.setattr("stagrad.passes.PIPELINE", pipeline)


@pytest.mark.usefixtures("spoilt")
def test_a_wrong_compiler_is_found_out() -> None:
    with pytest.raises(VerifyError) as caught:
        stagrad.compile(curve, verify=True)(X)
    line = curve.__code__.co_firstlineno + 2
    assert f"The pass spoil changes it, first in add: f64[7] at {__file__}:{line}" in str(
        caught.value
    )


@pytest.mark.usefixtures("spoilt")
@pytest.mark.parametrize("transform", [stagrad.grad, stagrad.value_and_grad, stagrad.compile])
def test_the_environment_asks_for_every_program(
    transform: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAGRAD_VERIFY", "1")
    with pytest.raises(VerifyError, match="The pass spoil changes it"):
        transform(lambda x: np.sum(x**3 + np.sin(x) * x))(X)


@pytest.mark.usefixtures("spoilt")
def test_unasked_nothing_is_checked() -> None:
    assert stagrad.compile(curve)(X) != curve(X)


@pytest.mark.parametrize("transform", [stagrad.grad, stagrad.hessian, stagrad.compile])
def test_right_programs_pass(transform: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = transform(curve)(X)
    monkeypatch.setenv("STAGRAD_VERIFY", "1")
    np.testing.assert_array_equal(transform(curve)(X), plain)
