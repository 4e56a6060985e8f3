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
from stagrad import nn

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
    assert results[0].grad_fn.name().removeprefix("torch::autograd::") == record["grad_fn"]
    cotangent = stagrad.tensor(np.array(record["cotangent"]))
    gradients = stagrad.autograd.grad(results[0], leaves, cotangent)
    for gradient, want in zip(gradients, record["gradients"], strict=True):
        np.testing.assert_allclose(gradient.numpy(), want, rtol=1e-8, atol=1e-9)


def is_smooth(record):
    """Say whether no argument lies on a kink, as those of activations and pooled ties do."""
    leaves = [
        value["leaf"] for value in record["args"] if isinstance(value, dict) and "leaf" in value
    ]
    return record["grad_fn"] is not None and not any(np.any(np.array(x) == 0) for x in leaves)


@pytest.mark.parametrize(
    "record", list(filter(is_smooth, RECORDED)), ids=lambda r: f"{r['name']}-{r['options']}"[:60]
)
def test_second_derivatives_and_single_precision(record):
    def function(*leaves):
        given = iter(leaves)

        def value_of(value):
            is_leaf = isinstance(value, dict) and "leaf" in value
            value = next(given) if is_leaf else tensors_of(value, [])
            is_float = isinstance(value, stagrad.Tensor) and value.is_floating_point()
            return value.to(leaves[0].dtype) if is_float and not is_leaf else value

        args = [value_of(value) for value in record["args"]]
        options = {name: value_of(value) for name, value in record["options"].items()}
        result = getattr(F, record["name"])(*args, **options)
        return result[0] if isinstance(result, tuple) else result

    _, leaves = call(record)
    assert stagrad.autograd.gradgradcheck(function, leaves, atol=1e-4, rtol=1e-3)
    single = [leaf.detach().float().requires_grad_() for leaf in leaves]
    result = function(*single)
    assert result.dtype == np.float32
    for gradient in stagrad.autograd.grad(result.sum(), single):
        assert gradient.dtype == np.float32


@pytest.mark.parametrize(
    ("work", "error", "words"),
    [
        (lambda x: F.linear(x, x[:, :1]), RuntimeError, r"mat1 and mat2 .* \(2x3 and 1x2\)"),
        (lambda x: F.cross_entropy(x, stagrad.tensor([0, 3])), IndexError, "Target 3 is out of b"),
        (
            lambda x: F.nll_loss(x, stagrad.tensor([0])),
            ValueError,
            r"input batch_size \(2\) to match target",
        ),
        (lambda x: F.mse_loss(x, x, reduction="avg"), ValueError, "avg is not a valid value"),
        (lambda x: F.layer_norm(x, (2,)), RuntimeError, r"normalized_shape=\[2\]"),
        (lambda x: F.batch_norm(x[:1], None, None, training=True), ValueError, "more than 1 value"),
        (lambda x: F.embedding(stagrad.tensor([2]), x), IndexError, "index out of range in self"),
        (
            lambda x: F.conv2d(x.reshape(2, 1, 3), x[None, None]),
            RuntimeError,
            "to have 1 channels, but got 2",
        ),
        (lambda x: F.conv1d(x[0], x), RuntimeError, r"Expected 2D .* input of size: \[3\]"),
        (lambda x: F.max_pool2d(x[None], 4), RuntimeError, "Output size is too small"),
        (lambda x: F.dropout(x, 1.5), ValueError, "between 0 and 1, but got 1.5"),
        (lambda x: F.one_hot(stagrad.tensor([-1])), RuntimeError, "must be non-negative"),
        (lambda x: F.interpolate(x[None], size=4, mode="bilinear"), NotImplementedError, "bilin"),
        (lambda x: F.pad(x, (1, 1), mode="mirror"), NotImplementedError, "mode mirror"),
        (lambda x: F.gelu(x, approximate="erf"), RuntimeError, "either none or tanh"),
        (lambda x: F.binary_cross_entropy(x + 2, x), RuntimeError, "between 0 and 1"),
    ],
)
def test_errors_name_what_is_wrong(work, error, words):
    with pytest.raises(error, match=words):
        work(stagrad.ones(2, 3, requires_grad=True))


def test_running_statistics_follow_batches_and_serve_in_evaluation():
    x = stagrad.tensor([[1.0, 10.0], [3.0, 30.0]], requires_grad=True)
    mean, variance = stagrad.zeros(2), stagrad.ones(2)
    F.batch_norm(x, mean, variance, training=True, momentum=0.5)
    np.testing.assert_allclose(mean.numpy(), [1, 10])
    np.testing.assert_allclose(variance.numpy(), [1.5, 100.5])
    result = F.batch_norm(x, mean, variance, eps=0.0)
    np.testing.assert_allclose(
        result.detach().numpy(), (x.detach().numpy() - [1, 10]) / np.sqrt([1.5, 100.5]), rtol=1e-6
    )


def test_dropout_keeps_the_mean_and_zeroes_by_chance():
    stagrad.manual_seed(0)
    x = stagrad.ones(10_000, requires_grad=True)
    result = F.dropout(x, 0.25)
    kept = result.detach().numpy() != 0
    assert abs(kept.mean() - 0.75) < 0.02
    np.testing.assert_allclose(result.detach().numpy()[kept], 1 / 0.75, rtol=1e-6)
    result.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), result.detach().numpy())
    assert F.dropout(x, 0.25, training=False) is x
    channels = F.dropout2d(stagrad.ones(8, 8, 3, 3)).numpy().reshape(64, -1)
    assert set(map(tuple, channels)) == {(0.0,) * 9, (2.0,) * 9}


def test_inplace_writes_the_argument():
    x = stagrad.tensor([-1.0, 2.0])
    assert F.relu(x, inplace=True) is x
    assert x.tolist() == [0.0, 2.0]
    leaf = stagrad.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        F.relu(leaf, inplace=True)


def test_cross_entropy_is_two_nodes():
    logits = stagrad.ones(2, 3, requires_grad=True)
    loss = F.cross_entropy(logits, stagrad.tensor([0, 1]))
    ((before, _),) = loss.grad_fn.next_functions
    assert [loss.grad_fn.name(), before.name()] == ["NllLossBackward0", "LogSoftmaxBackward0"]


def test_modules_apply_their_functions():
    x = stagrad.tensor([[-1.0, 2.0]])
    for name in ("ReLU", "GELU", "SiLU", "Sigmoid", "Tanh", "Softplus"):
        want = getattr(F, name.lower())(x)
        np.testing.assert_array_equal(getattr(nn, name)()(x).numpy(), want.numpy())
