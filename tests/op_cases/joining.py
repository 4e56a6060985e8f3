"""Rows of joining and splitting."""

import numpy as np

from tests.op_cases.movement import CUBE, MATRIX, SCALAR, VECTOR, reals, row

CASES = [
    row(
        "concatenate",
        lambda x, y: np.concatenate([x, y, x]),
        MATRIX,
        reals(2, 4),
        covers=("concatenate",),
    ),
    row("concatenate along the last", lambda x, y: np.concatenate((x, y), -1), MATRIX, reals(3, 1)),
    row("concatenate all", lambda x, y: np.concatenate((x, y), axis=None), MATRIX, VECTOR),
    row("concatenate one", lambda x: np.concatenate([x]), VECTOR),
    row("concatenate an array's rows", lambda x: np.concatenate(x), CUBE),
    row("concatenate with nothing", lambda x: np.concatenate([x, np.zeros((0, 4)), x]), MATRIX),
    row("concatenate mixed dtypes", lambda x: np.concatenate([x, np.arange(3)]), VECTOR),
    row(
        "concatenate with dtype",
        lambda x: np.concatenate([x, x], dtype=np.float32, casting="unsafe"),
        VECTOR,
        order=0,
        dtypes=(),
    ),
    row("stack", lambda x, y: np.stack([x, y], axis=-1), MATRIX, reals(3, 4)),
    row("stack scalars", lambda x: np.stack([x[0], 2.0 * x[1], 3.0]), VECTOR),
    row("vstack", lambda x, y: np.vstack([x, y]), MATRIX, reals(4)),
    row("hstack", lambda x, y: np.hstack([x, y]), MATRIX, reals(3, 2)),
    row("hstack of vectors", lambda x, y: np.hstack([x, y]), VECTOR, SCALAR),
    row("dstack", lambda x, y: np.dstack([x, y]), MATRIX, reals(3, 4)),
    row("dstack of vectors", lambda x: np.dstack([x, x * x]), VECTOR),
    row("column_stack", lambda x, y: np.column_stack([x, y]), MATRIX, reals(3)),
    row("block", lambda x, y: np.block([[x, y], [np.ones((1, 6))]]), reals(3, 4), reals(3, 2)),
    row("block of scalars", lambda x: np.block([[x[0], 0.0], [1.0, x[1]]]), VECTOR),
    row("block of one level", lambda x, y: np.block([x, y]), VECTOR, reals(2)),
    row("array_split", lambda x: np.array_split(x, 3), VECTOR),
    row("array_split into more than there are", lambda x: np.array_split(x, 7), VECTOR),
    row("array_split at places", lambda x: np.array_split(x, [1, 1, -1, 9], axis=1), MATRIX),
    row("split", lambda x: np.split(x, 2, axis=1), MATRIX),
    row("hsplit", lambda x: np.hsplit(x, 2), MATRIX),
    row("hsplit of a vector", lambda x: np.hsplit(x, [2]), VECTOR),
    row("vsplit", lambda x: np.vsplit(x, 3), MATRIX),
    row("dsplit", lambda x: np.dsplit(x, 2), CUBE),
    row("unstack", lambda x: np.unstack(x, axis=1), MATRIX),
    row("unpacking", lambda x: [a * b for a, b, *_ in x], MATRIX),
    row("array of traced scalars", lambda x: np.array([[x[0], 1], [x[1] * x[2], x[3]]]), VECTOR),
    row("asarray of rows", lambda x: np.asarray([x[0], x[1] * 2]), MATRIX),
]
