"""Threads, exceptions, names, processes and garbage: what a call leaves behind."""

import functools
import gc
import itertools
import os
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import stagrad
from stagrad.errors import UnsupportedError
from stagrad.trace import current_trace

KEPT: list = []


class Model:
    """A class with compiled methods of every kind."""

    def __init__(self):
        self.weights = np.ones(2)

    @stagrad.compile
    def apply(self, x):
        return self.weights * x

    @classmethod
    @stagrad.compile
    def double(cls, x):
        return x * 2.0

    @staticmethod
    @stagrad.compile
    def triple(x):
        return x * 3.0


SHARED = np.ones(3)


def test_a_place_written_during_a_trace_keeps_what_was_written(monkeypatch):
    monkeypatch.setitem(globals(), "SHARED", np.ones(3))

    def f(x):
        globals()["SHARED"] = np.full(3, 7.0)
        return np.sum(SHARED * x)

    assert stagrad.compile(f)(1.0) == 21.0
    np.testing.assert_array_equal(SHARED, np.full(3, 7.0))
    assert type(np.asarray(SHARED) * 1.0) is np.ndarray


def test_another_thread_may_rebind_a_captured_array_during_a_trace(monkeypatch):
    monkeypatch.setitem(globals(), "SHARED", np.ones(3))

    def rebind():
        globals()["SHARED"] = np.full(3, 7.0)

    def f(x):
        thread = threading.Thread(target=rebind)
        thread.start()
        thread.join()
        return x + np.sum(SHARED)

    compiled = stagrad.compile(f)
    for _ in range(2):
        assert compiled(1.0) == 22.0
        np.testing.assert_array_equal(SHARED, np.full(3, 7.0))


def test_other_threads_compute_plain_arrays_during_a_trace():
    seen = []

    def look():
        seen.extend(
            [SHARED * 2, SHARED[1:], SHARED.T, np.cumsum(SHARED), np.zeros(2), np.sum(SHARED)]
        )

    def f(x):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        return np.sum(SHARED * x)

    assert stagrad.compile(f)(2.0) == 6.0
    assert [type(value) for value in seen] == [np.ndarray] * 5 + [np.float64]


def test_arrays_kept_from_a_trace_compute_plain_arrays():
    KEPT.clear()

    def f(x):
        KEPT.append(np.ones(3))
        return x

    stagrad.compile(f)(1.0)
    (kept,) = KEPT
    for value in (kept + 1, kept[1:], kept.T, np.cumsum(kept), kept.copy(), -kept):
        assert type(value) is np.ndarray


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_nothing_stays_replaced_after_an_exception(error):
    before = {name: getattr(np, name) for name in ("zeros", "array", "sum", "where")}

    def f(x):
        table = np.zeros(2)
        table[0] = x * SHARED[0]
        raise error

    with pytest.raises(error):
        stagrad.grad(f)(1.0)
    assert before == {name: getattr(np, name) for name in before}
    assert type(SHARED) is np.ndarray
    assert current_trace() is None
    assert "max" not in globals()


def test_many_threads_compile_and_call_the_same_and_different_functions():
    x = np.arange(1.0, 5.0)

    def f(x):
        table = np.zeros(x.shape)
        table[0] = x[0] ** 2
        table[1:] = x[1:] * 2
        return np.sum(table * np.arange(x.size))

    shared = stagrad.grad(f)
    expected = {n: stagrad.grad(f)(x[:n]) for n in (2, 3, 4)}

    def work(number):
        for n in (2, 3, 4, 2):
            for gradient in (shared, stagrad.grad(f)):
                np.testing.assert_array_equal(gradient(x[:n]), expected[n])
        assert type(np.zeros(number + 1)) is np.ndarray
        with pytest.raises(ZeroDivisionError):
            stagrad.compile(lambda x: x / (1 // 0))(1.0)
        return number

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(16))) == list(range(16))


@pytest.mark.parametrize(
    "name", ["np", "special", "linalg", "sum", "float", "class", "", "a b", "é", "../x", "n" * 300]
)
def test_functions_of_any_name_compile_and_are_dumped(name, monkeypatch, tmp_path):
    monkeypatch.setenv("STAGRAD_DUMP", str(tmp_path))

    def f(x):
        return np.sum(np.sin(x) * float(len(x)))

    f.__name__ = name
    x = np.ones(3)
    assert stagrad.compile(f)(x) == f(x)
    np.testing.assert_allclose(stagrad.grad(f)(x), 3.0 * np.cos(x), rtol=1e-15)
    assert len(list(tmp_path.iterdir())) == 2


def test_exports_that_would_draw_are_refused(tmp_path):
    generator = np.random.default_rng(0)
    with pytest.raises(UnsupportedError, match=r"draws random numbers.*argument"):
        stagrad.export(lambda x: x * generator.normal(), 1.0, path=tmp_path / "draws.py")


SOURCE_OF_A_DICT = """
import hashlib
import numpy as np
import stagrad

def loss(p, x):
    table = np.zeros(4)
    table[0] = x[0]
    table[1:] = x[1:] * p["b"]
    parts = {"u": np.exp(table) @ p["w"], "v": np.sort(table), "w": np.linalg.norm(table)}
    return sum(np.sum(part) for part in parts.values()) + np.max(table) * np.std(table)

p = {"w": np.ones((4, 3)), "b": 2.0}
lowered = stagrad.grad(loss).lower(p, np.arange(4.0))
print(hashlib.sha256((lowered.source + str(lowered.schedule)).encode()).hexdigest())
"""


def test_the_same_source_is_emitted_in_every_process():
    digests = set()
    for seed in ("0", "1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        run = subprocess.run(
            [sys.executable, "-c", SOURCE_OF_A_DICT],
            capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
        digests.add(run.stdout)
    assert len(digests) == 1


def test_programs_give_no_warnings_and_leave_numpys_settings_alone():
    x = np.array([-1.0, 0.0, np.inf, np.nan])
    with np.errstate(all="raise"):
        before = np.geterr()
        for f in (np.log, np.sqrt, lambda x: 1 / x, lambda x: x - x, np.exp):
            stagrad.compile(f)(x)
            stagrad.grad(lambda x, f=f: np.sum(f(x)))(x)
            assert np.geterr() == before


class Watched(np.ndarray):
    """An array that can be watched."""


def test_calls_keep_neither_arguments_nor_functions_alive():
    x = np.ones(3).view(Watched)
    watched = [weakref.ref(x)]

    def make(scale):
        def f(x):
            return np.sum(x * scale)

        compiled, gradient = stagrad.compile(f), stagrad.grad(f)
        compiled(watched[0]())
        gradient(watched[0]())
        stagrad.vjp(f, watched[0]())[1](1.0)
        stagrad.jvp(f, (np.ones(2),), (np.ones(2),))
        stagrad.hvp(f, np.ones(2), np.ones(2))
        stagrad.hessian(f)(np.ones(2))
        watched.extend(map(weakref.ref, (f, compiled, gradient)))
        return compiled, gradient

    kept = make(2.0)
    del x
    gc.collect()
    assert watched[0]() is None
    del kept
    gc.collect()
    assert [reference() for reference in watched] == [None] * 4


def test_what_is_made_for_a_function_is_made_once_and_not_for_its_wrapper():
    runs = itertools.count()

    def f(x):
        next(runs)
        return x * x

    @functools.wraps(f)
    def wrapper(x):
        return 3.0 * f(x)

    for function, factor in ((f, 1.0), (wrapper, 3.0), (f, 1.0), (wrapper, 3.0)):
        assert stagrad.vjp(function, 2.0)[1](1.0) == (4.0 * factor,)
        assert stagrad.jvp(function, (2.0,), (1.0,))[1] == 4.0 * factor
    assert next(runs) == 4
    model = Model()
    for number in (1.0, 2.0):
        model.weights = np.full(2, number)
        np.testing.assert_array_equal(stagrad.jvp(model.apply, (2.0,), (1.0,))[1], model.weights)


@pytest.mark.parametrize(
    "make",
    [
        lambda x, b: np.zeros_like(x),
        lambda x, b: np.full_like(x, 3.0),
        lambda x, b: np.where(x > 0, x, 0.0),
        lambda x, b: np.select([x > 0], [x], 0.0),
        lambda x, b: np.array(b[0]),
        lambda x, b: np.asarray(np.sum(b)),
        lambda x, b: np.array(x),
        lambda x, b: np.copy(x),
        lambda x, b: np.cov(b),
        lambda x, b: x.reshape(()),
        lambda x, b: b[0, ...],
        lambda x, b: b[0],
        lambda x, b: x * 2.0,
        lambda x, b: b @ b,
        lambda x, b: b.dot(b),
        lambda x, b: np.dot(b, b),
        lambda x, b: np.inner(b, b),
        lambda x, b: np.vdot(b, b),
        lambda x, b: np.einsum("i,i->", b, b),
        lambda x, b: np.matmul(b, b),
        lambda x, b: np.vecdot(b, b),
        lambda x, b: np.linalg.multi_dot([b, np.eye(3), b]),
        lambda x, b: np.prod(b),
        lambda x, b: b.prod(),
        lambda x, b: np.prod(x),
        lambda x, b: np.choose(0, [x, x]),
        lambda x, b: b.max(),
        lambda x, b: np.outer(b, b).trace(),
        lambda x, b: np.nanmedian(b),
        lambda x, b: np.take(b, 0),
        lambda x, b: np.linalg.norm(b),
        lambda x, b: np.interp(x, b, b),
        lambda x, b: np.kron(x, x),
    ],
)
def test_writes_to_results_without_axes_show_where_numpy_shows_them(make):
    def f(x, b):
        first = second = make(x, b)
        second += 1.0
        return np.sum(first), np.sum(second)

    x, b = np.array(2.0), np.arange(1.0, 4.0)
    expected = f(x.copy(), b.copy())
    assert stagrad.compile(f)(x.copy(), b.copy()) == pytest.approx(expected, rel=1e-14)

    def total(x, b):
        first, second = f(x, b)
        return first + 3.0 * second

    value, gradients = stagrad.value_and_grad(total, (0, 1))(x, b)
    assert value == pytest.approx(expected[0] + 3.0 * expected[1], rel=1e-14)
    assert [g.shape for g in gradients] == [(), (3,)]
