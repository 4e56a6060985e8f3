"""Optimizers and schedules take the steps that PyTorch 2.13 takes.

`data/optim.json` holds, for each optimizer and its options, the loss and the parameters after each
of five steps of PyTorch in float64.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import stagrad
from stagrad.eager import optim
from stagrad.eager.optim import lr_scheduler

RECORDED = json.loads((Path(__file__).parent / "data" / "optim.json").read_text())
MATRIX = [[0.5, -1.2, 2.0], [1.5, 0.3, -0.7]]
VECTOR = [1.0, -2.0]


def leaf(values):
    return stagrad.tensor(np.array(values), requires_grad=True)


def loss(a, b):
    weights = np.array([1.0, 2.5])
    square = ((a**2).sum(1) * weights).sum()
    return square + (b**4).sum() * 0.1 + (a[:, 0] * b).sum() + ((a - 0.3) ** 4).sum() * 0.05


def name(record):
    return f"{record['name']}-{record['options']}"


@pytest.mark.parametrize("record", RECORDED["optimizers"], ids=name)
def test_steps(record):
    a, b = leaf(MATRIX), leaf(VECTOR)
    optimizer = getattr(optim, record["name"])([a, b], **record["options"])

    def closure():
        optimizer.zero_grad()
        value = loss(a, b)
        value.backward()
        return value

    for value, matrix, vector in record["path"]:
        np.testing.assert_allclose(optimizer.step(closure).item(), value, rtol=1e-9)
        np.testing.assert_allclose(a.detach().numpy(), matrix, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(b.detach().numpy(), vector, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("record", RECORDED["schedulers"], ids=name)
def test_learning_rates(record):
    optimizer = optim.SGD([leaf(VECTOR)], lr=0.8)
    scheduler = getattr(lr_scheduler, record["name"])(optimizer, **record["options"])
    rates = []
    for _ in record["rates"]:
        rates += scheduler.get_last_lr()
        optimizer.step()
        scheduler.step()
    np.testing.assert_allclose(rates, record["rates"], rtol=1e-12)


def test_groups_have_options_of_their_own():
    a, b = leaf(MATRIX), leaf(VECTOR)
    optimizer = optim.SGD([{"params": [a], "lr": 1.0}, {"params": b}], lr=0.5)
    (a.sum() + b.sum()).backward()
    optimizer.step()
    np.testing.assert_allclose(a.detach().numpy(), np.array(MATRIX) - 1.0)
    np.testing.assert_allclose(b.detach().numpy(), np.array(VECTOR) - 0.5)
    optimizer.zero_grad()
    assert a.grad is None


def test_state_is_saved_and_taken_over():
    def steps(optimizer, a, count):
        for _ in range(count):
            optimizer.zero_grad()
            (a**2).sum().backward()
            optimizer.step()

    a = leaf(VECTOR)
    optimizer = optim.Adam([a], lr=0.1)
    steps(optimizer, a, 2)
    again = leaf(a.detach().numpy().copy())
    resumed = optim.Adam([again], lr=0.3)
    resumed.load_state_dict(optimizer.state_dict())
    steps(optimizer, a, 3)
    steps(resumed, again, 3)
    np.testing.assert_array_equal(a.detach().numpy(), again.detach().numpy())
    with pytest.raises(ValueError, match="don't match"):
        optim.Adam([leaf(VECTOR), leaf(VECTOR)]).load_state_dict(optimizer.state_dict())


def test_a_step_bumps_the_version_of_the_parameter():
    a = leaf(VECTOR)
    kept = a * a
    kept.sum().backward(retain_graph=True)
    optim.SGD([a], lr=0.1).step()
    with pytest.raises(RuntimeError, match="modified"):
        kept.sum().backward()


def test_wrong_arguments():
    a = leaf(VECTOR)
    for make in (
        lambda: optim.SGD([], lr=0.1),
        lambda: optim.SGD([a], lr=-0.1),
        lambda: optim.SGD([a], nesterov=True),
        lambda: optim.Adam([a], betas=(1.0, 0.9)),
        lambda: optim.SGD([a * 2.0], lr=0.1),
        lambda: optim.SGD([{"params": a}, {"params": a}], lr=0.1),
    ):
        with pytest.raises(ValueError):  # noqa: PT011 - six texts
            make()
    with pytest.raises(TypeError, match="iterable of Tensors"):
        optim.SGD(a, lr=0.1)
    with pytest.raises(TypeError, match="closure"):
        optim.LBFGS([a]).step()


def test_state_is_saved_as_tensors_and_taken_over():
    parameter = stagrad.tensor([1.0, -2.0], requires_grad=True)
    first = optim.Adam([parameter], lr=0.1)
    (parameter**2).sum().backward()
    first.step()
    saved = first.state_dict()
    assert all(
        isinstance(saved["state"][0][name], stagrad.Tensor) for name in ("exp_avg", "exp_avg_sq")
    )
    twin = stagrad.tensor(parameter.detach().numpy().copy(), requires_grad=True)
    second = optim.Adam([twin], lr=0.7)
    second.load_state_dict(saved)
    for leaf, optimizer in ((parameter, first), (twin, second)):
        optimizer.zero_grad()
        (leaf**2).sum().backward()
        optimizer.step()
    assert parameter.tolist() == twin.tolist()


def test_options_of_execution():
    x = stagrad.tensor([1.0], requires_grad=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        optim.SGD([x], speed=3)
    with pytest.raises(ValueError, match="differentiable=True is not supported"):
        optim.Adam([x], differentiable=True)
