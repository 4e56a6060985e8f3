"""Functions, operators and ufuncs take lists that hold traced numbers."""

import threading

import numpy as np
import pytest
from numpy import mean

import stagrad

POINT = np.array([0.3, 0.1, 0.7, 0.2])

FUNCTIONS = {
    "sum": lambda x: np.sum([x[0], x[1] * 2]),
    "max": lambda x: np.max([x[0], x[1], 0.5]),
    "mean, imported by name": lambda x: mean([x[0], x[1]]),
    "mean along an axis": lambda x: np.mean([x, x * 2], axis=0),
    "dot": lambda x: np.dot([x[0], 1.0], [2.0, x[1]]),
    "norm": lambda x: np.linalg.norm([x[0], x[1]]),
    "solve": lambda x: np.linalg.solve([[x[0], 1.0], [0.0, x[1]]], [1.0, x[2]]),
    "append": lambda x: np.append([[x[0]], [x[1]]], [[x[2]], [x[3]]], axis=0),
    "vstack of lists": lambda x: np.vstack([[x[0], x[1]], [1, 2]]),
    "concatenate of unequal lists": lambda x: np.concatenate([[x[0]], x[:2], [1.0, x[3]]]),
    "cumsum": lambda x: np.cumsum([x[0], x[1]]),
    "reshape": lambda x: np.reshape([x[0], x[1], 1, 2], (2, 2)),
    "transpose": lambda x: np.transpose([[x[0], x[1]], [1, 2]]),
    "where": lambda x: np.where([True, False], [x[0], x[1]], 0.0),
    "einsum": lambda x: np.einsum("i,i", [x[0], 1.0], [x[1], 2.0]),
    "keyword": lambda x: np.tile(A=[x[0], 1.0], reps=2),
    "interp": lambda x: np.interp([x[0], x[1]], [0.0, 1.0], [2.0, 3.0]),
    "operator": lambda x: x[:2] * [x[0], 1] + [1, 2] * x[2:],
    "ufunc": lambda x: np.add(x[:2], [x[3], 1]),
    "comparison": lambda x: np.where(x > [0.2, x[0], 0.2, 0.2], x, 0.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_lists_of_traced_numbers_are_arrays(name):
    function = FUNCTIONS[name]
    np.testing.assert_allclose(stagrad.compile(function)(POINT), function(POINT), rtol=1e-14)


def test_shapes_of_lists_are_known():
    def function(x):
        assert np.shape([x, x]) == (2, 4)
        assert np.ndim([[x]]) == 3
        return x

    stagrad.compile(function)(POINT)


def test_functions_are_numpys_own_after_the_trace_and_answer_alike_in_other_threads():
    before = np.sum, np.linalg.norm
    seen = []

    def function(x):
        thread = threading.Thread(target=lambda: seen.append(np.sum([1.0, 2.0])))
        thread.start()
        thread.join()
        return np.sum([x[0], x[1]])

    stagrad.compile(function)(POINT)
    assert seen == [3.0]
    assert (np.sum, np.linalg.norm) == before
