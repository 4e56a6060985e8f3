"""vjp, jvp, jacobian, hessian and hvp agree with each other and with mathematics."""

import tracemalloc

import numpy as np
import pytest

import stagrad
from stagrad.trace import flatten

X = np.array([0.5, -1.0, 2.0])
MATRIX = np.arange(6.0).reshape(2, 3) + 1.0


def curve(x):
    return np.stack([x[0] * x[1], x[1] ** 2, x[2] * x[0], x[0] + x[1] + x[2]])


CURVE = np.array([[-1.0, 0.5, 0.0], [0.0, -2.0, 0.0], [2.0, 0.0, 0.5], [1.0, 1.0, 1.0]])


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_jacobian(mode):
    np.testing.assert_allclose(stagrad.jacobian(curve, mode=mode)(X), CURVE)
    blocks = stagrad.jacobian(lambda a, b: (a * b, np.sum(a)), (0, 1), mode=mode)(X, 2.0 * X)
    np.testing.assert_allclose(blocks[0][0], np.diag(2 * X))
    np.testing.assert_allclose(blocks[0][1], np.diag(X))
    np.testing.assert_allclose(blocks[1][0], np.ones(3))
    np.testing.assert_allclose(blocks[1][1], np.zeros(3))


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_jacobian_shapes(mode):
    assert stagrad.jacobian(lambda x: x @ x.T, mode=mode)(MATRIX).shape == (2, 2, 2, 3)
    assert stagrad.jacobian(np.sum, mode=mode)(MATRIX).shape == (2, 3)
    assert stagrad.jacobian(lambda x: x * X, mode=mode)(2.0).shape == (3,)
    assert stagrad.jacobian(lambda x: x * 2.0, mode=mode)(np.zeros((0, 2))).shape == (0, 2, 0, 2)


def test_vjp_and_jvp_are_transposes():
    direction, cotangent = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.1, -1.0, 2.0])
    value, pullback = stagrad.vjp(curve, X)
    again, tangent = stagrad.jvp(curve, (X,), (direction,))
    np.testing.assert_array_equal(value, again)
    np.testing.assert_allclose(cotangent @ tangent, pullback(cotangent)[0] @ direction)
    np.testing.assert_allclose(tangent, CURVE @ direction)


def test_pullback_takes_and_returns_trees():
    def f(params, k, name):
        assert name == "n"
        return {"a": params["w"] * 2.0, "b": (np.sum(params["w"]) * k, k)}

    value, pullback = stagrad.vjp(f, {"w": X}, 3, "n")
    assert set(value) == {"a", "b"}
    cotangents = pullback({"a": np.ones(3), "b": (1.0, 0)})
    assert cotangents[1:] == (None, None)
    np.testing.assert_allclose(cotangents[0]["w"], 5.0 * np.ones(3))
    with pytest.raises(TypeError, match="structure"):
        pullback(np.ones(3))
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        pullback({"a": np.ones(2), "b": (1.0, 0)})


def test_jvp_errors():
    with pytest.raises(TypeError, match="structure"):
        stagrad.jvp(curve, (X,), (X, X))
    with pytest.raises(ValueError, match="argument 'x' of curve"):
        stagrad.jvp(curve, (X,), (np.ones(2),))
    with pytest.raises(TypeError, match="tuples"):
        stagrad.jvp(curve, X, X)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def test_hessian_and_hvp():
    hessian = stagrad.hessian(rosenbrock)(X)
    np.testing.assert_allclose(hessian, hessian.T)
    vector = np.array([1.0, 0.3, -2.0])
    np.testing.assert_allclose(stagrad.hvp(rosenbrock, X, vector), hessian @ vector, rtol=1e-12)
    first, second = stagrad.hvp(lambda a, b: np.sum(a * b * b), (X, X), (vector, 0.0 * X))
    np.testing.assert_allclose(first, 0.0 * X)
    np.testing.assert_allclose(second, 2 * X * vector)


def test_transforms_nest_in_every_order():
    scalar = {
        "grad": lambda f: stagrad.grad(f),
        "jvp": lambda f: lambda x: stagrad.jvp(f, (x,), (1.0,))[1],
        "vjp": lambda f: lambda x: stagrad.vjp(f, x)[1](1.0)[0],
        "jacobian": lambda f: stagrad.jacobian(f),
        "forward": lambda f: stagrad.jacobian(f, mode="forward"),
        "compile": lambda f: stagrad.compile(stagrad.grad(f)),
    }
    for name, outer in scalar.items():
        for other, inner in scalar.items():
            got = outer(inner(lambda x: x**3))(2.0)
            np.testing.assert_allclose(got, 12.0, err_msg=f"{name} of {other}")


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_higher_orders(order):
    f = np.sin
    for _ in range(order):
        f = stagrad.grad(f)
    want = [np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)][order % 4](0.7)
    np.testing.assert_allclose(f(0.7), want, rtol=1e-12)


def test_complex_conventions():
    z = np.array([1.0 + 2.0j, -0.5 + 0.3j])
    np.testing.assert_allclose(stagrad.grad(lambda z: np.sum(np.abs(z) ** 2))(z), 2 * z)
    np.testing.assert_allclose(stagrad.grad(lambda z: np.sum(np.imag(z)))(z), [1j, 1j])
    _, pullback = stagrad.vjp(lambda z: z**2, z)
    np.testing.assert_allclose(pullback(np.ones(2, complex))[0], np.conj(2 * z))
    _, tangent = stagrad.jvp(lambda z: np.conj(z) * z, (z,), (1j * z,))
    np.testing.assert_allclose(tangent, np.zeros(2), atol=1e-14)
    _, tangent = stagrad.jvp(np.abs, (z,), (z,))
    np.testing.assert_allclose(tangent, np.abs(z))


def test_a_pullback_may_be_called_inside_another_trace():
    _, pullback = stagrad.vjp(curve, X)
    got = stagrad.compile(lambda ct: pullback(ct)[0])(np.ones(4))
    np.testing.assert_allclose(got, CURVE.sum(axis=0))


def test_jacobians_are_built_once():
    traces = []

    def f(x):
        traces.append(1)
        return x * x

    jacobian, hessian = stagrad.jacobian(f), stagrad.hessian(lambda x: np.sum(f(x)))
    for _ in range(3):
        jacobian(X)
    once = len(traces)
    for _ in range(3):
        hessian(X)
    twice = len(traces)
    hessian(X)
    assert once <= 2
    assert len(traces) == twice


def test_results_without_a_derivative_have_zero_blocks():
    def f(x):
        return np.argmax(x), 3, x[:2], 1.5

    blocks = stagrad.jacobian(f)(X)
    assert [block.shape for block in blocks] == [(3,), (3,), (2, 3), (3,)]
    np.testing.assert_array_equal(blocks[2], np.eye(2, 3))
    assert not any(np.any(blocks[place]) for place in (0, 1, 3))
    with pytest.raises(TypeError, match="<lambda> returns 'x'"):
        stagrad.jacobian(lambda x: (x, "x"))(X)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobians_keep_dtypes_and_trees(mode):
    def f(parts):
        return {"narrow": np.sin(parts["x"]), "wide": parts["x"] * parts["y"][0]}

    x, y = X.astype(np.float32), [X[:1]]
    blocks = stagrad.jacobian(f, mode=mode)({"x": x, "y": y})
    assert set(blocks) == {"narrow", "wide"}
    assert blocks["narrow"]["x"].dtype == np.float32
    np.testing.assert_allclose(blocks["narrow"]["x"], np.diag(np.cos(x)), rtol=1e-6)
    np.testing.assert_allclose(blocks["wide"]["y"][0], x[:, None])
    np.testing.assert_allclose(blocks["wide"]["x"], np.eye(3) * X[0])


def test_a_jacobian_is_one_program_whatever_its_size():
    def f(x, a):
        return np.tanh(a @ x)

    small, large = (
        stagrad.jacobian(f).lower(np.ones(n), np.ones((2 * n, n))).source for n in (40, 100)
    )
    assert len(small.splitlines()) == len(large.splitlines())


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("size", [64, 300, 1 << 20])
def test_a_jacobian_in_chunks_is_the_same(monkeypatch, mode, size):
    captured = np.linspace(0.5, 1.5, 12).reshape(4, 3)

    def f(a, x):
        inner = np.log(captured * captured + a @ (a[:3] * a[:3]))
        return inner @ x, {"n": np.argmax(x), "last": x[::-1]}

    a, x = captured + 1.0, X[:3]
    whole = stagrad.jacobian(f, (0, 1), mode=mode)(a, x)
    monkeypatch.setattr("stagrad.api.jacobian.CHUNK_BYTES", size)
    jacobian = stagrad.jacobian(f, (0, 1), mode=mode)
    for _ in range(2):
        chunked = jacobian(a, x)
        for ours, want in zip(flatten(chunked)[0], flatten(whole)[0], strict=True):
            np.testing.assert_allclose(ours, want, rtol=1e-13)
            assert ours.dtype == want.dtype
            ours[...] = 0.0


def test_large_jacobians_need_little_beside_themselves():
    """Two thousand passes over arrays of 160 kB, which together would take 320 MB."""
    weights = np.linspace(-1.0, 1.0, 20_000).reshape(10, 2_000)

    def f(x):
        return np.mean(np.sin(weights[:, :, None] * x).reshape(10, 2_000) ** 2, axis=0)

    jacobian = stagrad.jacobian(f, mode="reverse")
    jacobian(np.array([0.3]))
    tracemalloc.start()
    got = jacobian(np.array([0.3]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 32e6
    want = np.mean(np.sin(0.6 * weights) * weights, axis=0)
    np.testing.assert_allclose(got[:, 0], want, rtol=1e-10, atol=1e-12)
