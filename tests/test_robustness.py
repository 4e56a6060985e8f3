"""Calls that a hostile but fair user makes: right numbers, or an error that says what is wrong."""

import copy
import functools
import gc
import itertools
import math
import os
import pickle
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import stagrad
from stagrad.errors import DTypeError, TraceError, UnsupportedError
from stagrad.trace import current_trace

ZERO = 0.0
HELD = {"zero": 0.0}
KEPT: list = []


class Thing:
    """A plain object with state."""

    def __init__(self, scale):
        self.scale = scale


@pytest.mark.parametrize(
    "values",
    [
        ((1,), (1.0,), (True,)),
        (1, 1.0, True),
        (0.0, -0.0),
        ((0.0,), (-0.0,)),
        (frozenset({1}), frozenset({1.0})),
        (np.float64(0.0), np.float64(-0.0)),
    ],
)
def test_static_arguments_that_compare_equal_are_told_apart(values):
    def f(x, s):
        for part in s if isinstance(s, tuple | frozenset) else (s,):
            x = np.copysign(x, part) * part if part == 0 else x * part
        return x

    compiled = stagrad.compile(f, static_argnums=1)
    for value in values * 2:
        expected, found = f(np.int64(3), value), compiled(np.int64(3), value)
        assert type(found) is type(expected)
        assert found.tobytes() == expected.tobytes()


def test_a_static_nan_is_one_program():
    traces = []

    def f(x, s):
        traces.append(s)
        return x * s

    compiled = stagrad.compile(f, static_argnums=1)
    for _ in range(3):
        assert np.isnan(compiled(np.float64(1.0), float("nan")))
    assert len(traces) == 1


def test_the_sign_of_a_captured_zero_is_guarded(monkeypatch):
    compiled = [
        stagrad.compile(lambda x: np.copysign(x, ZERO)),
        stagrad.compile(lambda x: np.copysign(x, HELD["zero"])),
    ]
    assert [f(2.0) for f in compiled] == [2.0, 2.0]
    monkeypatch.setitem(globals(), "ZERO", -0.0)
    monkeypatch.setitem(HELD, "zero", -0.0)
    assert [f(2.0) for f in compiled] == [-2.0, -2.0]


def read(thing, x):
    return thing.scale * x


@pytest.mark.parametrize(
    "f",
    [
        lambda thing, x: thing.scale * x,
        lambda thing, x: read(thing, x),
        lambda thing, x: sum([thing.scale * k for k in (x, x)]) / 2.0,
        lambda thing, x: vars(thing)["scale"] * x,
        lambda thing, x: getattr(thing, "sca" + "le") * x,
    ],
)
@pytest.mark.parametrize("array", [False, True])
def test_objects_given_as_arguments_are_read_as_they_are_now(f, array):
    def value(number):
        return np.full(2, number) if array else number

    compiled = stagrad.compile(f)
    gradient = stagrad.grad(lambda thing, x: np.sum(f(thing, x)), argnums=1)
    thing = Thing(value(2.0))
    for number in (2.0, 3.0, -1.0, 3.0):
        thing.scale = value(number)
        np.testing.assert_array_equal(compiled(thing, 5.0), f(thing, 5.0))
        np.testing.assert_array_equal(compiled(thing, x=5.0), f(thing, 5.0))
        np.testing.assert_array_equal(gradient(thing, 5.0), number * (1 + array))
    if array:
        thing.scale[0] = 7.0
        np.testing.assert_array_equal(compiled(thing, 5.0), [35.0, 15.0])


def test_functions_given_as_arguments_are_guarded(monkeypatch):
    def inner(x):
        return x * (ZERO + 1.0)

    compiled = stagrad.compile(lambda f, x: f(x))
    assert compiled(inner, 2.0) == 2.0
    monkeypatch.setitem(globals(), "ZERO", 1.0)
    assert compiled(inner, 2.0) == 4.0


@pytest.mark.parametrize(
    "make", [lambda: iter([1, 2]), lambda: (k for k in [1, 2]), lambda: map(abs, [1, 2])]
)
def test_iterators_are_no_arguments(make):
    with pytest.raises(DTypeError, match=r"argument 'items'.*only once.*list or a tuple"):
        stagrad.compile(lambda x, items: sum((x * k for k in items), 0.0))(1.0, make())


async def coroutine(x):
    return x


def in_closure(x):
    return lambda: x


@pytest.mark.parametrize(
    "f",
    [
        lambda x: Thing(x * 2),
        lambda x: {x * 2},
        lambda x: {"a": x}.values(),
        lambda x: (x * k for k in range(3)),
        lambda x: map(np.sin, [x]),
        lambda x: itertools.repeat(x),
        lambda x: Thing([Thing(x)]),
        in_closure,
        lambda x: Thing(_stored(x)),
    ],
)
def test_results_that_hide_traced_values_are_refused(f):
    for transform in (stagrad.compile, stagrad.grad):
        with pytest.raises(TraceError, match=r"returns a \w+.*Return arrays and numbers"):
            transform(f)(1.0)


def _stored(x):
    table = np.zeros(2)
    table[0] = x
    return table


@pytest.mark.parametrize("suffix", [0, 1])
def test_an_integer_of_an_outer_function_is_a_shape_in_an_inner_one(suffix):
    def f(x, n):
        return stagrad.grad(lambda y: np.sum(np.ones(n + suffix) * y**2))(x)

    for n in (3, 1, 3):
        assert stagrad.compile(f)(2.0, n) == 4.0 * (n + suffix)
        assert stagrad.grad(f)(2.0, n) == 2.0 * (n + suffix)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, n: np.sum(np.ones(2 * n + 1) * x),
        lambda x, n: x if n % 2 == 0 else -x,
        lambda x, n: x * float(n) + int(n),
        lambda x, n: sum([x] * n, 0.0),
        lambda x, n: x * math.factorial(n),
    ],
)
def test_python_integers_are_concrete_where_python_needs_them(f):
    compiled = stagrad.compile(f)
    for n in (3, 4, 0, 4):
        assert compiled(2.0, n) == f(2.0, n)
        step = f(3.0, n) - f(2.0, n)
        assert stagrad.grad(f)(2.0, n) == step


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
@pytest.mark.parametrize(
    "f", [lambda x, n: x + n, lambda x, n: x * (n - 1), lambda x, n: np.maximum(x, n)]
)
def test_python_integers_that_do_not_fit_raise_as_in_numpy(f, dtype):
    compiled = stagrad.compile(f)
    x = np.ones(2, dtype)
    np.testing.assert_array_equal(compiled(x, 3), f(x, 3), strict=True)
    beyond = -5 if np.dtype(dtype).kind == "u" else 2 ** (8 * x.itemsize)
    for _ in range(2):
        with pytest.raises(OverflowError):
            f(x, beyond)
        with pytest.raises(OverflowError):
            compiled(x, beyond)
    np.testing.assert_array_equal(compiled(x, 3), f(x, 3), strict=True)


@pytest.mark.parametrize(
    "f", [lambda x, n: x * n**30, lambda x, n: x * (n * n * n), lambda x, n: x * (n << 62)]
)
def test_python_integers_do_not_wrap(f):
    assert stagrad.compile(f)(1.0, 10**7) == f(1.0, 10**7)
    assert stagrad.grad(f)(1.0, 10**7) == f(1.0, 10**7)


@pytest.mark.parametrize(
    "use",
    [
        lambda table: table + 1,
        lambda table: table[0],
        lambda table: np.sum(table),
        lambda table: table.tobytes(),
        lambda table: float(table[0]),
    ],
)
def test_arrays_kept_after_their_trace_are_refused(use):
    KEPT.clear()

    def f(x):
        KEPT.append(_stored(x))
        return x

    stagrad.compile(f)(1.0)
    with pytest.raises(TraceError):
        use(KEPT[0])
    assert np.all(np.isnan(np.asarray(KEPT[0])))
    with pytest.raises(TraceError):
        stagrad.compile(lambda x: x * KEPT[0])(1.0)


def test_a_number_kept_after_its_trace_is_refused():
    KEPT.clear()
    stagrad.compile(lambda x: KEPT.append(x * 2))(1.0)
    for use in (float, bool, int, np.sin, np.asarray, max):
        with pytest.raises(TraceError):
            use(KEPT[0]) if use is not max else max(KEPT[0], 1.0)


@pytest.mark.parametrize(
    "read",
    [
        lambda table: table.tobytes(),
        lambda table: table.data,
        lambda table: table.ctypes,
        lambda table: table.byteswap(),
        lambda table: table.dumps(),
    ],
)
def test_bytes_of_a_filled_array_are_refused(read):
    def f(x):
        return len(read(_stored(x)))

    with pytest.raises(TraceError, match=r"converted to a NumPy array"):
        stagrad.compile(f)(1.0)


def test_buffers_of_a_filled_array_hold_no_stale_numbers():
    def f(x):
        return x + np.frombuffer(_stored(x))

    assert np.all(np.isnan(stagrad.compile(f)(1.0)))


@pytest.mark.parametrize(
    "array", [np.ma.array([1.0, 2.0], mask=[0, 1]), np.ones((2, 2)).view(np.matrix)]
)
def test_captured_arrays_of_other_meaning_are_refused(array):
    for transform in (stagrad.compile, stagrad.grad):
        with pytest.raises(DTypeError, match=r"plain array with np\.asarray"):
            transform(lambda x: np.sum(x * array))(np.ones(2))


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
@pytest.mark.parametrize("transform", [stagrad.compile, stagrad.grad])
def test_coroutines_are_refused(transform):
    with pytest.raises(TraceError, match="returns a coroutine"):
        transform(coroutine)(1.0)


OUTSIDE = np.arange(4.0)


def write_first(a, b):
    a[0] = 5.0
    return np.sum(a * b)


def write_view(a, b):
    a[::-1][0] *= 3.0
    return np.sum(b + a[0])


def write_in_dict(tree, b):
    tree["a"] += 1.0
    return np.sum(tree["a"] * b)


@pytest.mark.parametrize(
    "pair",
    [lambda x: (x, x), lambda x: (x[:-1], x[1:]), lambda x: (x[::-1], x), lambda x: (x, x[2:3])],
)
@pytest.mark.parametrize("f", [write_first, write_view])
@pytest.mark.parametrize("first", [False, True], ids=["after a call", "at the first call"])
def test_written_arguments_that_share_memory_are_refused(f, pair, first):
    transforms = (
        stagrad.compile(f),
        stagrad.grad(f),
        lambda a, b: stagrad.vjp(f, a, b),
        lambda a, b: stagrad.jvp(f, (a, b), (a, b)),
    )
    for call in transforms:
        if not first:
            a, b = pair(np.arange(4.0))
            call(a.copy(), b.copy())
        x = np.arange(4.0)
        with pytest.raises(UnsupportedError, match=r"'a'.*shares memory with argument 'b'.*copy"):
            call(*pair(x))
        np.testing.assert_array_equal(x, np.arange(4.0))


def test_written_leaves_of_a_tree_that_share_memory_are_refused():
    x = np.arange(3.0)
    with pytest.raises(UnsupportedError, match=r"'tree'\['a'\].*'b'"):
        stagrad.compile(write_in_dict)({"a": x}, x[1:2])


def test_written_arguments_that_lie_between_each_other_are_fine():
    x, y = np.arange(8.0), np.arange(8.0)
    assert stagrad.compile(write_first)(x[::2], x[1::2]) == write_first(y[::2], y[1::2])
    np.testing.assert_array_equal(x, y)


def test_a_written_argument_that_the_function_also_captures_is_refused():
    def f(a):
        a[0] = 2.0
        return np.sum(a * OUTSIDE)

    with pytest.raises(UnsupportedError, match=r"reads from outside"):
        stagrad.compile(f)(OUTSIDE)


def test_a_written_argument_that_overlaps_itself_is_refused():
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(4.0), 2, writeable=True)
    with pytest.raises(UnsupportedError, match=r"shares memory with itself"):
        stagrad.compile(lambda a: a.fill(1.0))(windows)


def test_one_traced_value_given_twice_to_a_gradient_that_writes_is_refused():
    def outer(x):
        return stagrad.grad(write_first)(x, x)[1]

    with pytest.raises(UnsupportedError, match=r"shares memory"):
        stagrad.grad(outer)(np.arange(3.0))


def test_an_argument_is_unchanged_when_the_call_raises():
    def raising(a):
        a[0] = 99.0
        raise RuntimeError("no")

    def singular(a):
        a[0, 0] = 0.0
        return np.linalg.inv(a)

    x, matrix = np.arange(3.0), np.eye(2)
    with pytest.raises(RuntimeError):
        stagrad.compile(raising)(x)
    with pytest.raises(np.linalg.LinAlgError):
        stagrad.compile(singular)(matrix)
    np.testing.assert_array_equal(x, np.arange(3.0))
    np.testing.assert_array_equal(matrix, np.eye(2))


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


class Slotted:
    """A class whose instances have no dictionary."""

    __slots__ = ("weights",)

    def __init__(self):
        self.weights = np.ones(2)

    @stagrad.compile
    def apply(self, x):
        return self.weights * x


@stagrad.compile
def doubled(x):
    return x * 2.0


def test_methods_of_every_kind():
    for _ in range(2):
        assert Model.double(2.0) == Model().double(2.0) == 4.0
        assert Model.triple(2.0) == Model().triple(2.0) == 6.0
    slotted = Slotted()
    for number in (1.0, 2.0):
        slotted.weights = np.full(2, number)
        np.testing.assert_array_equal(slotted.apply(3.0), np.full(2, 3.0 * number))


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_of_an_instance_is_bound_to_itself(copied):
    model = Model()
    model.apply(1.0)
    other = copied(model)
    other.weights = np.zeros(2)
    for _ in range(2):
        np.testing.assert_array_equal(other.apply(5.0), np.zeros(2))
        np.testing.assert_array_equal(model.apply(5.0), np.full(2, 5.0))


def test_compiled_functions_are_copied_and_pickled_as_functions_are():
    for function in (doubled, stagrad.grad(lambda x: x**2)):
        assert copy.copy(function) is copy.deepcopy([function])[0] is function
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    with pytest.raises(TypeError, match="Pickle that one"):
        pickle.dumps(stagrad.grad(write_first))


def test_parameters_may_have_any_name():
    def f(self, args, *, function, np, kwargs):
        return self * args * function * np * kwargs

    values = {"self": 2.0, "args": 3.0, "function": 5.0, "np": 7.0, "kwargs": 11.0}
    for _ in range(2):
        assert stagrad.compile(f)(**values) == 2310.0
    stagrad.compile(f).lower(**values)


@pytest.mark.parametrize("transform", [stagrad.grad, stagrad.value_and_grad])
def test_argnums_that_name_nothing(transform):
    with pytest.raises(TypeError, match=r"argnums is an int.*not None"):
        transform(lambda x: x, None)(1.0)
    with pytest.raises(ValueError, match="0 positional arguments; pass the argument by position"):
        transform(lambda x: x)(x=1.0)


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
