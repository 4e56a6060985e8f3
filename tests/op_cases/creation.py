"""Rows of arrays created from traced numbers, or in the likeness of traced arrays."""

import numpy as np

from tests.op_cases.movement import MATRIX, SCALAR, VECTOR, reals, row

STOP = np.array(4.25)


def _filled(x: np.ndarray) -> np.ndarray:
    table = np.zeros((3, 3))
    for number in range(3):
        table[number, : number + 1] = x[: number + 1] * number
    return table


def _appended(x: np.ndarray) -> np.ndarray:
    values = []
    while len(values) < 4:
        values.append(x[len(values)] ** len(values))
    return np.array(values)


CASES = [
    row("zeros_like", lambda x: np.zeros_like(x) + x, MATRIX),
    row("ones_like", lambda x: np.ones_like(x, shape=(2, 2)) * x[0, 0], MATRIX),
    row("empty_like", lambda x: np.multiply(x, 2.0, out=np.empty_like(x)), MATRIX),
    row("full_like", lambda x, v: np.full_like(x, v) * x, MATRIX, SCALAR),
    row("full_like of another dtype", lambda x: np.full_like(x, 7, dtype=int), MATRIX, order=0),
    row("full", lambda v: np.full((2, 3), v), SCALAR),
    row("full of a row", lambda v: np.full((2, 5), v), VECTOR),
    row("like", lambda x: np.eye(3, 4, like=x) * x + np.zeros(4, like=x), MATRIX),
    row("zeros written into", _filled, reals(3)),
    row("array of computed numbers", _appended, VECTOR),
    row("fromiter", lambda x: np.fromiter((t * t for t in x), float), VECTOR, dtypes=()),
    row("fromfunction", lambda x: np.fromfunction(lambda i, j: x[0] * i + j, (2, 3)), VECTOR),
    row("linspace", lambda a, b: np.linspace(a, b, 5), SCALAR, STOP, rtol=1e-15),
    row(
        "linspace without its end",
        lambda a, b: np.linspace(a, b, 4, endpoint=False),
        SCALAR,
        STOP,
        rtol=1e-15,
    ),
    row("linspace with step", lambda a: np.linspace(a, 2, 4, retstep=True), SCALAR, rtol=1e-15),
    row(
        "linspace of rows",
        lambda a, b: np.linspace(a, b, 3, axis=1),
        VECTOR,
        reals(2, 5),
        rtol=1e-15,
    ),
    *(
        row(f"linspace of {number}", lambda a, b, n=number: np.linspace(a, b, n), SCALAR, STOP)
        for number in (0, 1, 2)
    ),
    row(
        "linspace of integers",
        lambda a: np.linspace(a, 9, 4, dtype=int),
        SCALAR,
        order=0,
        dtypes=(),
    ),
    row("logspace", lambda a, b: np.logspace(a, b, 4, base=2.5), SCALAR, STOP, rtol=1e-14),
    row("logspace of rows", lambda a, c: np.logspace(a, 2, 3, base=c), SCALAR, STOP, rtol=1e-14),
    row("geomspace", lambda a, b: np.geomspace(a, b, 4), SCALAR, STOP, rtol=1e-14),
    row("geomspace downwards", lambda a: np.geomspace(-a, -0.5, 4), SCALAR, rtol=1e-14, dtypes=()),
    row(
        "geomspace in the plane",
        lambda a: np.geomspace(a, 3j, 5),
        np.array(1.0 + 0.5j),
        rtol=1e-14,
        atol=1e-15,
        dtypes=(),
    ),
    row("vander", lambda x: np.vander(x), VECTOR, rtol=1e-14),
    row("vander increasing", lambda x: np.vander(x, 3, increasing=True), VECTOR),
    row("arange in an expression", lambda x: x[0] + x[1] * np.arange(3), VECTOR),
]
