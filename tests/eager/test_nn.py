"""Modules compute and differentiate as PyTorch 2.13's, print as they do, and save and load.

`data/modules.json` holds for each module its parameters, inputs and cotangents, and what PyTorch
makes of them in float64.
"""

import json
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

import stagrad
from stagrad import nn

RECORDED = json.loads((Path(__file__).parent / "data" / "modules.json").read_text())


def as_arguments(values):
    return [tuple(value) if isinstance(value, list) else value for value in values]


def flat(result):
    if isinstance(result, tuple | list):
        return [part for item in result for part in flat(item)]
    return [] if result is None else [result]


def leaf(values):
    return stagrad.tensor(np.array(values, float), requires_grad=True)


@pytest.mark.parametrize("record", RECORDED, ids=lambda r: f"{r['name']}-{r['options']}")
def test_modules(record):
    options = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in record["options"].items()
    }
    module = getattr(nn, record["name"])(*as_arguments(record["args"]), **options).double()
    assert repr(module) == record["text"]
    assert [name for name, _ in module.named_parameters()] == list(record["parameters"])
    module.load_state_dict(
        {name: np.array(value) for name, value in record["parameters"].items()}, strict=False
    )
    inputs = [leaf(value) for value in record["inputs"]]
    given = [stagrad.tensor(record["ints"])] if record["ints"] else inputs
    outputs = flat(module(*given))
    loss = 0.0
    for output, want, cotangent in zip(
        outputs, record["outputs"], record["cotangents"], strict=True
    ):
        np.testing.assert_allclose(output.detach().numpy(), want, rtol=1e-9, atol=1e-10)
        loss = loss + (output * np.array(cotangent)).sum()
    loss.backward()
    for tensor, want in zip(inputs, record["input_gradients"], strict=True):
        np.testing.assert_allclose(tensor.grad.numpy(), want, rtol=1e-8, atol=1e-9)
    for name, parameter in module.named_parameters():
        want = record["parameter_gradients"][name]
        np.testing.assert_allclose(parameter.grad.numpy(), want, rtol=1e-8, atol=1e-9)
    for name, buffer in module.named_buffers():
        np.testing.assert_allclose(buffer.numpy(), record["buffers"][name], rtol=1e-9)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
        self.scale = nn.Parameter(stagrad.ones(1))
        self.register_buffer("calls", stagrad.tensor(0))
        self.tied = self.body[0]

    def forward(self, x):
        return self.body(x) * self.scale


def test_registration_and_names():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == [
        "scale", "body.0.weight", "body.0.bias", "body.2.weight", "body.2.bias",
    ]  # fmt: skip
    assert [name for name, _ in net.named_buffers()] == ["calls"]
    assert list(net.state_dict())[:2] == ["scale", "calls"]
    assert "tied.weight" not in dict(net.named_parameters())
    assert not net.eval().body[1].training
    assert net.train().body[1].training
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        net.missing  # noqa: B018
    with pytest.raises(TypeError, match=r"nn\.Parameter or None expected"):
        net.scale = 3.0
    del net.scale
    assert "scale" not in dict(net.named_parameters())


def test_state_is_loaded_whole_or_not_at_all():
    first, second = Net(), Net()
    assert repr(second.load_state_dict(first.state_dict())) == "<All keys matched successfully>"
    x = stagrad.ones(4, 2)
    np.testing.assert_array_equal(first(x).detach().numpy(), second(x).detach().numpy())
    state = OrderedDict(first.state_dict())
    state["body.2.weight"] = np.zeros((2, 2))
    state["extra"] = state.pop("scale")
    before = second.body[0].weight.detach().numpy().copy()
    with pytest.raises(RuntimeError) as caught:
        second.load_state_dict(state)
    for words in ("Unexpected key(s)", '"scale"', "size mismatch for body.2.weight"):
        assert words in str(caught.value)
    np.testing.assert_array_equal(second.body[0].weight.detach().numpy(), before)


def test_a_model_trains():
    stagrad.manual_seed(0)
    rng = np.random.default_rng(0)
    x = stagrad.tensor(rng.normal(size=(64, 2)).astype(np.float32))
    y = (x[:, :1] * x[:, 1:]).detach()
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = stagrad.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(200):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.1 * losses[0]


def test_forward_hooks_and_parameters_without_gradients():
    net = Net()
    seen = []
    handle = net.register_forward_hook(lambda module, args, result: seen.append(result.shape))
    net(stagrad.ones(4, 2))
    handle.remove()
    net(stagrad.ones(4, 2))
    assert seen == [(4, 1)]
    net.requires_grad_(False)
    assert not net(stagrad.ones(4, 2)).requires_grad


def test_options_of_functions_reach_them():
    assert repr(nn.ReLU(inplace=True)) == "ReLU(inplace=True)"
    assert repr(nn.Dropout(0.1, inplace=True)) == "Dropout(p=0.1, inplace=True)"
    with pytest.raises(TypeError, match="unexpected argument 'slope'; its options are: negative_"):
        nn.LeakyReLU(slope=0.1)
    x = stagrad.tensor([-1.0, 2.0])
    assert nn.ReLU(True)(x) is x
    logits, target = stagrad.tensor([[1.0, 2.0], [3.0, 0.0]]), stagrad.tensor([0, 1])
    weight = stagrad.tensor([1.0, 3.0])
    loss = nn.CrossEntropyLoss(weight, label_smoothing=0.1)
    want = nn.functional.cross_entropy(logits, target, weight, label_smoothing=0.1)
    assert loss(logits, target).item() == want.item()
    assert repr(loss) == "CrossEntropyLoss()"
    assert list(loss.state_dict()) == ["weight"]
    only_first = nn.NLLLoss(ignore_index=1, reduction="sum")(logits, target)
    assert only_first.item() == -1.0


def test_modules_convert():
    net = Net().double()
    assert {p.dtype.name for p in net.parameters()} == {"float64"}
    assert net.calls.dtype == np.int64
    assert net.to("cpu").to(stagrad.float32).half().cpu() is net
    assert net.to(device="cpu", dtype=stagrad.float64).scale.dtype == np.float64


def test_gradients_are_clipped():
    x = stagrad.tensor([3.0, 4.0], requires_grad=True)
    y = stagrad.tensor([12.0], requires_grad=True)
    unused = stagrad.tensor([1.0], requires_grad=True)
    ((x * x).sum() / 2 + (y * y).sum() / 2).backward()
    assert nn.utils.clip_grad_norm_([x, y, unused], 6.5).item() == 13
    assert np.allclose(x.grad, [1.5, 2.0])
    assert np.allclose(y.grad, [6.0])
    nn.utils.clip_grad_value_([x, y], 1.75)
    assert np.allclose(x.grad, [1.5, 1.75])
    assert y.grad.tolist() == [1.75]
    assert nn.utils.clip_grad_norm_([unused], 1.0).item() == 0
    x.grad[0] = float("inf")
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.clip_grad_norm_(x, 1.0, error_if_nonfinite=True)


def test_parameters_as_one_vector():
    model = nn.Linear(2, 2)
    vector = nn.utils.parameters_to_vector(model.parameters())
    assert vector.shape == (6,)
    nn.utils.vector_to_parameters(vector.detach() * 0 + 2, model.parameters())
    assert model.bias.tolist() == [2, 2]
    assert model.bias.requires_grad
    with pytest.raises(ValueError, match="6 elements"):
        nn.utils.vector_to_parameters(vector[:5], model.parameters())


def test_the_graph_of_a_layer_leads_to_bias_input_weight():
    x = stagrad.ones(1, 2, requires_grad=True)
    layer = nn.Linear(2, 3)
    leaves = [node.variable for node, _ in layer(x).grad_fn.next_functions]
    assert leaves[0] is layer.bias
    assert leaves[1] is x
    assert leaves[2] is layer.weight


def test_hooks_before_forward_change_its_arguments():
    layer = nn.Identity()
    with layer.register_forward_pre_hook(lambda module, args: args[0] * 2):
        assert layer(stagrad.ones(1)).item() == 2
    with layer.register_forward_hook(lambda module, args, result: result + args[0]):
        assert layer(stagrad.ones(1)).item() == 2
    assert layer(stagrad.ones(1)).item() == 1


def test_alike_neighbours_of_a_list_print_as_one():
    assert repr(nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()])) == (
        "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Tanh()\n)"
    )
    assert repr(nn.ModuleList()) == "ModuleList()"
