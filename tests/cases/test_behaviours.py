"""Behaviours that are not numbers: those of traced and compiled functions.

Each test is named for the number of the behaviour in the list that all of stagrad is held to; the
others of that list concern eager tensors and native code.
"""

import operator
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import stagrad
from stagrad.errors import TraceError

ROOT = Path(__file__).parents[2]
X = np.array([1.0, 2.0, 3.0])


# Augmented assignment, and plain arrays beside traced ones.


def add_one_at_repeated_places(x):
    y = x * 1
    y[[0, 0, 1]] += 1
    return y


def test_pb11_augmented_assignment_reads_adds_and_writes_once():
    want = add_one_at_repeated_places(X)
    np.testing.assert_array_equal(want, [2.0, 3.0, 3.0])
    np.testing.assert_array_equal(stagrad.compile(add_one_at_repeated_places)(X), want)
    _, pull = stagrad.vjp(add_one_at_repeated_places, X)
    (gradient,) = pull(np.array([1.0, 10.0, 100.0]))
    np.testing.assert_array_equal(gradient, [1.0, 10.0, 100.0])


@pytest.mark.parametrize(
    "left",
    [np.array([1.0, 2.0, 4.0]), np.float64(3.0), np.array(2.0), [1.0, 2.0, 4.0], 3, 2.5],
    ids=["array", "numpy scalar", "0-d array", "list", "int", "float"],
)
@pytest.mark.parametrize(
    ("operation", "slope"),
    [(operator.mul, None), (operator.add, 1.0), (operator.sub, -1.0)],
    ids=["mul", "add", "sub"],
)
def test_pb23_a_plain_value_on_the_left_makes_a_traced_result(left, operation, slope):
    want = operation(np.asarray(left), X)
    slope = np.broadcast_to(left if slope is None else slope, 3)
    result = stagrad.compile(lambda x: operation(left, x))(X)
    assert result.dtype == float
    np.testing.assert_array_equal(result, want)
    output, pull = stagrad.vjp(lambda x: operation(left, x), X)
    np.testing.assert_array_equal(output, want)
    np.testing.assert_array_equal(pull(np.ones(3))[0], slope)


def test_pb24_a_plain_array_made_inside_takes_a_traced_value():
    def accumulated(x):
        total = np.zeros(3)
        total += x * x
        return np.sum(total)

    np.testing.assert_array_equal(stagrad.grad(accumulated)(X), 2 * X)


def test_pb24_a_traced_value_does_not_leak_into_a_plain_array_from_outside():
    outside = np.zeros(3)

    def function(x):
        nonlocal outside
        outside += x
        return np.sum(outside)

    with pytest.raises(TypeError):
        stagrad.grad(function)(X)
    np.testing.assert_array_equal(outside, np.zeros(3))
    assert type(outside) is np.ndarray
    assert outside.dtype == float


@pytest.mark.parametrize("convert", [float, int, bool, lambda x: x.tolist()], ids=repr)
def test_pb24_a_traced_value_is_not_a_number(convert):
    with pytest.raises(TraceError, match=Path(__file__).name):
        stagrad.compile(lambda x: x * convert(x[0]))(X)


# Tracing.


def test_pb25_a_captured_number_that_changes_is_seen():
    k = 2.0
    function = stagrad.compile(lambda x: x * k)
    assert function(3.0) == 6.0
    k = 5.0
    assert function(3.0) == 15.0


def helper(x):
    return x + 1.0


def test_pb25_a_helper_that_is_rebound_is_seen(monkeypatch):
    function = stagrad.compile(lambda x: helper(x))
    assert function(3.0) == 4.0
    monkeypatch.setitem(globals(), "helper", lambda x: x * 10.0)
    assert function(3.0) == 30.0


def test_pb26_a_branch_on_a_traced_value_names_the_line_and_the_way_out():
    def function(x):
        if np.sum(x) > 0:
            return x
        return -x

    with pytest.raises(TraceError, match=r"np\.where") as caught:
        stagrad.compile(function)(X)
    message = str(caught.value)
    assert Path(__file__).name in message
    line = function.__code__.co_firstlineno + 1
    assert f":{line}" in message or "if np.sum(x) > 0" in message


def test_pb26_a_branch_on_a_shape_is_plain_python():
    def function(x):
        if x.shape[0] > 2 and x.ndim == 1:
            return x * 2
        return x

    compiled = stagrad.compile(function)
    np.testing.assert_array_equal(compiled(X), X * 2)
    np.testing.assert_array_equal(compiled(X[:2]), X[:2])


def test_pb27_new_numbers_do_not_trace_again():
    traces = []

    @stagrad.compile
    def function(x, s):
        traces.append(s)
        return x * s + s

    for s in np.linspace(-3.0, 3.0, 50).tolist():
        np.testing.assert_array_equal(function(X, s), X * s + s)
    assert len(traces) <= 2


def test_pb27_an_int_after_a_float_promotes_as_in_numpy():
    function = stagrad.compile(lambda x, s: x * s)
    for x in (X, X.astype(np.float32), np.arange(3)):
        for s in (2.0, 3, 2.5, 4):
            want = x * s
            result = function(x, s)
            assert result.dtype == want.dtype
            np.testing.assert_array_equal(result, want)


def test_pb28_what_is_returned_is_not_the_caller_s_array():
    identity = stagrad.compile(lambda x: x)
    given = X.copy()
    result = identity(given)
    result[0] = 99.0
    np.testing.assert_array_equal(given, X)


def test_pb28_what_is_returned_is_not_the_captured_array():
    captured = X.copy()
    function = stagrad.compile(lambda x: captured)
    result = function(1.0)
    result[0] = 99.0
    np.testing.assert_array_equal(captured, X)
    np.testing.assert_array_equal(function(1.0), X)


def increment(x):
    x += 1
    return np.sum(x * x)


def test_pb28_a_compiled_function_writes_into_its_argument_as_numpy_does():
    plain, compiled = X.copy(), X.copy()
    assert stagrad.compile(increment)(compiled) == increment(plain)
    np.testing.assert_array_equal(compiled, plain)


DERIVATIVES = {
    "grad": lambda x: stagrad.grad(increment)(x),
    "value_and_grad": lambda x: stagrad.value_and_grad(increment)(x)[1],
    "vjp": lambda x: stagrad.vjp(increment, x)[1](1.0)[0],
    "jvp": lambda x: stagrad.jvp(increment, (x,), (np.ones(3),))[1],
    "hessian": lambda x: stagrad.hessian(increment)(x),
    "jacobian": lambda x: stagrad.jacobian(increment)(x),
}


@pytest.mark.parametrize("derivative", DERIVATIVES.values(), ids=DERIVATIVES)
def test_pb28_a_derivative_never_writes_into_its_argument(derivative):
    given = X.copy()
    first = derivative(given)
    np.testing.assert_array_equal(given, X)
    np.testing.assert_array_equal(derivative(given), first)
    wanted = {1: 2 * (X + 1), 0: np.sum(2 * (X + 1)), 2: 2 * np.eye(3)}
    np.testing.assert_array_equal(first, wanted[np.ndim(first)])


def test_pb29_an_error_in_the_function_arrives_as_it_is_and_leaves_nothing_behind():
    fails = True

    @stagrad.compile
    def function(x):
        y = x * 2.0
        if fails:
            raise ValueError("not yet")
        return y

    other = stagrad.compile(lambda x: x + 1.0)
    zeros = np.zeros
    with pytest.raises(ValueError, match=r"^not yet$") as caught:
        function(X)
    assert type(caught.value) is ValueError
    assert np.zeros is zeros
    assert type(np.zeros(2)) is np.ndarray
    np.testing.assert_array_equal(other(X), X + 1.0)
    np.testing.assert_array_equal(stagrad.grad(increment)(X), 2 * (X + 1))
    fails = False
    np.testing.assert_array_equal(function(X), X * 2.0)


# The process around a compiled function.

PROGRAM = """
    import numpy as np
    import stagrad

    def function(x):
        return np.sum(np.tanh(x) * np.exp(-x * x))

    x = np.linspace(-1.0, 1.0, 1001)
    value, gradient = stagrad.value_and_grad(function)(x)
    np.testing.assert_allclose(value, function(x), rtol=1e-13)
    t = np.tanh(x)
    np.testing.assert_allclose(gradient, (1 - t * t - 2 * x * t) * np.exp(-x * x), rtol=1e-12)
    print("right")
"""


def test_pb30_no_compiler_and_no_home_to_write_in(tmp_path):
    environment = {"CC": "/nonexistent/cc", "HOME": "/dev/null/home", "TMPDIR": str(tmp_path)}
    environment["XDG_CACHE_HOME"] = "/dev/null/cache"
    finished = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout == "right\n"
    assert finished.stderr.count("Warning") <= 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_pb33_a_forked_child_calls_what_the_parent_has_called():
    x = np.linspace(0.0, 1.0, 200_000)
    function = stagrad.compile(lambda x: np.sum(np.sin(x) * np.exp(x)))
    want = function(x)
    child = os.fork()
    if child == 0:
        fresh = stagrad.grad(lambda x: np.sum(x * x))(X)
        os._exit(0 if function(x) == want and np.array_equal(fresh, 2 * X) else 1)
    watchdog = threading.Timer(10.0, os.kill, (child, 9))
    watchdog.start()
    _, status = os.waitpid(child, 0)
    watchdog.cancel()
    assert status == 0


def test_pb34_the_process_s_floating_point_state_is_untouched():
    def smallest_survives():
        return np.float64(5e-324) * 1 != 0

    settings = np.geterr()
    function = stagrad.compile(lambda x: np.sum(np.exp(x) / x))
    with np.errstate(all="ignore"):
        function(np.linspace(-1e3, 1e3, 10_001))
    assert np.geterr() == settings
    assert smallest_survives()
    seen = []
    thread = threading.Thread(target=lambda: seen.append(smallest_survives()))
    thread.start()
    thread.join()
    assert seen == [True]
