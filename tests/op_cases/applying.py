"""Rows of functions applied piece by piece, of polynomials, and of arithmetic on positions."""

import numpy as np

from tests.op_cases.movement import CUBE, MATRIX, VECTOR, reals, row

TALL = {"rtol": 1e-13}

APPLIED = [
    row(
        "apply_along_axis", lambda x: np.apply_along_axis(lambda t: t[1:] * t[0], 1, CUBE * x), CUBE
    ),
    row("apply_along_axis to numbers", lambda x: np.apply_along_axis(np.sum, 0, x), MATRIX, **TALL),
    row(
        "apply_along_axis to matrices",
        lambda x: np.apply_along_axis(lambda t: np.stack([t, 2 * t]), 1, x),
        CUBE,
    ),
    row("apply_over_axes", lambda x: np.apply_over_axes(np.sum, x, [0, -1]), CUBE, **TALL),
    row(
        "vectorize",
        lambda x, y: np.vectorize(lambda s, t: s * t + 1)(x, y),
        MATRIX,
        reals(4),
        dtypes=(),
    ),
    row(
        "vectorize with two results",
        lambda x: np.vectorize(lambda t: (t * t, 2.0 * t))(x),
        VECTOR,
        **TALL,
    ),
    row(
        "vectorize into complex",
        lambda x: np.vectorize(np.exp, otypes="D")(x),
        VECTOR,
        dtypes=(),
        **TALL,
    ),
]

POLYNOMIALS = [
    row("polyval", lambda p, x: np.polyval(p, x), reals(4), MATRIX, **TALL),
    row("polyval at a number", lambda p: np.polyval(p, 1.5), reals(3), **TALL),
    row("polyadd", lambda p, q: np.polyadd(p, q), reals(4), reals(2)),
    row("polysub", lambda p, q: np.polysub(q, p), reals(4), reals(2)),
    row("polymul", lambda p, q: np.polymul(p, q), reals(4), reals(2), **TALL),
    row("polyder", lambda p: np.polyder(p) + np.polyder(p, 2)[0], reals(4), **TALL),
    row("polyint", lambda p: np.polyint(p, 2, k=[3, 1]), reals(4), **TALL),
    row("poly", lambda p: np.poly(p), reals(4), dtypes=("float32",), **TALL),
    row("polyfit", lambda x, y: np.polyfit(x, y, 2), reals(6), reals(6), rtol=1e-11, dtypes=()),
    row(
        "polyfit with weights",
        lambda x, y, w: np.polyfit(x, y, 1, w=w),
        reals(5),
        reals(5, 2),
        1.0 + reals(5) ** 2,
        rtol=1e-11,
        dtypes=(),
    ),
]

POSITIONS = [
    row(
        "ravel_multi_index",
        lambda x, i: x.ravel()[np.ravel_multi_index((i, i + 1), x.shape)],
        MATRIX,
        np.array([0, 2]),
    ),
    row(
        "ravel_multi_index in Fortran's order",
        lambda i, j: np.ravel_multi_index((i, j), (3, 4), mode=("clip", "wrap"), order="F"),
        np.array([0, 2, -5]),
        np.array([9, 0, 3]),
        order=0,
        dtypes=(),
    ),
    row("unravel_index", lambda x: x[np.unravel_index(np.argmax(x), x.shape)], MATRIX),
    row(
        "unravel_index in Fortran's order",
        lambda i: np.unravel_index(i, (3, 4, 2), order="F"),
        np.array([[0, 23], [7, 11]]),
        order=0,
        dtypes=(),
    ),
    row("diag_indices_from", lambda x: x[np.diag_indices_from(x)], reals(3, 3)),
    row("tril_indices_from", lambda x: x[np.tril_indices_from(x, -1)], MATRIX),
    row("triu_indices_from", lambda x: x[np.triu_indices_from(x, 1)], MATRIX),
]

CASES = [*APPLIED, *POLYNOMIALS, *POSITIONS]
