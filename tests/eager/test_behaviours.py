"""The eager cases of the behaviour table: in-place writes, versions, views, engine, NumPy."""

import gc
import threading
import warnings
import weakref

import numpy as np
import pytest

import stagrad
from stagrad.autograd import Function
from stagrad.autograd import grad as gradient


def leaf(*values):
    return stagrad.tensor(np.array(values, float), requires_grad=True)


def test_pb01_overwritten_saved_value():
    x = leaf(2, 3)
    y = x * 1
    z = y * y
    y += 1
    with pytest.raises(RuntimeError, match=r"MulBackward0.*version 1; expected version 0") as info:
        z.sum().backward()
    assert "test_behaviours.py" in str(info.value)
    assert x.grad is None


def test_pb02_overwriting_what_nobody_saved():
    x = leaf(2, 3)
    y = x + 1
    z = y * 3
    y *= 0
    z.sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_pb03_leaf_that_requires_grad():
    x = leaf(2, 3)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        x += 1
    assert x.tolist() == [2, 3]
    with stagrad.no_grad():
        x += 1
    assert x.tolist() == [3, 4]
    assert x._version == 1
    assert x.is_leaf


@pytest.mark.parametrize(
    "view", [lambda x: x[0], lambda x: x[0:1], np.transpose, lambda x: x.view(2, 1)]
)
def test_pb04_view_of_a_leaf(view):
    x = leaf(1, 2)
    part = view(x)
    with pytest.raises(RuntimeError, match="view of a leaf"):
        part += 1
    assert x.tolist() == [1, 2]


def test_pb05_write_through_a_view():
    x = leaf(1, 2, 3, 4)
    b = x * 1
    v = b[1:3]
    v *= 10
    b.sum().backward()
    assert b.tolist() == [1, 20, 30, 4]
    assert x.grad.tolist() == [1, 10, 10, 1]


def test_pb06_base_written_after_the_view_was_taken():
    x = leaf(1, 2, 3, 4)
    b = x * 1
    v = b[0:2]
    b *= 3
    assert v.tolist() == [3, 6]
    v.sum().backward()
    assert x.grad.tolist() == [3, 3, 0, 0]


def test_pb07_element_assignment_of_a_differentiable_value():
    x = leaf(2)[0].detach().requires_grad_()
    b = stagrad.tensor(np.zeros(3))
    b[1] = x * 2
    assert b.requires_grad
    (b * np.array([1, 10, 100])).sum().backward()
    assert x.grad.item() == 20


def test_pb08_overwritten_region_loses_its_gradient():
    x = leaf(1, 2, 3)
    b = x * 2
    b[0] = 5
    b.sum().backward()
    assert x.grad.tolist() == [0, 2, 2]


def test_pb09_detach_shares_storage_and_version():
    x = leaf(2, 3)
    y = x * 1
    z = y * y
    d = y.detach()
    d += 1
    assert not d.requires_grad
    assert y.tolist() == [3, 4]
    with pytest.raises(RuntimeError, match="version"):
        z.sum().backward()


def test_pb10_self_overlapping_destination():
    one = stagrad.tensor(np.ones(1))
    e = np.broadcast_to(one, (3,))
    with pytest.raises(RuntimeError, match="single memory location"):
        e += 1
    with pytest.raises(RuntimeError, match="single memory location"):
        e[...] = [1, 2, 3]
    with pytest.raises(RuntimeError, match="single memory location"):
        np.add(e, 1, out=e)
    assert one.tolist() == [1]


def test_pb11_duplicates_in_augmented_assignment():
    x = leaf(1, 2, 3)
    y = x * 1
    y[[0, 0, 1]] += 1
    assert y.tolist() == [2, 3, 3]
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]


@pytest.mark.parametrize("function", [lambda x: (x * x).sum(), lambda x: (x + 1).sum()])
def test_pb12_second_backward(function):
    x = leaf(1, 2)
    y = function(x)
    y.backward()
    first = x.grad.tolist()
    with pytest.raises(RuntimeError, match=r"freed.*retain_graph"):
        y.backward()
    assert x.grad.tolist() == first


def test_pb13_retained_graph():
    x = leaf(1, 2)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4, 8]


def test_pb14_seed():
    x = leaf(1, 2)
    with pytest.raises(RuntimeError, match="scalar"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match=r"\[3\].*\[2\]"):
        (x * 2).backward(stagrad.tensor(np.ones(3)))
    with pytest.raises(RuntimeError, match="does not require grad"):
        (x.detach() * 2).backward(stagrad.tensor(np.ones(2)))


def test_pb15_no_shared_gradient_memory():
    x, y = leaf(1, 2), leaf(3, 4)
    (x + y).sum().backward()
    x.grad[0] = 99
    assert y.grad.tolist() == [1, 1]
    x.grad = None
    seed = stagrad.tensor(np.array([5.0, 6.0]))
    (x + y).backward(seed)
    assert seed.tolist() == [5, 6]
    seed[0] = -1
    assert x.grad.tolist() == [5, 6]


def test_pb16_hook_order():
    x = leaf(1)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: g + 1)
    y.retain_grad()
    y.sum().backward()
    assert (y.grad.item(), x.grad.item()) == (11, 22)


def test_pb17_one_call_per_tensor():
    x = leaf(1)
    y = x * 1
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    (y * 2 + y * 3).sum().backward()
    assert seen == [5]


def test_pb18_no_grad():
    x = leaf(1)
    with pytest.raises(KeyError), stagrad.no_grad():
        raise KeyError
    assert stagrad.is_grad_enabled()
    inside, checked, results = threading.Event(), threading.Event(), []

    def sleeper():
        with stagrad.no_grad():
            inside.set()
            checked.wait()
            results.append(stagrad.is_grad_enabled())

    thread = threading.Thread(target=sleeper)
    thread.start()
    inside.wait()
    results.append((x * 2).requires_grad)
    checked.set()
    thread.join()
    assert results == [True, False]

    @stagrad.no_grad()
    def halves():
        yield stagrad.is_grad_enabled()
        yield stagrad.is_grad_enabled()

    seen = [(mode, stagrad.is_grad_enabled()) for mode in halves()]
    assert seen == [(False, True), (False, True)]


def test_pb19_release_by_reference_counting_alone():
    gc.collect()
    gc.disable()
    try:
        x = leaf(1, 2)
        y = x * 2
        z = y.sum()
        dead = weakref.ref(y), weakref.ref(y.grad_fn), weakref.ref(z.grad_fn)
        z.backward()
        del y, z
        assert [reference() for reference in dead] == [None, None, None]
        for _ in range(1000):
            total = ((x * x).sin() if hasattr(x, "sin") else np.sin(x * x)).mean()
            total.backward()
        del total
        nodes = [thing for thing in gc.get_objects() if type(thing).__name__ == "PrimitiveNode"]
        assert len(nodes) == 0
    finally:
        gc.enable()


def test_pb20_depth():
    x = leaf(1)
    y = x
    for _ in range(1_000_000):
        y = y + 1
    y.backward()
    assert x.grad.tolist() == [1]
    del y


def test_pb20_a_deep_graph_is_dropped_without_a_backward_pass():
    y = leaf(1)
    for _ in range(200_000):
        y = y * 2
    last = weakref.ref(y.grad_fn)
    del y
    assert last() is None


class Pair(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def backward(ctx, grad):
        return grad


class OnlyFirst(Pair):
    @staticmethod
    def backward(ctx, grad):
        return grad, None


def test_pb21_custom_function_arity():
    x, y = leaf(1, 2), leaf(3, 4)
    with pytest.raises(RuntimeError, match=r"PairBackward.*expected 2, got 1"):
        Pair.apply(x, y).sum().backward()
    OnlyFirst.apply(x, y).sum().backward()
    assert x.grad.tolist() == [1, 1]
    assert y.grad is None


def test_pb22_create_graph():
    x = stagrad.tensor(np.float64(3), requires_grad=True)
    (first,) = gradient(x**3, x, create_graph=True)
    (second,) = gradient(first, x, create_graph=True)
    (third,) = gradient(second, x)
    assert (first.item(), second.item(), third.item()) == (27, 18, 6)
    assert not gradient(x**3, x)[0].requires_grad


@pytest.mark.parametrize("left", [np.array([1.0, 2.0]), np.float64(3), np.array(2.0), [1.0, 2.0]])
def test_pb23_plain_array_on_the_left(left):
    t = leaf(3, 4)
    product = left * t
    assert isinstance(product, stagrad.Tensor)
    assert product.requires_grad
    assert product.tolist() == (t * left).tolist()


def test_pb24_array_augmented_by_a_tensor():
    t = leaf(1, 2)
    a = np.zeros(2)
    with pytest.raises(TypeError, match="detach"):
        a += t
    assert a.tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="detach"):
        np.asarray(t)
    assert float(t[0]) == 1.0


def test_element_of_an_array_is_not_silently_detached():
    t = leaf(1, 2)
    a, c = np.zeros(2), np.zeros(2, complex)
    for array in (a, c):
        with pytest.raises((ValueError, RuntimeError)) as info:
            array[0] = t[0]
        assert "detach" in str(info.value.__cause__ or info.value)
    with pytest.raises(RuntimeError, match="detach"):
        a[:] = t
    assert a.tolist() == [0, 0]
    a[0] = float(t[1])
    a[1] = t[0].detach()
    assert a.tolist() == [2, 1]


def test_grad_of_a_result_warns():
    y = leaf(1) * 2
    with pytest.warns(UserWarning, match="not a leaf"):
        assert y.grad is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y.retain_grad()
        assert y.grad is None
