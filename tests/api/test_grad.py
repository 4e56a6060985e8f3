"""grad, value_and_grad and compile: arguments, trees, dtypes and errors."""

import dataclasses
import functools
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import stagrad
from stagrad.errors import DTypeError, ShapeError, UnsupportedError

X = np.array([1.0, 2.0, 3.0])
W = np.array([0.5, -1.0, 2.0])

Pair = namedtuple("Pair", "left right")


@dataclasses.dataclass
class Layer:
    weights: np.ndarray
    bias: float


def product(x, w):
    return np.sum(x * x * w)


def same(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-14)


def test_argnums_forms():
    same(stagrad.grad(product)(X, W), 2 * X * W)
    same(stagrad.grad(product, 1)(X, W), X * X)
    same(stagrad.grad(product, -1)(X, W), X * X)
    first, second = stagrad.grad(product, (1, 0))(X, W)
    same(first, X * X)
    same(second, 2 * X * W)
    tree = stagrad.grad(product, {"weights": 1, "inputs": [0]})(X, W)
    same(tree["weights"], X * X)
    same(tree["inputs"][0], 2 * X * W)


@pytest.mark.parametrize(
    ("tree", "loss"),
    [
        ({"a": X, "b": [W, 2.0]}, lambda t: np.sum(t["a"] * t["b"][0]) * t["b"][1]),
        ((X, (W, None)), lambda t: np.sum(t[0] * t[1][0])),
        (Pair(X, W), lambda t: np.sum(t.left * t.right)),
        (Layer(X, 2.0), lambda t: np.sum(t.weights) * t.bias),
        (OrderedDict(z=X, a=W), lambda t: np.sum(t["z"] * t["a"])),
        ([X], lambda t: np.sum(t[0])),
    ],
)
def test_gradients_come_in_the_tree_of_the_argument(tree, loss):
    for _ in range(2):
        gradient = stagrad.grad(loss)(tree)
        assert type(gradient) is type(tree)
    assert repr(gradient).count("array") == repr(tree).count("array")


def test_value_and_grad_with_aux():
    def loss(x):
        return np.sum(x**2), {"double": 2.0 * x, "name": "loss"}

    (value, aux), gradient = stagrad.value_and_grad(loss, has_aux=True)(X)
    same(value, 14.0)
    same(gradient, 2 * X)
    same(aux["double"], 2 * X)
    assert aux["name"] == "loss"
    gradient, aux = stagrad.grad(loss, has_aux=True)(X)
    same(gradient, 2 * X)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 3), (2, 0, 3)])
def test_a_gradient_has_its_arguments_shape_and_dtype(dtype, shape):
    x = np.ones(shape, dtype)
    gradient = stagrad.grad(lambda x: np.sum(np.abs(x * 3.0)))(x)
    assert np.shape(gradient) == shape
    assert np.asarray(gradient).dtype == x.dtype
    np.testing.assert_allclose(gradient, np.full(shape, 3.0), rtol=1e-3)


def test_python_floats_are_differentiated_and_do_not_retrace():
    traces = []

    def f(x, y):
        traces.append(1)
        return x * x * y

    gradient = stagrad.grad(f, (0, 1))
    for k in range(5):
        same(gradient(3.0, float(k)), (6.0 * k, 9.0))
    assert len(traces) == 1


def test_gradients_nest():
    def f(x):
        return x**4

    third = stagrad.grad(stagrad.grad(stagrad.grad(f)))
    same(third(2.0), 48.0)
    same(stagrad.grad(lambda x: np.sum(stagrad.grad(product)(x, W) ** 2))(X), 8 * W**2 * X)


def test_perturbations_are_not_confused():
    def outer(x):
        return x * stagrad.grad(lambda y: x + y)(1.0)

    same(stagrad.grad(outer)(3.0), 1.0)

    def nested(x):
        return stagrad.grad(lambda y: x * y * y)(x) * x

    same(stagrad.grad(nested)(2.0), 12.0 * 2.0)


def test_compiled_functions_inside_others():
    inner = stagrad.compile(lambda x: x * 2.0)
    outer = stagrad.compile(lambda x: np.sum(inner(x) * x))
    same(outer(X), np.sum(2 * X * X))
    same(stagrad.grad(outer)(X), 4 * X)
    same(stagrad.compile(stagrad.grad(product))(X, W), 2 * X * W)
    same(stagrad.grad(stagrad.compile(product))(X, W), 2 * X * W)


def test_keyword_arguments():
    def f(x, *, scale, shift=0.0):
        return np.sum(x * scale + shift)

    same(stagrad.grad(f)(X, scale=2.0), [2, 2, 2])
    same(stagrad.grad(f)(X, scale=W, shift=1.0), W)
    same(stagrad.compile(f)(X, scale=2.0, shift=1.0), f(X, scale=2.0, shift=1.0))


def test_static_arguments():
    traces = []

    @stagrad.compile(static_argnames=("power",))
    def f(x, power, mode="plain"):
        traces.append(power)
        return x**power if mode == "plain" else -x

    same(f(X, 2), X**2)
    same(f(X, 2), X**2)
    same(f(X, power=3), X**3)
    same(f(X, 2, mode="other"), -X)
    assert traces == [2, 3, 2]
    with pytest.raises(ValueError, match="no parameter 'exponent'"):
        stagrad.compile(f, static_argnames="exponent")


def test_an_integer_needed_as_a_number_becomes_static_by_itself():
    traces = []

    @stagrad.compile
    def f(x, steps, size):
        traces.append(steps)
        out = np.zeros(size)
        for _ in range(steps):
            out = out + x
        return out

    for steps in (1, 4, 1, 4):
        same(f(X, steps, 3), steps * X)
    assert len(traces) <= 6
    same(stagrad.grad(lambda x, n: np.sum(x[n] * n))(X, 2), [0, 0, 2])


def test_integer_and_bool_arguments_cannot_be_differentiated():
    for argument in (3, np.arange(3), True, np.array([True, False])):
        with pytest.raises(TypeError, match="argument 'x'"):
            stagrad.grad(lambda x: np.sum(x * 1.0))(argument)
    with pytest.raises(DTypeError, match=r"'params'\['n'\]"):
        stagrad.grad(lambda params: params["w"] * params["n"])({"w": 1.0, "n": 3})


def test_wrong_calls_say_what_is_wrong():
    with pytest.raises(ShapeError, match=r"shape \(3,\)"):
        stagrad.grad(lambda x: x * 2.0)(X)
    with pytest.raises(ValueError, match="argnums=2"):
        stagrad.grad(product, 2)(X, W)
    with pytest.raises(TypeError, match="has_aux"):
        stagrad.grad(lambda x: (np.sum(x), x))(X)
    with pytest.raises(TypeError, match="pair"):
        stagrad.grad(lambda x: np.sum(x), has_aux=True)(X)
    with pytest.raises(TypeError, match="real float"):
        stagrad.grad(lambda x: np.sum(x * 1j))(X)
    with pytest.raises(TypeError, match="expected a function"):
        stagrad.grad(3.0)
    with pytest.raises(TypeError, match=r"arguments go to what grad returns: stagrad\.grad\(f\)"):
        stagrad.grad(product, X)
    with pytest.raises(TypeError, match=r"argnums is an int, .* not 'w'"):
        stagrad.value_and_grad(product, argnums="w")
    with pytest.raises(TypeError, match="primals is a tuple of all arguments, and vector is nd"):
        stagrad.hvp(lambda x: np.sum(x**3), (X,), X)
    with pytest.raises(TypeError, match=r"structure of the primals, \(\*,\), not \(\*, \*\)"):
        stagrad.jvp(np.sin, (X,), (X, X))
    with pytest.raises(TypeError, match=r"the function's result, \(\*, \*\), not \*"):
        stagrad.vjp(lambda x: (x, x), X)[1](X)
    with pytest.raises(UnsupportedError, match="may be a Python int"):
        stagrad.grad(lambda x, n: np.sum(x[:n]))(X, np.int64(2))
    same(stagrad.grad(lambda x, n: np.sum(x[:n]))(X, 2), np.array([1.0, 1.0, 0.0]))
    with pytest.raises(ValueError, match="backend"):
        stagrad.compile(product, backend="fortran")
    with pytest.raises(TypeError, match="missing"):
        stagrad.grad(product)(X)


def test_an_argument_the_result_does_not_depend_on_has_gradient_zero():
    same(stagrad.grad(lambda x, y: np.sum(y))(X, W), np.zeros(3))
    same(stagrad.grad(lambda x, y: 3.0 + 0.0 * y)(X, 1.0), np.zeros(3))
    for constant in (3.0, np.float32(3.0), np.array(3.0)):
        value, gradient = stagrad.value_and_grad(lambda x, c=constant: c)(X)
        assert value == 3.0
        same(gradient, np.zeros(3))
    same(stagrad.vjp(lambda x: 3.0, X)[1](1.0)[0], np.zeros(3))
    same(stagrad.jvp(lambda x: 3.0, (X,), (X,))[1], 0.0)
    same(stagrad.jacobian(lambda x: np.array([1.0, 2.0]))(X), np.zeros((2, 3)))


def test_foreign_byte_order_and_strides():
    swapped = X.astype(">f8")
    gradient = stagrad.grad(product)(swapped, W[::-1])
    same(gradient, 2 * X * W[::-1])
    assert gradient.dtype.isnative
    same(stagrad.grad(product)(np.broadcast_to(2.0, (3,)), W), 4 * W)


def test_stop_gradient_in_every_mode():
    def f(x):
        kept = stagrad.stop_gradient({"square": x * x, "number": 2.0})
        return np.sum(x * kept["square"]) * kept["number"]

    same(stagrad.grad(f)(X), 2.0 * X * X)
    same(stagrad.jvp(f, (X,), (np.ones(3),))[1], np.sum(2.0 * X * X))
    same(stagrad.hessian(f)(X), np.zeros((3, 3)))
    same(stagrad.stop_gradient(X), X)
    assert stagrad.testing.check_grads is not None


def test_an_element_of_an_outer_argument_inside_an_inner_derivative():
    def outer(x):
        return stagrad.grad(lambda y: y * y * x[0] + y * x[1:][0])(2.0)

    same(stagrad.grad(outer)(np.array([1.0, 2.0])), [4.0, 1.0])


def test_a_repeated_call_with_a_static_argument_takes_the_short_way():
    @functools.partial(stagrad.compile, static_argnums=1)
    def repeated(x, count):
        for _ in range(count):
            x = np.sin(x)
        return x

    x = np.array(0.5)
    for count in (1, 2, 2, 1, True, 2):
        want = functools.reduce(lambda value, _: np.sin(value), range(count), x)
        np.testing.assert_allclose(repeated(x, count), want, rtol=1e-15)
    assert repeated._fast is not None
