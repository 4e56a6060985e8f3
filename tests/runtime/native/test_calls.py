"""Calls of compiled programs: what goes in and comes out, and what happens when something fails."""

import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import stagrad
from stagrad.errors import CompilerError, DTypeError, ShapeError
from stagrad.ir import PRIMITIVES, Aval, Literal
from stagrad.ir.native import Callback
from stagrad.runtime.native import load_native
from tests.runtime.native.programs import F64, copying, doubling, program

pytestmark = pytest.mark.compiler

assert stagrad.grad  # the table of operations is filled by the package


def same(got: Any, want: Any) -> bool:
    got, want = np.asarray(got), np.asarray(want)
    return (got.dtype, got.shape) == (want.dtype, want.shape) and got.tobytes() == want.tobytes()


def test_outputs_are_arrays_and_numpy_scalars() -> None:
    total, doubled = load_native(doubling(3))(np.array([1.0, 2.0, 3.0]))
    assert type(total) is np.float64
    assert total == 14.0
    assert doubled.tolist() == [2.0, 4.0, 6.0]
    assert doubled.flags.owndata
    assert doubled.flags.writeable


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0, 2), (4, 5)])
@pytest.mark.parametrize("name", list("?bBhHiIqQefdFD"))
def test_every_dtype_and_shape_arrives_and_returns(name: str, shape: tuple[int, ...]) -> None:
    dtype = np.dtype(name)
    run = load_native(copying(Aval(shape, dtype)))
    value = np.random.default_rng(0).integers(0, 2, shape or None) * np.ones(shape, dtype)
    value = np.asarray(value, dtype)
    assert same(run(value)[0], value)
    if shape == ():
        assert same(run(value[()])[0], value)
        assert isinstance(run(value)[0], np.generic)


@pytest.mark.parametrize("dtype", [np.longdouble, np.clongdouble, np.intc, np.longlong])
def test_dtypes_of_the_platform_arrive_and_return(dtype: type) -> None:
    value = np.array([1, 2, 3], dtype)
    assert same(load_native(copying(Aval((3,), value.dtype)))(value)[0], value)
    assert same(load_native(copying(Aval((), value.dtype)))(value[1])[0], value[1])


def _unaligned(array: np.ndarray) -> np.ndarray:
    memory = np.zeros(array.nbytes + 1, np.uint8)
    moved = memory[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    assert not moved.flags.aligned
    return moved


class Labelled(np.ndarray):
    """A subclass, as libraries define them."""


@pytest.mark.parametrize(
    "change",
    [
        np.asfortranarray,
        lambda array: np.repeat(array, 2, axis=0)[::2],
        lambda array: array[::-1, ::-1].copy()[::-1, ::-1],
        lambda array: array.astype(array.dtype.newbyteorder()),
        lambda array: array.view(Labelled),
        _unaligned,
    ],
)
def test_an_array_laid_out_otherwise_is_copied(change: Any) -> None:
    array = np.arange(12.0).reshape(3, 4)
    given = change(array)
    before = sys.getrefcount(given)
    run = load_native(copying(Aval((3, 4), F64)))
    assert same(run(given)[0], array)
    assert sys.getrefcount(given) == before


@pytest.mark.parametrize(
    ("kind", "value"), [(int, -7), (int, 2**62), (float, -0.0), (complex, 1 - 2j)]
)
def test_weak_inputs_are_python_numbers(kind: type, value: Any) -> None:
    aval = Aval((), np.dtype(kind), weak=True)
    run = load_native(copying(aval))
    assert same(run(value)[0], np.array(value, aval.dtype))
    assert same(run(aval.dtype.type(value))[0], np.array(value, aval.dtype))
    assert same(run(np.array(value, aval.dtype))[0], np.array(value, aval.dtype))


def test_smaller_python_numbers_widen_and_larger_ones_do_not_fit() -> None:
    run = load_native(copying(Aval((), F64, weak=True)))
    assert run(3)[0] == 3.0
    assert run(True)[0] == 1.0
    with pytest.raises(DTypeError, match="complex128"):
        run(1j)
    with pytest.raises(OverflowError):
        load_native(copying(Aval((), np.dtype(np.int64), weak=True)))(2**70)


def test_arrays_the_program_is_not_for_are_refused() -> None:
    run = load_native(doubling(3, name="square"))
    with pytest.raises(ShapeError, match=r"square: input 0 is of shape \(4,\).*\(3,\)"):
        run(np.zeros(4))
    with pytest.raises(DTypeError, match=r"square: input 0 is of dtype float32.*float64"):
        run(np.zeros(3, np.float32))
    with pytest.raises(TypeError, match="square takes 1 arrays, 2 were given"):
        run(np.zeros(3), np.zeros(3))


def test_a_miss_is_answered_for_everything_that_is_not_exactly_an_input() -> None:
    miss = object()
    run = load_native(doubling(3), miss)
    for other in (np.zeros(4), np.zeros(3, np.float32), [0.0] * 3, 1.0, np.zeros(3).view(Labelled)):
        assert run(other) is miss
    assert run(np.arange(6.0)[::2])[0] == 20.0
    weak = load_native(copying(Aval((), F64, weak=True)), miss)
    assert weak(1.5) == (1.5,)
    assert weak(1) is weak(True) is weak(np.float64(1.5)) is weak(np.array(1.5)) is miss


def test_constants_sizes_and_numbers_reach_the_program() -> None:
    body = """
    for (int64_t i = 0; i < n[0]; i++)
        ((double *)arrays[2])[i] = ((double *)arrays[0])[i] * ((double *)arrays[1])[i] + c[0];"""
    made = program(
        body,
        [Aval((2,), F64)],
        [Aval((2,), F64)],
        constants=(Literal([10.0, 100.0]),),
        sizes=(2,),
        numbers=(0.5,),
    )
    run = load_native(made)
    del made
    gc.collect()
    assert run(np.array([1.0, 2.0]))[0].tolist() == [10.5, 200.5]


def test_blas_is_called_by_its_address() -> None:
    body = """
    typedef double (*dot)(int *, double *, int *, double *, int *);
    int size = (int)n[0], step = 1;
    double *x = (double *)arrays[0];
    *(double *)arrays[1] = ((dot)rt->symbols[0])(&size, x, &step, x, &step);"""
    vector = Aval((3,), F64)
    run = load_native(program(body, [vector], [Aval((), F64)], sizes=(3,), symbols=("ddot",)))
    assert run(np.array([1.0, 2.0, 3.0])) == (14.0,)
    with pytest.raises(CompilerError, match=r"cython_lapack has no function 'dfoo'"):
        load_native(program("", [], [], symbols=("lapack.dfoo",)))


def _callback(primitive: str, count: int, in_place: bool = False, **params: Any) -> Callback:
    aval = Aval((3,), F64)
    return Callback(PRIMITIVES[primitive], (aval,) * count, (aval,), params, in_place)


@pytest.mark.parametrize("long", [False, True])
def test_callbacks_run_in_python(long: bool) -> None:
    body = """
    char *first[] = {arrays[0], workspace}, *second[] = {workspace, arrays[1]};
    if (rt->callback(rt, 0, first)) return 1;
    if (rt->callback(rt, 0, second)) return 1;"""
    vector = Aval((3,), F64)
    made = program(
        body, [vector], [vector], callbacks=(_callback("negative", 1),), workspace=24, long=long
    )
    x = np.array([1.0, -0.0, np.nan])
    assert same(load_native(made)(x)[0], x)


@pytest.mark.parametrize("long", [False, True])
def test_an_exception_in_a_callback_propagates_and_nothing_leaks(long: bool) -> None:
    body = """
    char *steps[] = {arrays[0], arrays[1]};
    return rt->callback(rt, 0, steps);"""
    square = Aval((2, 2), F64)
    step = Callback(PRIMITIVES["cholesky"], (square,), (square,), {"upper": False})
    run = load_native(program(body, [square], [square], callbacks=(step,), long=long))
    good, bad = np.eye(2), -np.eye(2)
    counts = sys.getrefcount(good), sys.getrefcount(bad)
    for _ in range(3):
        assert same(run(good)[0], good)
        with pytest.raises(np.linalg.LinAlgError):
            run(bad)
    assert (sys.getrefcount(good), sys.getrefcount(bad)) == counts


def test_the_compilers_complaint_names_the_line_and_its_function() -> None:
    before = "static double kernel_3(double x) {\n    return x +* y;\n}"
    with pytest.raises(CompilerError, match=r"in line \d+ of kernel_3") as caught:
        load_native(program("", [], [], before=before))
    assert "return x +* y;" in str(caught.value)


def test_a_program_is_forgotten_with_its_function() -> None:
    class Primitive:
        multiple = False

        def evaluate(self, operands: Any, params: Any) -> Any:
            return operands[0]

    primitive: Any = Primitive()
    dying = weakref.ref(primitive)
    vector = Aval((3,), F64)
    step = Callback(primitive, (vector,), (vector,), {})
    body = "    char *steps[] = {arrays[0], arrays[1]};\n    return rt->callback(rt, 0, steps);"
    run = load_native(program(body, [vector], [vector], callbacks=(step,)))
    assert same(run(np.ones(3))[0], np.ones(3))
    del run, step, primitive
    gc.collect()
    assert dying() is None


def test_an_interrupt_during_a_call_is_delivered_after_it() -> None:
    before = "#include <signal.h>"
    body = "    raise(SIGINT);\n    *(double *)arrays[0] = 1;"
    run = load_native(program(body, [], [Aval((), F64)], before=before, long=True))

    def call() -> None:
        # The interpreter looks for signals where it goes round a loop.
        for _ in range(3):
            run()

    with pytest.raises(KeyboardInterrupt):
        call()
