"""Printed text against PyTorch's own, kept as data."""

import json
from pathlib import Path

import pytest

import stagrad
from stagrad.eager import creation, printing
from stagrad.eager.dtypes import DTYPES

ROWS = json.loads((Path(__file__).parent / "data" / "printing.json").read_text())
SCOPE = {name: dtype for name, dtype in DTYPES.items() if name not in ("bool", "int", "float")} | {
    name: getattr(creation, name) for name in ("tensor", "zeros", "ones", "arange")
}


@pytest.fixture(autouse=True)
def _default_options():
    yield
    printing.set_printoptions(profile="default")


@pytest.mark.parametrize(("expression", "options", "text"), ROWS)
def test_prints_as_pytorch(expression, options, text):
    printing.set_printoptions(**options)
    assert repr(eval(expression, dict(SCOPE))) == text


@pytest.mark.parametrize(
    ("compute", "text"),
    [
        (lambda x: x * 2, "tensor([2., 4.], grad_fn=<MulBackward0>)"),
        (lambda x: (x * x).sum(), "tensor(5., grad_fn=<SumBackward0>)"),
        (lambda x: x.detach(), "tensor([1., 2.])"),
    ],
)
def test_prints_the_operation_it_came_from(compute, text):
    assert repr(compute(stagrad.tensor([1.0, 2.0], requires_grad=True))) == text


def test_unknown_profile_is_refused():
    with pytest.raises(ValueError, match="profile is one of default, short, full"):
        printing.set_printoptions(profile="long")
