"""Rows of the reductions: sums, products, extremes, truth and positions over axes."""

import numpy as np

from tests.op_cases.case import Case, rng

NAN, INF = np.nan, np.inf


def matrix(name: str, *shape: int) -> np.ndarray:
    """Return distinct numbers away from zero."""
    values = rng(name).normal(size=shape)
    return values + 0.3 * np.sign(values)


def integers(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape)).reshape(shape)[..., ::-1] % 7 - 3


EDGES = (
    (np.array([[1.0, NAN, 3.0], [INF, 2.0, -INF]]),),
    (np.array([[-0.0, 0.0], [-0.0, -0.0]]),),
    (np.array([[5.0]]),),
)
WHOLE = (*EDGES, (np.array(2.5),), (np.zeros((3, 0)),))
MASK = np.array([[True, False, True, True], [False, False, True, False], [True, True, False, True]])

SUMS = [
    Case(
        name="reductions of a scalar along its first axis",
        function=lambda x: (
            np.sum(x, axis=0),
            np.prod(x, axis=-1, keepdims=True),
            np.max(x, axis=0),
            np.any(x, axis=0),
            np.nanmean(x, axis=0),
            np.hypot.reduce(x),
            np.logaddexp.reduce(x),
        ),
        operands=(np.array(3.0),),
    ),
    Case(
        name="sum",
        function=lambda x: np.sum(x),
        operands=(matrix("sum", 3, 4),),
        covers=("sum",),
        edges=(*WHOLE, (np.zeros(0),)),
        dtypes=("float32", "complex128", "complex64"),
    ),
    Case(
        name="sum over one axis and over several",
        function=lambda x: (np.sum(x, axis=0), x.sum(-1, keepdims=True), x.sum(axis=(2, 0))),
        operands=(matrix("sum axes", 2, 3, 4),),
        edges=((np.zeros((2, 0, 3)),), (integers(2, 3, 2),)),
        dtypes=("float32", "float16"),
    ),
    Case(
        name="sum over no axis",
        function=lambda x: np.sum(x, axis=()),
        operands=(matrix("sum none", 2, 3),),
        edges=((np.array([True, False]),),),
    ),
    Case(
        name="sum of small integers and bool widens",
        function=lambda x: (np.sum(x, axis=0), np.prod(x), x.cumsum()),
        operands=(np.array([[100, 100], [100, 3]], np.int8),),
        edges=(
            (np.array([[200, 100], [100, 3]], np.uint8),),
            (np.array([[True, True], [True, False]]),),
            (np.array([[2**40, 5], [3, 1]]),),
        ),
        order=0,
    ),
    Case(
        name="sum with dtype, initial and where",
        function=lambda x, y: (
            np.sum(x, axis=1, dtype=np.float32),
            np.sum(x, axis=0, initial=y),
            np.sum(x, where=MASK, initial=2.0, keepdims=True),
            np.sum(x, 1, where=MASK[0]),
        ),
        operands=(matrix("sum where", 3, 4), np.array(1.5)),
        grad_rtol=1e-4,
    ),
    Case(
        name="prod",
        function=lambda x: np.prod(x),
        operands=(matrix("prod", 2, 3),),
        covers=("prod", "cumprod"),
        edges=(*WHOLE, (np.zeros(0),)),
        dtypes=("float32", "complex128"),
        order=3,
    ),
    Case(
        name="prod over axes",
        function=lambda x: (np.prod(x, axis=1), x.prod(axis=(0, -1), keepdims=True)),
        operands=(matrix("prod axes", 2, 3, 2),),
        edges=((np.zeros((2, 0, 3)),), (integers(2, 3, 2),)),
        dtypes=("float32",),
    ),
    Case(
        name="prod with one and with two zeros",
        function=lambda x: np.prod(x, axis=1),
        operands=(np.array([[0.0, 2.0, 3.0, -1.0], [0.0, 2.0, 0.0, 3.0], [0.0, 0.0, 0.0, 1.0]]),),
        order=3,
        tags=frozenset({"any zero sign"}),
    ),
    Case(
        name="prod of one element",
        function=lambda x: (np.prod(x), np.prod(x, axis=0), np.prod(x, axis=1)),
        operands=(np.array([[0.0]]),),
    ),
    Case(
        name="prod with initial, where and dtype",
        function=lambda x: (
            np.prod(x, axis=1, initial=2.0),
            np.prod(x, where=MASK, axis=0),
            np.prod(x, dtype=np.complex128),
        ),
        operands=(matrix("prod where", 3, 4),),
    ),
    Case(
        name="prod of complex numbers",
        function=lambda x: np.prod(x, axis=0),
        operands=(matrix("prod re", 3, 2) + 1j * matrix("prod im", 3, 2),),
    ),
]

EXTREMES = [
    Case(
        name="max",
        function=lambda x: np.max(x),
        operands=(matrix("max", 3, 4),),
        covers=("max",),
        edges=(*EDGES, (np.array(2.5),), (integers(2, 3),), (np.array([True, False]),)),
        dtypes=("float32", "float16"),
    ),
    Case(
        name="min",
        function=lambda x: np.min(x),
        operands=(matrix("min", 3, 4),),
        covers=("min",),
        edges=(*EDGES, (np.array(2.5),), (integers(2, 3),), (np.array([True, False]),)),
        dtypes=("float32", "float16"),
    ),
    Case(
        name="max and min over axes",
        function=lambda x: (
            np.max(x, axis=0),
            x.min(axis=(0, 2), keepdims=True),
            np.amax(x, -1),
            np.amin(x, axis=1),
            np.max(x, axis=()),
        ),
        operands=(matrix("max axes", 2, 3, 4),),
        edges=((integers(2, 2, 3),), (np.zeros((3, 1, 2)),)),
        dtypes=("float32",),
    ),
    Case(
        name="max with initial and where",
        function=lambda x, y: (
            np.max(x, axis=0, initial=y),
            np.min(x, axis=1, initial=y, where=MASK),
            np.max(x, where=MASK, initial=-9.0),
        ),
        operands=(matrix("max where", 3, 4), np.array(0.1)),
        edges=((np.zeros((3, 4)), np.array(NAN)),),
    ),
    Case(
        name="max and min of nothing, given an initial value",
        function=lambda x: (np.max(x, axis=0, initial=1.0), np.min(x, initial=2.0, keepdims=True)),
        operands=(np.zeros((0, 3)),),
        order=0,
    ),
    Case(
        name="max of complex numbers",
        function=lambda x: (np.max(x), np.min(x, axis=0)),
        operands=(matrix("max re", 3, 2) + 1j * matrix("max im", 3, 2),),
        edges=((np.array([[1 + 1j, 1 + 2j], [1 - 1j, 0]]),),),
    ),
    Case(
        name="max of nothing along an axis with elements",
        function=lambda x: (np.max(x, axis=1), np.argmin(x, axis=1)),
        operands=(np.zeros((0, 3)),),
        order=0,
    ),
    Case(
        name="ptp",
        function=lambda x: (np.ptp(x), np.ptp(x, axis=1, keepdims=True), np.ptp(x, 0)),
        operands=(matrix("ptp", 3, 4),),
        edges=((integers(2, 3),), EDGES[0]),
        dtypes=("float32",),
    ),
]

QUESTIONS = [
    Case(
        name="any",
        function=lambda x: (np.any(x), np.any(x, axis=0), x.any(axis=(0, 1), keepdims=True)),
        operands=(matrix("any", 2, 3),),
        covers=("any",),
        edges=(
            (np.array([[0.0, -0.0, NAN], [0.0, 0.0, 1.0]]),),
            (np.zeros((0, 2)),),
            (np.array([[0, 3]]),),
            (np.array([[0j, 1j]]),),
        ),
        order=0,
    ),
    Case(
        name="all",
        function=lambda x: (np.all(x), np.all(x, axis=-1), x.all(axis=0, keepdims=True)),
        operands=(matrix("all", 2, 3),),
        covers=("all",),
        edges=(
            (np.array([[0.0, -0.0, NAN], [INF, 2.0, 1.0]]),),
            (np.zeros((0, 2)),),
            (np.array([[0, 3]]),),
            (np.array([[1j, 1]]),),
        ),
        order=0,
    ),
    Case(
        name="any and all over no axis and with where",
        function=lambda x: (
            np.any(x, axis=()),
            np.all(x, axis=()),
            np.any(x, where=MASK, axis=0),
            np.all(x, where=MASK),
        ),
        operands=(integers(3, 4) % 2,),
        order=0,
    ),
    Case(
        name="count_nonzero",
        function=lambda x: (
            np.count_nonzero(x, axis=0),
            np.count_nonzero(x, (0, 1), keepdims=True),
        ),
        operands=(np.array([[0.0, -0.0, NAN], [INF, 2.0, 1.0]]),),
        edges=((np.array([[True, False]]),), (np.zeros((2, 0)),)),
        order=0,
    ),
    Case(
        name="argmax",
        function=lambda x: (
            np.argmax(x),
            np.argmax(x, axis=0),
            x.argmax(-1),
            np.argmax(x, axis=1, keepdims=True),
            np.argmax(x, keepdims=True),
        ),
        operands=(matrix("argmax", 2, 3),),
        covers=("argmax",),
        edges=(
            (np.array([[1.0, 3.0, 3.0], [2.0, -1.0, 2.0]]),),
            (np.array([[1.0, NAN, 3.0], [INF, 2.0, NAN]]),),
            (integers(2, 3),),
        ),
        dtypes=("float32",),
        order=0,
    ),
    Case(
        name="argmin",
        function=lambda x: (
            np.argmin(x),
            np.argmin(x, axis=0),
            x.argmin(-1),
            np.argmin(x, axis=1, keepdims=True),
        ),
        operands=(matrix("argmin", 2, 3),),
        covers=("argmin",),
        edges=(
            (np.array([[1.0, 3.0, 1.0], [2.0, -1.0, -1.0]]),),
            (np.array([[1.0, NAN, 3.0], [INF, 2.0, NAN]]),),
            (integers(2, 3),),
        ),
        dtypes=("float32",),
        order=0,
    ),
    Case(
        name="argmax of a scalar",
        function=lambda x: (np.argmax(x), np.argmin(x, axis=0)),
        operands=(np.array(3.0),),
        order=0,
    ),
]

CASES = [*SUMS, *EXTREMES, *QUESTIONS]
