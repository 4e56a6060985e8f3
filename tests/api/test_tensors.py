"""Compiled functions on eager tensors: values, gradients of every order, trees, errors."""

import numpy as np
import pytest

import stagrad
from stagrad.autograd import grad as gradient
from stagrad.autograd import gradcheck, gradgradcheck


def leaf(*values):
    return stagrad.tensor(np.array(values), requires_grad=True)


@stagrad.compile
def wave(x, y):
    return np.sin(x) * y


def test_the_result_hangs_on_one_node():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    z = wave(x, y)
    assert z.grad_fn.name() == "CompiledBackward0"
    names = [node.name() for node, _ in z.grad_fn.next_functions]
    assert names == ["torch::autograd::AccumulateGrad"] * 2
    z.sum().backward()
    assert np.allclose(x.grad.numpy(), np.cos([1, 2]) * [3, 4])
    assert np.allclose(y.grad.numpy(), np.sin([1, 2]))


def test_derivatives_of_every_order():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    assert gradcheck(wave, (x, y))
    assert gradgradcheck(wave, (x, y))
    value = wave(x, 1.0).sum()
    for expected in (np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)):
        (slope,) = gradient(value, x, create_graph=True)
        assert np.allclose(slope.detach().numpy(), expected(np.array([1.0, 2.0])))
        value = slope.sum()


def test_complex_functions():
    z = leaf(1 + 2j, 0.5 - 1j)
    bent = stagrad.compile(lambda z: z * z * np.conj(z))
    assert gradcheck(bent, z)
    assert gradgradcheck(bent, z)


def test_grad_and_value_and_grad_of_trees():
    w = leaf(1.0, 2.0)
    found = stagrad.grad(lambda p: np.sum(p["w"] ** 3))({"w": w})["w"]
    assert found.tolist() == [3, 12]
    found.sum().backward()
    assert w.grad.tolist() == [6, 12]
    value, slope = stagrad.value_and_grad(lambda x: np.sum(x**2))(w)
    assert (value.item(), slope.tolist()) == (5, [2, 4])


def test_jvp():
    x, dx = leaf(1.0, 2.0), leaf(1.0, 10.0)
    value, tangent = stagrad.jvp(lambda x: x**3, (x,), (dx,))
    assert (value.tolist(), tangent.tolist()) == ([1, 8], [3, 120])
    tangent.sum().backward()
    assert x.grad.tolist() == [6, 120]
    assert dx.grad.tolist() == [3, 12]


def test_tensors_that_need_no_gradient_stay_tensors():
    result = wave(stagrad.tensor([1.0, 2.0]), 3.0)
    assert isinstance(result, stagrad.Tensor)
    assert not result.requires_grad
    with stagrad.no_grad():
        assert not wave(leaf(1.0), 2.0).requires_grad


def test_integer_results_and_keywords():
    both = stagrad.compile(lambda x, scale=1.0: (np.argmax(x), {"y": x * scale}))
    x = leaf(1.0, 2.0)
    place, rest = both(x, scale=2.0)
    assert not place.requires_grad
    rest["y"].sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_written_arguments_and_second_passes_are_refused():
    x = leaf(1.0, 2.0)
    y = x * 1
    z = wave(y, 2.0).sum()
    y += 1
    with pytest.raises(RuntimeError, match="version 1; expected version 0"):
        z.backward()
    z = wave(x, 2.0).sum()
    z.backward()
    with pytest.raises(RuntimeError, match="retain_graph"):
        z.backward()


def test_one_signature_is_traced_once():
    traced = []

    @stagrad.compile
    def counted(x):
        traced.append(1)
        return x * x

    for _ in range(3):
        counted(leaf(1.0, 2.0)).sum().backward()
    assert len(traced) == 1
