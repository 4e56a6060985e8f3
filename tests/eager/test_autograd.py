"""stagrad.autograd beside backward: hooks, grad, functional derivatives, gradcheck, anomalies."""

import threading

import numpy as np
import pytest

import stagrad
from stagrad.autograd import functional, gradcheck, gradgradcheck
from stagrad.autograd import grad as gradient
from stagrad.autograd.graph import save_on_cpu, saved_tensors_hooks


def leaf(*values):
    return stagrad.tensor(np.array(values, float), requires_grad=True)


def test_grad_leaves_other_leaves_alone():
    x, y = leaf(1, 2), leaf(3, 4)
    (found,) = gradient((x * y).sum(), x)
    assert found.tolist() == [3, 4]
    assert x.grad is None
    assert y.grad is None


def test_grad_of_unused_inputs():
    x, y = leaf(1), leaf(2)
    with pytest.raises(RuntimeError, match="allow_unused"):
        gradient(x.sum(), y)
    assert gradient((x * 2).sum(), [x, y], allow_unused=True)[1] is None
    assert gradient((x * 2).sum(), y, materialize_grads=True)[0].tolist() == [0]


def test_backward_into_chosen_inputs():
    x, y = leaf(1), leaf(2)
    middle = x * 3
    (middle * y).sum().backward(inputs=[middle, y])
    assert y.grad.tolist() == [3]
    assert x.grad is None


def test_batched_cotangents():
    x = leaf(1, 2)
    (rows,) = gradient(x * x, x, stagrad.tensor(np.eye(2)), is_grads_batched=True)
    assert rows.tolist() == [[2, 0], [0, 4]]


def test_create_graph_to_order_three():
    x = leaf(0.5)
    value = np.sin(x).sum()
    for expected in (np.cos(0.5), -np.sin(0.5), -np.cos(0.5)):
        (slope,) = gradient(value, x, create_graph=True)
        assert np.isclose(slope.item(), expected)
        value = slope.sum()


def test_compositions_differentiate_twice():
    assert gradgradcheck(lambda x: x.mean() * (x**3).sum(), leaf(0.5, 1.5))


def test_complex_gradients_point_uphill():
    z = stagrad.tensor(np.array([1 + 2j]), requires_grad=True)
    seen = []
    w = z * 1
    w.register_hook(lambda g: seen.append(g.tolist()))
    np.abs(w * w).sum().backward()
    assert np.allclose(z.grad.numpy(), 2 * (1 + 2j))
    assert np.allclose(seen, z.grad.numpy())
    assert gradcheck(lambda z: z * z * 1j, z)
    assert gradgradcheck(lambda z: z * z * np.abs(z), z)


def test_complex_part_written_through_a_view():
    z = stagrad.tensor(np.array([1 + 2j, 3 + 4j]), requires_grad=True)

    def turned(z):
        w = z * 1
        part = np.imag(w)
        part *= 3
        return w * w

    assert gradcheck(turned, z)


def test_hooks_are_removed_and_get_memory_of_their_own():
    x = leaf(1, 2)
    y = x * 1

    def overwrite(g):
        g[0] = 99

    handle = y.register_hook(overwrite)
    handle.remove()
    other = x * 1
    other.register_hook(overwrite)
    (y + other).sum().backward()
    assert x.grad.tolist() == [100, 2]


def test_leaf_hooks_and_the_hook_after_accumulation():
    x = leaf(1, 2)
    order = []
    x.register_hook(lambda g: order.append("tensor"))
    x.register_post_accumulate_grad_hook(lambda t: order.append(t.grad.tolist()))
    (x * 3).sum().backward()
    assert order == ["tensor", [3, 3]]


def test_node_hooks():
    x = leaf(1)
    y = x * 3
    seen = []
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
    y.grad_fn.register_hook(
        lambda inputs, outputs: seen.append((inputs[0].item(), outputs[0].item()))
    )
    y.sum().backward()
    assert seen == [(6, 2)]
    assert x.grad.tolist() == [6]


def test_many_threads_add_to_one_leaf():
    x = leaf(0.0)
    threads = [
        threading.Thread(target=lambda: [(x * 2).sum().backward() for _ in range(50)])
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.tolist() == [800]


def test_an_error_in_a_hook_leaves_all_modes_as_they_were():
    x = leaf(1)
    y = x * 1
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()
    assert stagrad.is_grad_enabled()
    with pytest.raises(FloatingPointError), np.errstate(divide="raise"):
        np.ones(1) / np.zeros(1)


def test_saved_tensors_hooks():
    x = leaf(2, 3)
    packed = []

    def pack(tensor):
        packed.append(tensor.tolist())
        return tensor.tolist()

    with saved_tensors_hooks(pack, lambda values: stagrad.tensor(np.array(values))):
        y = np.exp(x * x)
    y.sum().backward()
    assert [2, 3] in packed
    assert np.allclose(x.grad.numpy(), np.array([4, 6]) * np.exp([4.0, 9.0]))
    with save_on_cpu():
        y = x * x
    y.sum().backward()


def test_anomalies_show_the_forward_line():
    x = leaf(-1)
    with stagrad.autograd.detect_anomaly():
        y = np.sqrt(x)
        with (
            pytest.warns(UserWarning, match="test_autograd.py"),
            pytest.raises(RuntimeError, match="SqrtBackward0' returned nan"),
        ):
            y.sum().backward()


def test_functional():
    x = stagrad.tensor(np.array([1.0, 2.0]))
    y = stagrad.tensor(np.array([3.0, 4.0]))
    v = stagrad.tensor(np.array([1.0, 10.0]))

    def cubes(x):
        return (x**3).sum()

    assert functional.jacobian(lambda x: x * x, x).tolist() == [[2, 0], [0, 4]]
    blocks = functional.jacobian(lambda x, y: (x * y, x + y), (x, y))
    assert blocks[0][0].tolist() == [[3, 0], [0, 4]]
    assert blocks[1][1].tolist() == [[1, 0], [0, 1]]
    assert functional.hessian(cubes, x).tolist() == [[6, 0], [0, 12]]
    assert functional.hessian(lambda x, y: (x * y).sum(), (x, y))[0][1].tolist() == [[1, 0], [0, 1]]
    assert functional.vjp(lambda x: x * x, x, v)[1].tolist() == [2, 40]
    assert functional.jvp(lambda x: x * x, x, v)[1].tolist() == [2, 40]
    assert functional.hvp(cubes, x, v)[1].tolist() == [6, 120]
    assert functional.vhp(cubes, x, v)[1].tolist() == [6, 120]
    with pytest.raises(RuntimeError, match="strict"):
        functional.jacobian(lambda x: y, x, strict=True)


def test_functional_results_differentiate_on():
    x = leaf(1, 2)
    functional.hessian(lambda x: (x**3).sum(), x, create_graph=True).sum().backward()
    assert x.grad.tolist() == [6, 6]


def test_gradcheck_catches_a_wrong_rule():
    class Wrong(stagrad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    with pytest.raises(stagrad.autograd.GradcheckError, match="Jacobian mismatch"):
        gradcheck(Wrong.apply, leaf(1))
    assert not gradcheck(Wrong.apply, leaf(1), raise_exception=False)
    with pytest.raises(ValueError, match="float64"):
        gradcheck(Wrong.apply, stagrad.tensor([1.0], requires_grad=True))


def test_views_made_under_no_grad_are_not_written_later():
    x = leaf(1, 2)
    base = x * 1
    with stagrad.no_grad():
        view = base[0:1]
    with pytest.raises(RuntimeError, match="no_grad mode"):
        view += 1


def test_retained_gradient_follows_an_in_place_operation():
    x = leaf(1, 2)
    y = x * 1
    y.retain_grad()
    y *= 3
    (y * 2).sum().backward()
    assert y.grad.tolist() == [2, 2]
    assert x.grad.tolist() == [6, 6]


def test_in_place_product_with_itself():
    x = leaf(2, 3)
    y = x * 1
    y *= y
    y.sum().backward()
    assert x.grad.tolist() == [4, 6]


def test_unused_nodes_do_not_run():
    x, y = leaf(1), leaf(2)
    heavy = y * 1
    heavy.register_hook(lambda g: 1 / 0)
    assert gradient((x * 2 + heavy).sum(), x)[0].tolist() == [2]


def test_hooks_of_nodes_see_an_entry_for_each_operand():
    x = stagrad.tensor([1.0, 2.0], requires_grad=True)
    y = x * stagrad.tensor([3.0, 4.0])
    seen = []

    def hook(grad_inputs, grad_outputs):
        seen.append([grad is None for grad in grad_inputs])
        return grad_inputs[0] * 10, None

    y.grad_fn.register_hook(hook)
    y.sum().backward()
    assert seen == [[False, True]]
    assert x.grad.tolist() == [30, 40]
