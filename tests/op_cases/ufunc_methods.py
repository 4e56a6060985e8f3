"""Rows of the methods of ufuncs: reduce, accumulate, outer, reduceat and at."""

import numpy as np

from tests.op_cases.case import Case
from tests.op_cases.reductions import EDGES, INF, NAN, integers, matrix

REDUCTIONS = [
    Case(
        name="add.reduce and multiply.reduce",
        function=lambda x: (
            np.add.reduce(x),
            np.add.reduce(x, axis=(0, 1)),
            np.add.reduce(x, axis=None, keepdims=True),
            np.multiply.reduce(x, 1, initial=2.0),
            np.add.reduce(x, axis=1, where=np.array([True, False, True])),
        ),
        operands=(matrix("add.reduce", 2, 3),),
        edges=((np.zeros((0, 3)),),),
        dtypes=("float32",),
    ),
    Case(
        name="maximum.reduce and minimum.reduce",
        function=lambda x: (
            np.maximum.reduce(x),
            np.minimum.reduce(x, axis=1, keepdims=True),
            np.maximum.reduce(x, axis=None, initial=0.0),
        ),
        operands=(matrix("maximum.reduce", 2, 3),),
        edges=(EDGES[0],),
    ),
    Case(
        name="fmax.reduce and fmin.reduce",
        function=lambda x: (np.fmax.reduce(x, axis=1), np.fmin.reduce(x), np.fmax.reduce(x, None)),
        operands=(matrix("fmax.reduce", 2, 3),),
        edges=((np.array([[NAN, NAN], [1.0, NAN]]),), (integers(2, 3),)),
    ),
    Case(
        name="logical reduce",
        function=lambda x: (
            np.logical_and.reduce(x),
            np.logical_or.reduce(x, axis=1),
            np.logical_xor.reduce(x, axis=None),
            np.logical_xor.reduce(x, keepdims=True),
            np.logical_and.reduce(x, initial=False),
        ),
        operands=(np.array([[1, 0, 2], [3, 0, 0]]),),
        edges=((np.zeros((0, 2)),),),
        order=0,
    ),
    Case(
        name="logaddexp.reduce",
        function=lambda x: (
            np.logaddexp.reduce(x),
            np.logaddexp.reduce(x, axis=None),
            np.logaddexp.reduce(x, axis=1, keepdims=True, initial=0.5),
        ),
        operands=(matrix("logaddexp.reduce", 3, 4),),
        covers=("logaddexp_reduce",),
        edges=(
            (np.array([[-INF, 800.0], [-INF, 2.0]]),),
            (np.array([[INF, NAN]]),),
            (np.zeros((0, 2)),),
            (integers(2, 3),),
        ),
        dtypes=("float32",),
        rtol=1e-12,
        order=3,
    ),
    Case(
        name="logaddexp2.reduce",
        function=lambda x: np.logaddexp2.reduce(x, axis=1),
        operands=(matrix("logaddexp2.reduce", 3, 4),),
        edges=((integers(2, 3),), (np.array([[-INF, -INF]]),)),
        rtol=1e-12,
    ),
    Case(
        name="hypot.reduce",
        function=lambda x: (np.hypot.reduce(x), np.hypot.reduce(x, axis=(0, 1), initial=2.0)),
        operands=(matrix("hypot.reduce", 3, 4),),
        covers=("hypot_reduce",),
        edges=(
            (np.array([[3e200, -INF], [4e200, NAN]]),),
            (np.zeros((0, 2)),),
            (integers(2, 3),),
        ),
        dtypes=("float32",),
    ),
    Case(
        name="hypot.reduce over no axis",
        function=lambda x: np.hypot.reduce(x, axis=()),
        operands=(matrix("hypot.reduce none", 3),),
    ),
    Case(
        name="bitwise reduce",
        function=lambda x: (
            np.bitwise_and.reduce(x),
            np.bitwise_or.reduce(x, axis=1),
            np.bitwise_xor.reduce(x, axis=None),
            np.bitwise_and.reduce(x, axis=1, where=np.array([True, False, True])),
            np.gcd.reduce(x, axis=1),
            np.lcm.reduce(x, axis=0),
            np.bitwise_or.reduce(x, initial=8),
        ),
        operands=(np.array([[12, 18, 6], [4, 7, 5]]),),
        covers=("integer_reduce",),
        edges=((np.array([[200, 3, 9]], np.uint8),),),
        order=0,
    ),
    Case(
        name="bitwise accumulate",
        function=lambda x: (
            np.bitwise_and.accumulate(x),
            np.bitwise_or.accumulate(x, axis=1),
            np.gcd.accumulate(x, axis=1),
        ),
        operands=(np.array([[12, 18, 6], [4, 7, 5]]),),
        covers=("integer_accumulate",),
        order=0,
    ),
    Case(
        name="reduce and accumulate in order",
        function=lambda x: (
            np.subtract.reduce(x),
            np.divide.reduce(x, axis=1, keepdims=True),
            np.power.accumulate(x, axis=1),
            np.subtract.accumulate(x, axis=1),
            np.divide.accumulate(x),
            np.subtract.reduce(x, initial=3.0),
        ),
        operands=(np.abs(matrix("subtract.reduce", 2, 3)),),
    ),
    Case(
        name="outer of two arrays",
        function=lambda x, y: (
            np.multiply.outer(x, y),
            np.subtract.outer(x, y[0]),
            np.arctan2.outer(x, 2.0),
            np.less.outer(x, y),
            np.add.outer(x, y, dtype=np.complex128),
        ),
        operands=(matrix("outer x", 3), matrix("outer y", 2, 2)),
    ),
    Case(
        name="reduceat",
        function=lambda x: (
            np.add.reduceat(x, [0, 2, 1]),
            np.add.reduceat(x, [0, 1, 3]),
            np.maximum.reduceat(x, [0, 2, 2]),
            np.multiply.reduceat(x.reshape(2, 2), [0, 1], axis=1),
        ),
        operands=(matrix("reduceat", 4),),
        edges=((integers(4).astype(np.int8),),),
    ),
]


def _at(name: str, *indices: object) -> Case:
    def function(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
        results = []
        for index in indices:
            target = x * 1.0
            getattr(np, name).at(target, index, y)
            results.append(target)
        return results

    return Case(
        name=f"{name}.at",
        function=function,
        operands=(np.abs(matrix(f"{name}.at x", 3, 2)), np.abs(matrix(f"{name}.at y", 2))),
    )


def _unary_at(x: np.ndarray) -> np.ndarray:
    target = x * 1.0
    np.sqrt.at(target, [0, 0, 1])
    np.negative.at(target, (slice(1, None), 0))
    return target


IN_PLACE = [
    _at("add", [0, 1, 0], (0, slice(None)), ([0, 0], [1, 1]), np.array([True, False, True])),
    _at("subtract", [0, 1, 0], slice(1, 3)),
    _at("multiply", [0, 1, 0], ([0, 0], [1, 1]), ...),
    _at("maximum", [0, 1, 0]),
    _at("divide", [2, 2, 2], [1]),
    Case(
        name="sqrt.at",
        function=_unary_at,
        operands=(np.abs(matrix("sqrt.at", 3, 2)),),
    ),
]

CASES = [*REDUCTIONS, *IN_PLACE]
