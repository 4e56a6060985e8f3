"""Native forms of operations along an axis, held against NumPy."""

import itertools

import numpy as np
import pytest

from stagrad.ir import Aval, Graph, bind, interpret
from stagrad.ops.cumulative import running_product, running_sum
from stagrad.ops.reduction import argmax_p, argmin_p
from stagrad.trace import Trace
from tests.codegen.native_programs import load_together

pytestmark = pytest.mark.compiler
DTYPES = ("b1", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16")
FORMS = {
    "argmax": lambda x, axis: bind(argmax_p, x, axis=(axis,)),
    "argmin": lambda x, axis: bind(argmin_p, x, axis=(axis,)),
    "cumsum": lambda x, axis: running_sum(x, axis),
    "reversed cumsum": lambda x, axis: running_sum(x, axis, reverse=True),
    "cumprod": lambda x, axis: running_product(x, axis),
    "reversed cumprod": lambda x, axis: running_product(x, axis, reverse=True),
}


def _program(form, dtype, shape, axis) -> tuple[Graph, np.ndarray]:
    array = np.random.default_rng(0).integers(0, 4, shape).astype(dtype)
    if array.dtype.kind in "fc" and array.size > 3:
        array.flat[3] = np.nan
    with Trace() as trace:
        x = trace.input(Aval(shape, np.dtype(dtype)), "x")
        graph = trace.builder.graph([x.node], [FORMS[form](x, axis).node])
    return graph, array


def test_forms_agree_with_numpy():
    shapes = ((3, 4, 2), (1, 5, 0), (2, 1, 3))
    cases = [
        (form, dtype, shape, axis)
        for form, dtype, shape, axis in itertools.product(FORMS, DTYPES, shapes, range(3))
        if shape[axis] or form.startswith(("cum", "rev"))
    ]
    programs = [_program(*case) for case in cases]
    runs = load_together([graph for graph, _ in programs])
    for case, (graph, array), run in zip(cases, programs, runs, strict=True):
        (got,), (want,) = run(array), interpret(graph, [array])
        np.testing.assert_array_equal(got, want, err_msg=str(case))
