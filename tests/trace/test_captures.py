"""What a function reads besides its arguments is never stale."""

import functools
import types

import numpy as np
import pytest

import stagrad

SCALE = 2.0
ARRAY = np.array([1.0, 2.0])
SETTINGS = {"rate": 3.0, "weights": np.array([1.0, 1.0])}
COEFFICIENTS = [1.0, 2.0]


def helper(x):
    return x * 2.0


def deeper(x):
    return helper(x) + SCALE


def expect(function, argument, want):
    np.testing.assert_array_equal(function(argument), want)


def test_a_rebound_global_scalar_is_seen(monkeypatch):
    f = stagrad.compile(lambda x: x * SCALE)
    expect(f, 3.0, 6.0)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    expect(f, 3.0, 15.0)


def test_a_rebound_closure_scalar_is_seen():
    k = 2.0

    @stagrad.compile
    def f(x):
        return x * k

    expect(f, 3.0, 6.0)
    k = 5.0
    expect(f, 3.0, 15.0)


def test_a_rebound_helper_function_is_seen_at_any_depth(monkeypatch):
    f = stagrad.compile(lambda x: deeper(x))
    expect(f, 1.0, 4.0)
    monkeypatch.setitem(globals(), "helper", lambda x: x * 10.0)
    expect(f, 1.0, 12.0)


def test_a_captured_array_is_read_at_each_call():
    f = stagrad.compile(lambda x: x + ARRAY)
    expect(f, 1.0, [2.0, 3.0])
    old = ARRAY.copy()
    try:
        ARRAY[0] = 50.0
        expect(f, 1.0, [51.0, 3.0])
    finally:
        ARRAY[:] = old


def test_numbers_computed_from_a_captured_array_are_not_stale():
    weights = np.array([1.0, 2.0])
    f = stagrad.compile(lambda x: x + weights * 2.0)
    expect(f, 0.0, [2.0, 4.0])
    weights[0] = 10.0
    expect(f, 0.0, [20.0, 4.0])


def test_an_element_of_a_captured_array_is_not_stale():
    weights = np.array([1.0, 2.0])
    f = stagrad.compile(lambda x: x * weights[1])
    expect(f, 1.0, 2.0)
    weights[1] = 7.0
    expect(f, 1.0, 7.0)


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, a: x * float(a[0]),
        lambda x, a: x if a[0] > 1.5 else 2.0 * x,
        lambda x, a: x * a.item(0),
        lambda x, a: x * a.tolist()[0],
        lambda x, a: sum(x * float(number) for number in a),
        lambda x, a: x[: int(a[0])],
        lambda x, a: x * a.copy(),
        lambda x, a: x * a[::-1],
    ],
)
def test_python_numbers_of_a_captured_array_are_not_stale(function, nested):
    captured = np.array([1.0, 2.0])

    def f(x):
        return np.sum(function(x, captured))

    gradient = stagrad.grad(f)
    call = stagrad.compile(lambda x: gradient(x)) if nested else gradient
    call(np.ones(2))
    captured[:] = [2.0, 3.0]
    expect(call, np.ones(2), stagrad.grad(lambda x: np.sum(function(x, captured)))(np.ones(2)))


def test_data_read_by_nested_transforms_are_not_compared_at_each_call():
    data = np.ones((3, 2))
    gradient = stagrad.grad(lambda w: np.sum((data @ w) ** 2) + np.sum(data[1:] @ w))
    for f in (gradient, stagrad.compile(lambda w: gradient(w))):
        f(np.ones(2))
        (entry,) = f._entries.values()
        assert entry.guards.snapshots == []


def test_a_view_of_a_captured_array_is_live():
    weights = np.arange(6.0).reshape(2, 3)
    f = stagrad.compile(lambda x: x * weights[1])
    expect(f, 1.0, [3.0, 4.0, 5.0])
    weights[1] = 1.0
    expect(f, 2.0, [2.0, 2.0, 2.0])


def test_captured_containers_are_checked_by_content(monkeypatch):
    f = stagrad.compile(lambda x: x * COEFFICIENTS[0] + SETTINGS["rate"])
    expect(f, 1.0, 4.0)
    monkeypatch.setitem(SETTINGS, "rate", 10.0)
    expect(f, 1.0, 11.0)
    COEFFICIENTS[0] = 2.0
    try:
        expect(f, 1.0, 12.0)
    finally:
        COEFFICIENTS[0] = 1.0


def test_an_array_in_a_captured_dict_is_live_and_may_be_replaced(monkeypatch):
    f = stagrad.compile(lambda x: x * SETTINGS["weights"])
    expect(f, 1.0, [1.0, 1.0])
    monkeypatch.setitem(SETTINGS, "weights", np.array([4.0, 5.0]))
    expect(f, 1.0, [4.0, 5.0])


def test_attributes_of_captured_objects_are_seen():
    config = types.SimpleNamespace(rate=2.0, inner=types.SimpleNamespace(shift=1.0))
    f = stagrad.compile(lambda x: x * config.rate + config.inner.shift)
    expect(f, 3.0, 7.0)
    config.rate = 3.0
    config.inner.shift = 2.0
    expect(f, 3.0, 11.0)


class Model:
    def __init__(self):
        self.scale = 2.0
        self.weights = np.array([1.0, 2.0])

    @stagrad.compile
    def apply(self, x):
        return x * self.scale + self.weights

    def loss(self, x):
        return np.sum(self.weights * x * self.scale)


def test_a_compiled_method_sees_its_instance_change():
    model = Model()
    expect(model.apply, 1.0, [3.0, 4.0])
    model.scale = 10.0
    model.weights[1] = 0.0
    expect(model.apply, 1.0, [11.0, 10.0])
    expect(Model().apply, 1.0, [3.0, 4.0])


def test_the_gradient_of_a_bound_method_sees_its_instance_change():
    model = Model()
    gradient = stagrad.grad(model.loss)
    expect(gradient, np.ones(2), [2.0, 4.0])
    model.scale = 1.0
    expect(gradient, np.ones(2), [1.0, 2.0])


def test_partial_arguments():
    f = stagrad.compile(functools.partial(lambda a, x: a * x, 3.0))
    expect(f, 2.0, 6.0)


def test_two_closures_of_one_code_object_share_nothing():
    def make(k):
        return stagrad.compile(lambda x: x * k)

    double, triple = make(2.0), make(3.0)
    expect(double, 1.0, 2.0)
    expect(triple, 1.0, 3.0)
    expect(double, 1.0, 2.0)


def test_results_never_alias_arguments_or_captures():
    a, c = np.ones(2), np.ones(2)
    result = stagrad.compile(lambda x: x)(a)
    result[0] = 99.0
    captured = stagrad.compile(lambda x: c)
    captured(a)[0] = 99.0
    twice = stagrad.compile(lambda x: (x, x))
    first, second = twice(a)
    first[0] = 99.0
    expect(captured, a, [1.0, 1.0])
    np.testing.assert_array_equal(a, [1.0, 1.0])
    np.testing.assert_array_equal(c, [1.0, 1.0])
    np.testing.assert_array_equal(second, [1.0, 1.0])


def test_traces_are_made_only_when_something_changed():
    traces = []

    @stagrad.compile
    def f(x, s):
        traces.append(s)
        return x * s * SCALE

    x = np.arange(3.0)
    for k in range(50):
        np.testing.assert_array_equal(f(x, 0.5 * k), x * (0.5 * k) * 2.0)
    assert len(traces) == 1
    for dtype in (np.float32, np.int64):
        result = f(x.astype(dtype), 2)
        assert result.dtype == (x.astype(dtype) * 2 * SCALE).dtype
    assert len(traces) == 3


@pytest.mark.parametrize("size", [3, 100_000])
def test_arrays_made_inside_are_made_of_numbers_of_their_time(size):
    def f(x):
        a = np.arange(float(size))
        y = x + a
        a[0] = 100.0
        return y + a

    x = np.ones(size)
    np.testing.assert_array_equal(stagrad.compile(f)(x), f(x))


class Recursive:
    """Methods that call each other, a property that must not run at guard time, __slots__."""

    __slots__ = ("depth", "reads")

    def __init__(self):
        self.depth = 2.0
        self.reads = 0

    @property
    def counted(self):
        self.reads += 1
        return self.depth

    def even(self, x, n):
        return x * self.depth if n == 0 else self.odd(x, n - 1)

    def odd(self, x, n):
        return self.even(x, n) + 1.0

    def reading(self, x):
        return x * self.counted


def test_methods_that_call_each_other():
    model = Recursive()
    f = stagrad.compile(lambda x: model.even(x, 3))
    expect(f, 2.0, 7.0)
    model.depth = 3.0
    expect(f, 2.0, 9.0)


def test_checking_guards_runs_no_user_code():
    model = Recursive()
    f = stagrad.compile(model.reading)
    for _ in range(5):
        expect(f, 2.0, 4.0)
    assert model.reads == 1
    model.depth = 5.0
    expect(f, 2.0, 10.0)


def test_repeated_calls_take_the_generated_path(monkeypatch):
    model = Model()
    calls = []
    compiled = stagrad.compile(lambda x: helper(x) * SCALE + np.sum(model.weights))
    compiled(X := np.ones(2))
    monkeypatch.setattr(type(compiled), "_call", lambda *args: calls.append(args))
    np.testing.assert_array_equal(compiled(X), 2.0 * X * SCALE + 3.0)
    assert not calls


def test_methods_of_a_captured_array_reached_through_asarray():
    weights = np.arange(6.0).reshape(2, 3)

    @stagrad.compile
    def f(x):
        matrix = np.asarray(weights)
        return matrix.dot(x) + matrix[0, :2] + (matrix.T * 2.0)[:2, 0]

    x = np.array([1.0, 2.0, 3.0])
    want = weights.dot(x) + weights[0, :2] + weights.T[:2, 0] * 2.0
    expect(f, x, want)
    weights[0, 0] = 10.0
    expect(f, x, weights.dot(x) + weights[0, :2] + weights.T[:2, 0] * 2.0)


def test_writing_into_an_array_from_outside_is_refused():
    weights = np.zeros(3)

    def f(x):
        view = np.asarray(weights)
        view[0] = x[0]
        return view

    with pytest.raises(TypeError, match="did not make"):
        stagrad.compile(f)(np.ones(3))
    np.testing.assert_array_equal(weights, np.zeros(3))


TABLE = np.arange(12.0).reshape(4, 3)


def test_a_captured_array_takes_traced_operands_in_every_way():
    matrix = np.arange(6.0).reshape(2, 3)
    before = TABLE, matrix

    def f(x, i):
        return (
            np.sum(TABLE[i], axis=1)
            + np.sum(TABLE.T[:, i], axis=0) * 2.0
            + matrix.dot(x)[0]
            + TABLE[0].dot(x)
        )

    x, i = np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1])
    compiled = stagrad.compile(lambda x: f(x, i))
    np.testing.assert_allclose(compiled(x), f(x, i))
    by_index = stagrad.compile(lambda i: TABLE[i] * 2.0)
    np.testing.assert_array_equal(by_index(i), TABLE[i] * 2.0)
    TABLE[2, 0] = 100.0
    try:
        np.testing.assert_array_equal(by_index(i), TABLE[i] * 2.0)
        np.testing.assert_allclose(compiled(x), f(x, i))
    finally:
        TABLE[2, 0] = 6.0
    assert before[0] is TABLE
    assert type(TABLE) is np.ndarray


def test_large_captured_containers_are_checked_too():
    table = {str(number): [1.0, float(number)] for number in range(20_000)}
    f = stagrad.compile(lambda x: x * table["7"][1])
    expect(f, 1.0, 7.0)
    table["7"][1] = 100.0
    expect(f, 1.0, 100.0)
