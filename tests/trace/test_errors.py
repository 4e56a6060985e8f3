"""What cannot be traced says so, with the user's line and what to write instead."""

import math
import threading

import numpy as np
import pytest
from scipy import linalg, optimize

import stagrad
from stagrad.errors import TraceError, UnsupportedError
from stagrad.trace import current_trace

X = np.array([1.0, -2.0, 3.0])

KEPT = []


def branch(x):
    if np.sum(x) > 0:
        return x
    return -x


def loop(x):
    while x[0] < 10.0:
        x = x * 2.0
    return x


def chained(x):
    return 1.0 if 0.0 < x[0] < 2.0 else 2.0


@pytest.mark.parametrize(
    ("function", "line"),
    [(branch, "if np.sum(x) > 0:"), (loop, "while x[0] < 10.0:"), (chained, "0.0 < x[0] < 2.0")],
)
def test_control_flow_on_a_traced_value(function, line):
    for transform in (stagrad.compile, stagrad.grad):
        with pytest.raises(TraceError, match=r"np\.where") as caught:
            transform(function)(X)
        assert line in str(caught.value)
        assert "test_errors.py" in str(caught.value)


def test_shapes_are_concrete():
    @stagrad.compile
    def f(x):
        if x.shape[0] > 2 and x.ndim == 1 and len(x) == 3 and x.size < 10:
            return x * x.shape[0]
        return x

    np.testing.assert_array_equal(f(X), X * 3)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: float(x[0]),
        lambda x: int(x[0]),
        lambda x: x[0].item(),
        lambda x: x.tolist(),
        lambda x: np.unique(x),
        lambda x: x[x > 0] + x,
        lambda x: len(x[x > 0]),
        lambda x: x[x > 0][0],
        lambda x: np.nonzero(x),
        lambda x: range(int(x[0])),
        lambda x: np.save("never.npy", x),
    ],
)
def test_asking_for_numbers_raises(function):
    with pytest.raises((TraceError, UnsupportedError)):
        stagrad.compile(function)(X)


def test_writing_a_traced_value_into_a_captured_array_raises_and_changes_nothing():
    plain = np.zeros(3)

    def store(x):
        plain[0] = x[0]
        return x

    def add(x):
        nonlocal plain
        plain += x
        return x

    for function in (store, add):
        with pytest.raises((TypeError, TraceError)):
            stagrad.compile(function)(X)
    np.testing.assert_array_equal(plain, np.zeros(3))


def test_a_traced_value_that_escapes_says_where_it_was_born():
    @stagrad.compile
    def keep(x):
        KEPT.append(x * 2.0)
        return x

    keep(X)
    with pytest.raises(TraceError, match=r"test_errors\.py"):
        KEPT[0] + 1.0
    with pytest.raises(TraceError, match="after its function was traced"):
        stagrad.compile(lambda x: x + KEPT[0])(X)
    KEPT.clear()


def test_an_exception_in_the_function_reaches_the_caller_and_leaves_no_state():
    answers = iter([ValueError("mine"), None])

    @stagrad.compile
    def f(x):
        error = next(answers)
        if error:
            raise error
        return np.zeros(3) + x

    with pytest.raises(ValueError, match="mine"):
        f(X)
    assert current_trace() is None
    assert type(np.zeros(3)) is np.ndarray
    np.testing.assert_array_equal(f(X), X)
    np.testing.assert_array_equal(stagrad.compile(lambda x: x * 2.0)(X), X * 2.0)


def test_creation_functions_are_numpys_own_outside_and_in_other_threads():
    before = np.zeros
    seen = {}

    def f(x):
        def look():
            seen["type"] = type(np.zeros(2))
            seen["trace"] = current_trace()

        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        return x + np.zeros(3)

    stagrad.compile(f)(X)
    assert seen == {"type": np.ndarray, "trace": None}
    assert np.zeros is before


def test_threads_trace_and_call_at_once():
    @stagrad.compile
    def f(x, s):
        a = np.zeros(3)
        a[1] = x[0] * s
        return a + x

    wrong = []

    def work(seed):
        for k in range(20):
            x = np.full(3, float(seed + k))
            g = stagrad.grad(lambda y, k=k: np.sum(y * y * k))
            if not np.array_equal(f(x, 2.0), x + np.array([0.0, 2.0 * x[0], 0.0])):
                wrong.append(seed)
            if not np.array_equal(g(x), 2.0 * k * x):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (lambda x: math.sin(x[0]), r"Python float.*np\.sin"),
        (lambda x: x[int(x[0])], r"Python int.*astype\(int\)"),
        (lambda x: round(x[0]), "Python int"),
    ],
)
def test_the_advice_fits_the_conversion(function, advice):
    with pytest.raises(TraceError, match=f"(?s){advice}"):
        stagrad.compile(function)(X)


def test_what_other_packages_refuse_is_told_at_the_users_line():
    def root(x):
        return optimize.brentq(lambda z: z - x[0], 0.0, 5.0)

    with pytest.raises(TraceError) as caught:
        stagrad.grad(root)(X)
    told = str(caught.value)
    assert told.index("in root") < told.rindex("_zeros_py.py")
    assert "optimize.brentq(lambda z" in told


def test_scipys_functions_carry_the_users_line():
    lowered = stagrad.compile(lambda a, b: linalg.cho_solve((a, True), b)).lower(np.eye(2), X[:2])
    assert {node.source.file for node in lowered.graph.nodes if node.source} == {__file__}


def test_printing_shows_what_kind_of_value_it_is():
    shown = []

    @stagrad.compile
    def f(x):
        shown.extend([f"{x}", f"{np.sum(x):.3f}", f"{round(x[0], 2)}"])
        return np.round(x, 1) - round(x[0], 1)

    np.testing.assert_array_equal(f(X), X - X[0])
    assert shown == ["Tracer(f64[3])", "Tracer(f64[])", "Tracer(f64[])"]
    assert repr(f) == "<stagrad function f>"
    assert repr(stagrad.grad(f)) == "<stagrad function grad_f>"


def test_an_error_of_the_program_notes_the_users_line():
    def factor(x):
        return np.sum(np.linalg.cholesky(x))

    gradient = stagrad.grad(factor)
    gradient(np.eye(2))
    for matrix in (-np.eye(2), -np.eye(3)):  # known and new to the gradient
        with pytest.raises(np.linalg.LinAlgError) as caught:
            gradient(matrix)
        (note,) = caught.value.__notes__
        assert note.startswith("raised by the emitted line ")
        assert "test_errors.py" in note
        assert "return np.sum(np.linalg.cholesky(x))" in note
    with pytest.raises(TraceError) as caught:
        stagrad.grad(branch)(X)
    assert not hasattr(caught.value, "__notes__")


def test_unsupported_functions_are_named():
    with pytest.raises(UnsupportedError, match=r"np\.apply_over_axes|np\.unique"):
        stagrad.compile(lambda x: np.unique(x))(X)


def test_objects_as_arguments():
    with pytest.raises(TypeError, match="argument 'x'"):
        stagrad.compile(lambda x: x)(np.array(["a", "b"]))
    with pytest.raises(TypeError, match="MaskedArray"):
        stagrad.compile(lambda x: x)(np.ma.masked_array([1.0]))
