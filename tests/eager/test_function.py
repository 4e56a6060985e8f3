"""Custom Functions: contexts, saved tensors, in-place inputs, double backward."""

import gc
import weakref

import numpy as np
import pytest

import stagrad
from stagrad.autograd import Function, gradcheck, gradgradcheck
from stagrad.autograd import grad as gradient
from stagrad.autograd.function import once_differentiable


def leaf(*values):
    return stagrad.tensor(np.array(values, float), requires_grad=True)


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        result = np.exp(x)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        return grad * result


class Scaled(Function):
    @staticmethod
    def forward(x, factor):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.factor = inputs

    @staticmethod
    def backward(ctx, grad):
        assert ctx.needs_input_grad == (True, False)
        return grad * ctx.factor, None


def test_the_node_bears_the_name_of_the_function():
    y = Exp.apply(leaf(1, 2))
    assert repr(y.grad_fn).startswith("<ExpBackward object at")
    assert y.grad_fn.name() == "ExpBackward"


def test_saved_output_differentiates_twice():
    x = leaf(0.5, 1.0)
    assert gradcheck(Exp.apply, x)
    assert gradgradcheck(Exp.apply, x)
    (first,) = gradient(Exp.apply(x).sum(), x, create_graph=True)
    (second,) = gradient(first.sum(), x)
    assert np.allclose(second.numpy(), np.exp([0.5, 1.0]))


def test_setup_context():
    x = leaf(1, 2)
    Scaled.apply(x, 3.0).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_a_saved_input_that_is_written_is_noticed():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    x = leaf(1, 2)
    y = x * 1
    z = Square.apply(y)
    y += 1
    with pytest.raises(RuntimeError, match=r"SquareBackward.*version 1; expected version 0"):
        z.sum().backward()


class AddOne(Function):
    @staticmethod
    def forward(ctx, x):
        x += 1
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 10


def test_mark_dirty_returns_the_same_object():
    x = leaf(1, 2)
    y = x * 2
    z = AddOne.apply(y)
    assert z is y
    assert z.grad_fn.name() == "AddOneBackward"
    z.sum().backward()
    assert x.grad.tolist() == [20, 20]
    with pytest.raises(RuntimeError, match="leaf Variable"):
        AddOne.apply(leaf(1))


def test_dirty_inputs_must_be_returned():
    class Forgetful(AddOne):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x + 1

    with pytest.raises(RuntimeError, match="must be returned"):
        Forgetful.apply(leaf(1) * 1)


def test_mark_non_differentiable_and_unused_outputs():
    seen = []

    class Sorted(Function):
        @staticmethod
        def forward(ctx, x):
            values, places = x * 2, x * 0
            ctx.mark_non_differentiable(places)
            return values, places, x * 3

        @staticmethod
        def backward(ctx, *grads):
            seen.extend(None if g is None else g.tolist() for g in grads)
            return grads[0] * 2

    x = leaf(1, 2)
    values, places, _ = Sorted.apply(x)
    assert not places.requires_grad
    values.sum().backward()
    assert seen == [[1, 1], [0, 0], [0, 0]]
    assert x.grad.tolist() == [2, 2]


def test_once_differentiable():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    x = leaf(3)
    (first,) = gradient(Once.apply(x).sum(), x, create_graph=True)
    assert first.tolist() == [6]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


def test_wrong_shape_is_named():
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return stagrad.tensor(np.ones(3))

    with pytest.raises(RuntimeError, match=r"WrongBackward.*\[3\].*\[2\]"):
        Wrong.apply(leaf(1, 2)).sum().backward()


def test_saved_outputs_make_no_cycle():
    gc.collect()
    gc.disable()
    try:
        y = Exp.apply(leaf(1))
        dead = weakref.ref(y), weakref.ref(y.grad_fn)
        y.backward()
        del y
        assert [reference() for reference in dead] == [None, None]
    finally:
        gc.enable()


def test_a_view_out_of_a_function_is_not_written():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x[0:1]

        @staticmethod
        def backward(ctx, grad):
            return np.concatenate([grad, grad * 0])

    y = Same.apply(leaf(1, 2))
    with pytest.raises(RuntimeError, match="SameBackward is a view"):
        y += 1
