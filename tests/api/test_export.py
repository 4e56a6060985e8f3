"""Exported files run where stagrad is not, and give what stagrad gives."""

import dataclasses
import pickle
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.special

import stagrad
from stagrad.errors import UnsupportedError

# Runs a file's function in an interpreter that cannot import stagrad, on pickled arguments.
RUNNER = """
import pickle, runpy, sys
sys.modules["stagrad"] = None
file, name = sys.argv[1:]
args, kwargs = pickle.load(sys.stdin.buffer)
result = runpy.run_path(file)[name](*args, **kwargs)
pickle.dump((result, args), sys.stdout.buffer)
"""


def run_alone(path, name, *args, **kwargs):
    """Return the result and the arguments as they are afterwards."""
    finished = subprocess.run(
        [sys.executable, "-I", "-W", "error", "-c", RUNNER, str(path), name],
        input=pickle.dumps((args, kwargs)),
        capture_output=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr.decode()
    return pickle.loads(finished.stdout)


def call(path, name, *args, **kwargs):
    """Call a file's function in this interpreter."""
    namespace: dict[str, Any] = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
    return namespace[name](*args, **kwargs)


def loss(slope, offset, x, y):
    prediction = scipy.special.erf(slope * x + offset)
    return np.sum((prediction - y) ** 2)


X = np.linspace(-1.0, 1.0, 40)


def test_a_gradient_runs_without_stagrad(tmp_path):
    path = stagrad.export(loss, 0.5, 0.1, X, X**3, path=tmp_path / "fit.py", grad=(0, 1))
    assert path == tmp_path / "fit.py"
    found, _ = run_alone(path, "grad_loss", 0.7, 0.2, X, y=X**2)
    np.testing.assert_array_equal(found, stagrad.grad(loss, (0, 1))(0.7, 0.2, X, X**2))
    text = path.read_text(encoding="utf-8")
    assert text.startswith('"""grad_loss: exported by stagrad from loss (test_export.py:')
    assert "needs NumPy and SciPy." in text
    assert "x: float64 (40,)" in text
    assert "import stagrad" not in text
    assert "prediction = special.erf" in text


def test_avals_stand_for_arguments_and_transformed_functions_are_taken(tmp_path):
    avals = map(stagrad.aval, ("f64[]", "f64[]", "f32[40]", "f32[40]"))
    function = stagrad.value_and_grad(loss, 1)
    path = stagrad.export(function, *avals, path=tmp_path / "fit.py")
    x = X.astype(np.float32)
    args = np.float64(0.5), np.float64(0.1), x, x**2
    found = call(path, "value_and_grad_loss", *args)
    np.testing.assert_array_equal(found, function(*args))


def test_a_function_that_differentiates_is_exported_with_its_derivatives(tmp_path):
    def curvature(x):
        return stagrad.hessian(lambda y: np.sum(y**3))(x)

    path = stagrad.export(curvature, X, path=tmp_path / "curvature.py")
    np.testing.assert_allclose(call(path, "curvature", X), np.diag(6 * X))


class State(NamedTuple):
    position: Any
    velocity: Any


@dataclasses.dataclass
class Weights:
    matrix: Any
    bias: Any = None


def step(params, state, pair, *, kind="tanh", scale):
    hidden = getattr(np, kind)(state.position @ params["w"] + params["bias"]["b"]) * scale
    moved = State(state.position + state.velocity, hidden)
    return {"state": moved, "kind": kind, "parts": [hidden, (pair[1],)], "nothing": None}


def test_containers_keep_their_structure(tmp_path):
    params = {"w": np.eye(3), "bias": {"b": np.ones(3)}}
    state = State(np.arange(3.0), 2)
    args = params, state, [1.5, None]
    path = stagrad.export(step, *args, path=tmp_path / "s.py", kind="sin", scale=np.float32(2))
    state = State(np.arange(3.0) + 1, 4)
    found = call(path, "step", params, state, (3.5, None), scale=np.float32(3))
    want = step(params, state, (3.5, None), kind="sin", scale=np.float32(3))
    assert found["state"]._fields == state._fields
    np.testing.assert_array_equal(found["state"][0], want["state"][0])
    np.testing.assert_array_equal(found["state"][1], want["state"][1])
    assert (found["kind"], found["nothing"], found["parts"][1]) == ("sin", None, (None,))
    assert type(found["parts"]) is list


def test_gradients_come_in_the_structure_of_their_arguments(tmp_path):
    def norm(weights, factor):
        return np.sum(weights.matrix**2) * factor

    weights = Weights(np.ones((2, 3)))
    path = stagrad.export(norm, weights, 2.0, path=tmp_path / "n.py", grad=0)
    matrix, bias = call(path, "grad_norm", Weights(np.full((2, 3), 5.0)), 3.0)
    np.testing.assert_array_equal(matrix, np.full((2, 3), 30.0))
    assert bias is None


BITS = np.array([0.1, -0.0, np.inf, np.nan, 5e-324])
MANY = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
FEW = np.array([[1, 2], [3, 4]], np.int8)
NONE = np.zeros((0, 3))


def test_captured_arrays_are_written_to_the_bit(tmp_path):
    def captured(x):
        return BITS * x, MANY * np.float32(1), FEW + np.int8(0), NONE * x

    path = stagrad.export(captured, 1.0, path=tmp_path / "c.py")
    found, _ = run_alone(path, "captured", 1.0)
    for one, other in zip(found, (BITS, MANY, FEW, NONE), strict=True):
        assert one.tobytes() == other.tobytes()
        assert (one.shape, one.dtype) == (other.shape, other.dtype)


def test_what_the_function_writes_to_is_written(tmp_path):
    def normalize(x):
        x /= np.sum(x)

    path = stagrad.export(normalize, np.ones(4), path=tmp_path / "w.py")
    result, (x,) = run_alone(path, "normalize", np.array([1.0, 3.0, 2.0, 2.0]))
    assert result is None
    np.testing.assert_array_equal(x, [0.125, 0.375, 0.25, 0.25])


def apply(function, x, count, z, outputs, _apply, np_=1.0):
    return function(x) * count + z + outputs + _apply + np_


def test_names_do_not_collide_and_functions_are_fixed(tmp_path):
    args = np.sin, X, 3, 1j, 2.0, 3.0
    path = stagrad.export(stagrad.compile(apply), *args, path=tmp_path / "a.py")
    found = call(path, "apply", None, X, 4, 2j, 5.0, 6.0)
    np.testing.assert_array_equal(found, apply(np.sin, X, 4, 2j, 5.0, 6.0))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"x": X[:3]}, ValueError, r"x must have shape \(40,\), not \(3,\); or export again"),
        ({"x": X.astype("f4")}, TypeError, r"x must have dtype float64, not float32; .*\.astype"),
        ({"slope": "1"}, TypeError, r"slope must be one number, float, not '1'"),
        ({"slope": X}, TypeError, r"slope must be one number"),
        ({"params": {"w": X}}, TypeError, r"params must be a dict with the keys \('b', 'w'\)"),
        ({"params": {"w": X, "b": 1}}, TypeError, r"params\['b'\] must have dtype float64"),
        ({"pair": (X,)}, TypeError, r"pair must be a tuple or list of length 2"),
        ({"kind": "cos"}, ValueError, r"kind is fixed at 'sin', not 'cos'; export again"),
        ({"nothing": 0}, ValueError, r"nothing is fixed at None, not 0"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_by_name(tmp_path, change, error, message):
    def function(slope, x, params, pair, *, kind, nothing):
        return getattr(np, kind)(slope * x) + params["w"] + params["b"] + pair[0] + pair[1]

    given = {"slope": 1.0, "x": X, "params": {"w": X, "b": np.float64(1)}, "pair": (X, X)}
    fixed = {"kind": "sin", "nothing": None}
    path = stagrad.export(function, *given.values(), path=tmp_path / "f.py", **fixed)
    expected = function(**given, **fixed)
    np.testing.assert_array_equal(call(path, "function", **given), expected)
    with pytest.raises(error, match=message):
        call(path, "function", **(given | fixed | change))


def test_what_a_file_cannot_hold_is_refused(tmp_path):
    with pytest.raises(UnsupportedError, match=r"export: the function returns .* cannot hold"):
        stagrad.export(lambda x: (x, np.sin), X, path=tmp_path / "f.py")
    assert not (tmp_path / "f.py").exists()
