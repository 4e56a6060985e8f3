"""Calls of functions and methods: printed text and gradients against PyTorch's, kept as data.

Each row is an expression of `X`, what PyTorch prints for it, and the gradient of `X` when the
results, weighted 1, 2, 3, ..., are added up.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import stagrad

ROWS = json.loads((Path(__file__).parent / "data" / "calls.json").read_text())


class _Names(dict):
    """The names of an expression: builtins where Python's are meant, all others stagrad's."""

    def __missing__(self, name):
        if name in ("abs", "float", "len"):
            raise KeyError(name)
        return getattr(stagrad, name)


def _evaluate(expression):
    x = stagrad.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, -1.5]], requires_grad=True)
    return x, eval(expression, {}, _Names(X=x))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("expression", "text", "gradient"), ROWS, ids=[row[0] for row in ROWS])
def test_call_as_pytorch(expression, text, gradient):
    x, result = _evaluate(expression)
    assert repr(result) == text
    if gradient is None:
        return
    total = 0.0
    for part in result if isinstance(result, tuple | list) else [result]:
        if isinstance(part, stagrad.Tensor) and part.requires_grad:
            weights = stagrad.arange(1, part.numel() + 1, dtype=stagrad.float64)
            part = part.abs() if part.is_complex() else part
            total = total + (part * weights.reshape(part.shape)).sum()
    total.backward()
    expected = [math.nan if g is None else float(g) for g in gradient]
    np.testing.assert_allclose(x.grad.numpy().ravel(), expected, rtol=2e-5, atol=2e-5)
