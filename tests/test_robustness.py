"""Calls that a hostile but fair user makes: right numbers, or an error that says what is wrong."""

import itertools
import math

import numpy as np
import pytest

import stagrad
from stagrad.errors import DTypeError, TraceError

ZERO = 0.0


HELD = {"zero": 0.0}


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
