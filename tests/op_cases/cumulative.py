"""Rows of running sums, products and extremes, and of differences."""

import numpy as np

from stagrad.ops.cumulative import linear_recurrence
from tests.op_cases.case import Case
from tests.op_cases.reductions import EDGES, INF, NAN, integers, matrix

ZEROS = np.array([[0.0, 2.0, 3.0, -1.0], [2.0, 0.0, 0.5, 0.0], [1.0, 3.0, 2.0, 0.0]])
INTEGER_EDGES = ((integers(2, 3),), (np.zeros((0, 2)),), (np.zeros((2, 0)),))


def recurrence(factors: np.ndarray, terms: np.ndarray, axis: int, reverse: bool) -> np.ndarray:
    """The recurrence as its definition says, for plain arrays; traced ones take the operation."""
    if not isinstance(terms, np.ndarray):
        return linear_recurrence(factors, terms, axis, reverse=reverse)
    order = slice(None, None, -1) if reverse else slice(None)
    factors, terms = np.moveaxis(factors, axis, 0)[order], np.moveaxis(terms, axis, 0)[order]
    result = terms.copy()
    for place in range(1, len(result)):
        result[place] += factors[place] * result[place - 1]
    return np.moveaxis(result[order], 0, axis)


RUNNING = [
    Case(
        name="linear recurrence",
        function=lambda factors, terms: (
            recurrence(factors, terms, 1, False),
            recurrence(factors, terms, 0, True),
        ),
        operands=(matrix("recurrence a", 3, 4), matrix("recurrence b", 3, 4)),
        covers=("linear_recurrence",),
        edges=((np.full((2, 3), INF), np.ones((2, 3))), (np.ones((0, 2)), np.ones((0, 2)))),
        dtypes=("float32", "complex128"),
        order=3,
    ),
    Case(
        name="linear recurrence of one row",
        function=lambda factors, terms: (
            recurrence(factors, terms, 0, False),
            recurrence(factors, terms, 0, True),
        ),
        operands=(matrix("recurrence c", 6), matrix("recurrence d", 6)),
        edges=((np.ones(0), np.ones(0)), (np.ones(1), np.ones(1))),
        dtypes=("complex128",),
    ),
    Case(
        name="cumsum",
        function=lambda x: (np.cumsum(x), np.cumsum(x, axis=0), x.cumsum(-1)),
        operands=(matrix("cumsum", 3, 4),),
        covers=("cumsum",),
        edges=(*EDGES, *INTEGER_EDGES),
        dtypes=("float32", "complex64", "float16"),
    ),
    Case(
        name="cumsum of a scalar and with dtype",
        function=lambda x: (np.cumsum(x), np.cumsum(x, axis=0), np.cumsum(x, dtype=np.complex128)),
        operands=(np.array(2.0),),
    ),
    Case(
        name="cumprod",
        function=lambda x: (np.cumprod(x), np.cumprod(x, axis=0), x.cumprod(1)),
        operands=(matrix("cumprod", 2, 3),),
        covers=("cumprod",),
        edges=(*EDGES, *INTEGER_EDGES),
        dtypes=("float32", "complex64"),
        order=3,
    ),
    Case(
        name="cumprod with zeros",
        function=lambda x: np.cumprod(x, axis=1),
        operands=(ZEROS,),
        order=3,
        tags=frozenset({"any zero sign"}),
    ),
    Case(
        name="cumulative_sum",
        function=lambda x: (
            np.cumulative_sum(x, axis=1),
            np.cumulative_sum(x[0]),
            np.cumulative_sum(x, axis=0, include_initial=True),
        ),
        operands=(matrix("cumulative_sum", 3, 4),),
        edges=((integers(2, 3),),),
        dtypes=("float32",),
    ),
    Case(
        name="cumulative_prod",
        function=lambda x: (
            np.cumulative_prod(x, axis=0, dtype=np.float64),
            np.cumulative_prod(x[0], include_initial=True),
        ),
        operands=(matrix("cumulative_prod", 3, 4),),
        edges=((integers(2, 3),),),
    ),
    Case(
        name="maximum.accumulate",
        function=lambda x: (np.maximum.accumulate(x), np.maximum.accumulate(x, axis=1)),
        operands=(matrix("cummax", 3, 4),),
        covers=("cummax",),
        edges=(*EDGES, *INTEGER_EDGES, (np.array([[True, False]]),)),
        dtypes=("float32",),
    ),
    Case(
        name="minimum.accumulate",
        function=lambda x: (np.minimum.accumulate(x), np.minimum.accumulate(x, axis=1)),
        operands=(matrix("cummin", 3, 4),),
        covers=("cummin",),
        edges=(*EDGES, *INTEGER_EDGES),
        dtypes=("float32",),
    ),
    Case(
        name="fmax.accumulate and fmin.accumulate",
        function=lambda x: (np.fmax.accumulate(x, axis=1), np.fmin.accumulate(x)),
        operands=(matrix("cumfmax", 3, 4),),
        edges=((np.array([[NAN, 1.0, NAN, 3.0], [NAN, NAN, -INF, 0.0]]),), (integers(2, 3),)),
    ),
    Case(
        name="logaddexp.accumulate",
        function=lambda x: (
            np.logaddexp.accumulate(x, axis=1),
            np.logaddexp2.accumulate(x),
        ),
        operands=(matrix("cumlogsumexp", 3, 4),),
        covers=("cumlogsumexp",),
        edges=((np.array([[-INF, -INF, 1.0], [INF, 2.0, 800.0]]),), (integers(2, 3),)),
        dtypes=("float32",),
        rtol=1e-12,
    ),
    Case(
        name="logical accumulate",
        function=lambda x: (
            np.logical_and.accumulate(x, axis=1),
            np.logical_or.accumulate(x),
            np.logical_xor.accumulate(x, axis=1),
        ),
        operands=(np.array([[1, 0, 2, 3], [0, 0, 1, 0]]),),
        order=0,
    ),
    Case(
        name="nancumsum and nancumprod",
        function=lambda x: (np.nancumsum(x, axis=0), np.nancumprod(x), np.nancumsum(x)),
        operands=(matrix("nancum", 3, 4),),
        edges=((np.array([[1.0, NAN], [NAN, 2.0]]),), (integers(2, 3),)),
        dtypes=("float32",),
    ),
]

DIFFERENCES = [
    Case(
        name="diff",
        function=lambda x: (np.diff(x), np.diff(x, axis=0), np.diff(x, 2, axis=1), np.diff(x, 0)),
        operands=(matrix("diff", 3, 4),),
        edges=(
            (integers(3, 4).astype(np.uint8),),
            (np.ones((3, 0)),),
            (np.array([[True, False]]),),
        ),
        dtypes=("float32",),
    ),
    Case(
        name="diff with ends",
        function=lambda x, y: (
            np.diff(x, prepend=y),
            np.diff(x, n=2, axis=0, append=x[:2], prepend=0),
        ),
        operands=(matrix("diff ends", 3, 4), np.array(1.5)),
    ),
    Case(
        name="ediff1d",
        function=lambda x, y: (np.ediff1d(x), np.ediff1d(x, to_end=y, to_begin=[1.0, 2.0])),
        operands=(matrix("ediff1d", 2, 3), np.array(1.5)),
    ),
    Case(
        name="trapezoid",
        function=lambda y, x: (
            np.trapezoid(y),
            np.trapezoid(y, dx=0.5, axis=0),
            np.trapezoid(y, x),
            np.trapezoid(y, np.cumsum(y * y, axis=0), axis=0),
        ),
        operands=(matrix("trapezoid", 3, 4), np.array([0.0, 0.5, 2.0, 2.5])),
        dtypes=("float32",),
    ),
    Case(
        name="gradient",
        function=lambda f: (
            np.gradient(f),
            np.gradient(f, 0.5, axis=1),
            np.gradient(f, 2.0, edge_order=2),
            np.gradient(f, 0.5, 2.0, axis=(1, 0)),
        ),
        operands=(matrix("gradient", 3, 4),),
        edges=((integers(3, 4),),),
        dtypes=("float32", "complex128"),
        rtol=1e-12,
    ),
    Case(
        name="gradient on given coordinates",
        function=lambda f, x: (
            np.gradient(f, x, axis=1),
            np.gradient(f, x, axis=1, edge_order=2),
            np.gradient(f, [0.0, 1.0, 3.0], x),
            np.gradient(f, [0.0, 1.0, 2.0], axis=0),
        ),
        operands=(matrix("gradient at", 3, 4), np.array([0.0, 0.5, 2.0, 2.6])),
        rtol=1e-12,
    ),
    Case(
        name="gradient of two elements",
        function=lambda f, x: (np.gradient(f), np.gradient(f, x)),
        operands=(np.array([1.0, 4.0]), np.array([0.5, 2.0])),
    ),
]

CASES = [*RUNNING, *DIFFERENCES]
