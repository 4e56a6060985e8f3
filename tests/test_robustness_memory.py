"""Memory that is shared, kept or copied: no stale number comes of it, and none without a word."""

import copy
import pickle

import numpy as np
import pytest

import stagrad
from stagrad.errors import DTypeError, TraceError, UnsupportedError

KEPT: list = []


def read(thing, x):
    return thing.scale * x


async def coroutine(x):
    return x


def _stored(x):
    table = np.zeros(2)
    table[0] = x
    return table


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
