"""vmap is a loop over one axis of the arguments, in every combination with the other transforms."""

import functools
from typing import NamedTuple

import numpy as np
import pytest

import stagrad
from stagrad.errors import ShapeError, TraceError, UnsupportedError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((4, 3))
W = RNG.standard_normal((3, 3))


class Layer(NamedTuple):
    weight: np.ndarray
    offset: np.ndarray | None


def test_axes_of_arguments_and_results():
    def f(x, w):
        return np.tanh(w @ x), {"sum": np.sum(x)}

    want = np.stack([np.tanh(W @ x) for x in X])
    first, second = stagrad.vmap(f, in_axes=(0, None))(X, W)
    np.testing.assert_allclose(first, want)
    np.testing.assert_allclose(second["sum"], X.sum(axis=1))
    for axis in (1, -1):
        first, second = stagrad.vmap(f, in_axes=(axis, None), out_axes=(-1, 0))(X.T, W)
        np.testing.assert_allclose(first, want.T)
        np.testing.assert_allclose(second["sum"], X.sum(axis=1))


def test_axes_are_trees():
    def f(layer, parts, k):
        shifted = layer.weight @ parts["x"] + parts["shift"][0] * k
        return Layer(shifted, None), (layer.weight, k)

    layer = Layer(W, None)
    axes = (Layer(None, None), {"x": 0, "shift": [1]}, None)
    parts = {"x": X, "shift": [X.T]}
    mapped = stagrad.vmap(f, in_axes=axes, out_axes=(1, None))
    got, (weight, k) = mapped(layer, parts, 2)
    assert got.offset is None
    assert k == 2
    np.testing.assert_array_equal(weight, W)
    np.testing.assert_allclose(got.weight, (X @ W.T + X * 2).T)


def test_arguments_by_name_are_mapped_over_their_first_axis():
    got = stagrad.vmap(lambda x, *, scale, kind: x * scale if kind == "up" else x)(
        X, scale=np.arange(4.0), kind="up"
    )
    np.testing.assert_array_equal(got, X * np.arange(4.0)[:, None])
    with pytest.raises(ShapeError, match=r"'scale' of .* single number.*functools\.partial"):
        stagrad.vmap(lambda x, scale: x * scale)(X, scale=2.0)
    bound = functools.partial(lambda x, scale: x * scale, scale=2.0)
    np.testing.assert_array_equal(stagrad.vmap(bound)(X), X * 2.0)


def test_results_that_are_the_same_for_all_elements():
    got = stagrad.vmap(lambda x: (x, 2.0, 3, None, np.ones(2)), out_axes=(0, 0, None, 0, 1))(X)
    np.testing.assert_array_equal(got[1], np.full(4, 2.0))
    assert got[2:4] == (3, None)
    np.testing.assert_array_equal(got[4], np.ones((2, 4)))


def test_an_empty_batch():
    value, product = stagrad.vmap(lambda x: (np.linalg.det(x @ x.T), np.outer(x[0], x[1])))(
        np.ones((0, 2, 3), np.float32)
    )
    assert (value.shape, product.shape) == ((0,), (0, 3, 3))
    assert value.dtype == np.float32
    assert stagrad.vmap(np.interp, (0, None, None))(np.ones(0), X[0], X[1]).shape == (0,)


def test_maps_nest():
    outer = stagrad.vmap(lambda x: stagrad.vmap(lambda y: x * y[::-1], 1, 1)(W))(X)
    np.testing.assert_array_equal(outer, np.stack([x[:, None] * W[::-1] for x in X]))
    everywhere = stagrad.vmap(stagrad.vmap(np.sin))(X)
    np.testing.assert_allclose(everywhere, np.sin(X))
    compiled = stagrad.compile(lambda x: stagrad.vmap(stagrad.compile(np.cumsum))(x) + 1.0)
    np.testing.assert_allclose(compiled(X), np.cumsum(X, axis=1) + 1.0)


def loss(w, x):
    return np.sum(np.tanh(w @ x) ** 2)


def test_gradients_of_each_element():
    got = stagrad.vmap(stagrad.grad(loss), in_axes=(None, 0))(W, X)
    np.testing.assert_allclose(got, np.stack([stagrad.grad(loss)(W, x) for x in X]))
    values, (left, right) = stagrad.vmap(stagrad.value_and_grad(loss, (0, 1)), (None, 0))(W, X)
    np.testing.assert_allclose(values, [loss(W, x) for x in X])
    np.testing.assert_allclose(left, got)
    np.testing.assert_allclose(right, np.stack([stagrad.grad(loss, 1)(W, x) for x in X]))


def test_the_gradient_of_a_map():
    def total(w):
        return np.sum(stagrad.vmap(loss, in_axes=(None, 0))(w, X))

    np.testing.assert_allclose(
        stagrad.grad(total)(W), np.sum([stagrad.grad(loss)(W, x) for x in X], axis=0)
    )
    hessian = stagrad.hessian(total)(W)
    each = stagrad.vmap(stagrad.hessian(loss), (None, 0))(W, X)
    np.testing.assert_allclose(hessian, each.sum(axis=0), rtol=1e-12)


def test_other_transforms_under_a_map():
    def product(x, v):
        return stagrad.jvp(lambda x: loss(W, x), (x,), (v,))[1]

    def pulled(x):
        value, pullback = stagrad.vjp(lambda x: np.sin(x) * W, x)
        return pullback(value)[0]

    got = stagrad.vmap(product)(X, X[::-1])
    np.testing.assert_allclose(got, [product(x, v) for x, v in zip(X, X[::-1], strict=True)])
    np.testing.assert_allclose(stagrad.vmap(pulled)(X), np.stack([pulled(x) for x in X]))
    blocks = stagrad.vmap(stagrad.jacobian(np.cumsum))(X)
    np.testing.assert_array_equal(blocks, np.broadcast_to(np.tri(3), (4, 3, 3)))


def test_random_keys_are_mapped():
    keys = stagrad.random.split(stagrad.random.key(3), 4)
    got = stagrad.vmap(lambda key: stagrad.random.normal(key, size=2))(keys)
    np.testing.assert_array_equal(got, [stagrad.random.normal(key, size=2) for key in keys])


def test_writes_reach_the_callers_rows():
    def zero_first(x):
        x[0] = 0.0
        x += 1.0
        return x.sum()

    whole, rows = X.T.copy(), X.copy()
    got = stagrad.vmap(zero_first, in_axes=1)(whole)
    np.testing.assert_allclose(got, [zero_first(row) for row in rows])
    np.testing.assert_array_equal(whole.T, rows)


def test_elements_of_vectors_are_scalars_that_nothing_writes_to():
    def f(x):
        y = x
        y += 1.0
        return x

    vector = np.arange(3.0)
    np.testing.assert_array_equal(stagrad.vmap(f)(vector), [f(x) for x in vector])
    np.testing.assert_array_equal(vector, np.arange(3.0))


def test_captured_arrays_are_read_at_each_call():
    captured = np.ones(3)
    mapped = stagrad.vmap(lambda x: x + captured)
    mapped(X)
    captured[:] = 5.0
    np.testing.assert_array_equal(mapped(X), X + 5.0)


def test_methods_are_mapped():
    class Model:
        scale = 2.0

        @stagrad.vmap
        def apply(self, x):
            return np.sum(x) * self.scale

    np.testing.assert_allclose(Model().apply(X), X.sum(axis=1) * 2.0)


def test_a_batch_is_one_program():
    lowered = stagrad.vmap(loss, (None, 0)).lower(W, np.ones((1000, 3)))
    assert len(lowered.schedule.steps) < 10
    assert lowered.source.count("(1000") <= 4


def test_python_control_flow_on_an_element_is_refused():
    with pytest.raises(TraceError, match=r"np\.where"):
        stagrad.vmap(lambda x: x if x > 0 else -x)(X[0])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: stagrad.vmap(3), TypeError, "expected a function"),
        (lambda: stagrad.vmap(loss, "0"), TypeError, "in_axes='0'.*int"),
        (lambda: stagrad.vmap(loss, out_axes=True), TypeError, "out_axes=True"),
        (lambda: stagrad.vmap(loss)(W, X), ShapeError, "'w' of loss has 3.*'x' of loss has 4"),
        (lambda: stagrad.vmap(loss, 2)(W, X), ShapeError, r"'w' of loss .*\(3, 3\).* no axis 2"),
        (lambda: stagrad.vmap(loss, (0,))(W, X), ValueError, "1 entries for the 2 positional"),
        (lambda: stagrad.vmap(loss, (None, {"x": 0}))(W, X), ValueError, r"in_axes\[1\]"),
        (lambda: stagrad.vmap(loss, None)(W, X), ValueError, "maps no array"),
        (lambda: stagrad.vmap(np.sum, out_axes=1)(X), ShapeError, "out_axes has 1 .* 0 axes"),
        (lambda: stagrad.vmap(np.sum, out_axes=None)(X), ValueError, "depends on the mapped"),
        (lambda: stagrad.vmap(np.sum, out_axes=(0, 0))(X), ValueError, "out_axes does not fit"),
        (lambda: stagrad.vmap(lambda x: "yes")(X), TypeError, "'yes', which cannot be stacked"),
    ],
)
def test_what_does_not_fit_is_named(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_what_a_loop_would_do_otherwise_is_refused():
    generator = np.random.default_rng(0)
    with pytest.raises(UnsupportedError, match=r"draws from a random generator.*stagrad\.random"):
        stagrad.vmap(lambda x: x + generator.normal())(X)

    def gather(total, x):
        total += x
        return x

    with pytest.raises(UnsupportedError, match="writes to an argument that all elements share"):
        stagrad.vmap(gather, (None, 0))(np.zeros(3), X)
