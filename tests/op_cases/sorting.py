"""Rows of sorting and searching."""

import numpy as np

from stagrad.ops.sorting import permute
from tests.op_cases.case import Case
from tests.op_cases.reductions import EDGES, INF, NAN, integers, matrix

ORDER = np.array([[2, 0, 1], [1, 2, 0]])


def reordered(x: np.ndarray) -> np.ndarray:
    """A permutation along the last axis; traced values take the operation."""
    return np.take_along_axis(x, ORDER, 1) if isinstance(x, np.ndarray) else permute(x, ORDER, 1)


CASES = [
    Case(
        name="permutation along an axis",
        function=reordered,
        operands=(matrix("permute", 2, 3),),
        covers=("permute_along_axis",),
    ),
    Case(
        name="sort",
        function=lambda x: (
            np.sort(x),
            np.sort(x, axis=0),
            np.sort(x, axis=None, kind="stable"),
            np.sort(x, 1, stable=True),
        ),
        operands=(matrix("sort", 3, 4),),
        covers=("sort", "argsort", "permute_along_axis"),
        edges=(EDGES[0], (integers(3, 4),), (np.zeros((2, 0)),), (np.array([[True, False]]),)),
        dtypes=("float32", "complex128"),
    ),
    Case(
        name="argsort",
        function=lambda x: (
            np.argsort(x),
            x.argsort(axis=0),
            np.argsort(x, axis=None),
            np.argsort(x, kind="stable"),
        ),
        operands=(matrix("argsort", 3, 4),),
        covers=("argsort",),
        edges=(EDGES[0], (integers(3, 4),), (np.zeros((2, 0)),)),
        dtypes=("float32",),
        order=0,
    ),
    Case(
        name="argsort of a scalar",
        function=lambda x: np.argsort(x),
        operands=(np.array(3.0),),
        order=0,
    ),
    Case(
        name="sort in place",
        function=lambda x: x.sort(axis=0) or x * np.arange(3.0)[:, None],
        operands=(matrix("sort in place", 3, 2),),
    ),
    Case(
        name="sort_complex",
        function=lambda x: np.sort_complex(x),
        operands=(matrix("sort_complex", 4),),
        edges=((np.array([3, 1], np.int16),), (np.array([1 + 2j, 1 - 1j, 0]),), (integers(4),)),
    ),
    Case(
        name="partition",
        function=lambda x: (
            np.partition(x, 1),
            np.partition(x, [0, -1], axis=0),
            np.partition(x, 3, axis=None),
        ),
        operands=(matrix("partition", 3, 4),),
        covers=("partition",),
        edges=(EDGES[0], (integers(3, 4),)),
        dtypes=("float32",),
    ),
    Case(
        name="argpartition",
        function=lambda x: (np.argpartition(x, 1), np.argpartition(x, (0, 2), axis=0)),
        operands=(matrix("argpartition", 3, 4),),
        covers=("argpartition",),
        edges=((integers(3, 4),),),
        order=0,
    ),
    Case(
        name="lexsort",
        function=lambda x, y: (
            np.lexsort((x, y)),
            np.lexsort((y, x), axis=0),
            np.lexsort(np.stack([x[0], y[0]])),
        ),
        operands=(integers(3, 4), integers(3, 4) % 2),
        order=0,
    ),
    Case(
        name="searchsorted",
        function=lambda a, v: (
            np.searchsorted(a, v),
            a.searchsorted(v, side="right"),
            np.searchsorted(a, 0.5),
            np.searchsorted(a[::-1], v, sorter=np.arange(3)[::-1]),
        ),
        operands=(np.array([0.0, 1.0, 1.5]), np.array([[0.3, 1.2], [-1.0, 2.0]])),
        covers=("searchsorted",),
        edges=(
            (np.array([0.0, 1.0, NAN]), np.array([0.0, 1.0, NAN, INF])),
            (np.array([0, 2, 2]), np.array([2, 1])),
        ),
        order=0,
    ),
    Case(
        name="isin",
        function=lambda x, y: (
            np.isin(x, y),
            np.isin(x, [1.0, 2.0], invert=True),
            np.isin(x, []),
        ),
        operands=(np.array([[1.0, 2.5], [NAN, 3.0]]), np.array([3.0, 1.0, NAN])),
        edges=((integers(2, 2), integers(3)),),
        order=0,
    ),
]
