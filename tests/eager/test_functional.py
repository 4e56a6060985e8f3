"""Functions of `nn.functional` have PyTorch 2.13's numbers, gradients and names of nodes.

`data/functional.json` holds calls, cotangents, and what PyTorch makes of them in float64. Arguments
`{"leaf": …}` are tensors that require grad, `{"constant": …}` other tensors.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import stagrad
import stagrad.nn.functional as F

RECORDED = json.loads((Path(__file__).parent / "data" / "functional.json").read_text())


def tensors_of(value, leaves):
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, dict):
        return value
    array = np.array(next(iter(value.values())))
    if "constant" in value:
        return stagrad.tensor(array)
    leaves.append(stagrad.tensor(array, requires_grad=True))
    return leaves[-1]


def call(record):
    leaves = []
    args = [tensors_of(value, leaves) for value in record["args"]]
    options = {name: tensors_of(value, leaves) for name, value in record["options"].items()}
    return getattr(F, record["name"])(*args, **options), leaves


@pytest.mark.parametrize(
    "record", RECORDED, ids=lambda r: f"{r['name']}-{len(r['args'])}-{r['options']}"[:60]
)
@pytest.mark.filterwarnings("ignore:reduction. 'mean':UserWarning")
def test_values_gradients_and_names(record):
    result, leaves = call(record)
    results = result if isinstance(result, tuple) else (result,)
    for tensor, want in zip(results, record["outputs"], strict=True):
        assert tensor.shape == np.shape(want)
        np.testing.assert_allclose(tensor.detach().numpy(), want, rtol=1e-9, atol=1e-10)
    if record["grad_fn"] is None:
        assert not leaves or results[0] is leaves[0]
        return
    assert results[0].grad_fn.name() == record["grad_fn"]
    cotangent = stagrad.tensor(np.array(record["cotangent"]))
    gradients = stagrad.autograd.grad(results[0], leaves, cotangent)
    for gradient, want in zip(gradients, record["gradients"], strict=True):
        np.testing.assert_allclose(gradient.numpy(), want, rtol=1e-8, atol=1e-9)
