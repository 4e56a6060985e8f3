"""Points at which rows are evaluated: smooth ones for derivatives, awkward ones for values."""

import numpy as np

from tests.op_cases.case import rng

NAN, INF = np.nan, np.inf

SPECIAL = np.array(
    [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e300, -1e300, 5e-324, -1e-310]
)

# Every pair of special values, as two operands of one shape.
FIRST = np.repeat(SPECIAL, SPECIAL.size)
SECOND = np.tile(SPECIAL, SPECIAL.size)

_PARTS = np.array([NAN, INF, -INF, 0.0, -0.0, 1.5, -2.0])
COMPLEX = np.empty(_PARTS.size**2, np.complex128)
COMPLEX.real, COMPLEX.imag = np.repeat(_PARTS, _PARTS.size), np.tile(_PARTS, _PARTS.size)

EMPTY = np.zeros((0, 3))
SCALAR = np.array(0.5)

UNARY_EDGES = ((SPECIAL,), (EMPTY,), (SCALAR,))
BINARY_EDGES = (
    (FIRST, SECOND),
    (EMPTY, SCALAR),
    (SCALAR, SCALAR),
    (np.float64(0.25), np.array([[1.0], [2.0]])),
)

INTEGERS = np.array([0, 1, -1, 2, 3, -7, 100, np.iinfo(np.int64).max, np.iinfo(np.int64).min])
FIRST_INTEGER = np.repeat(INTEGERS, INTEGERS.size)
SECOND_INTEGER = np.tile(INTEGERS, INTEGERS.size)
BOOLS = np.array([True, False, True])


def between(name: str, low: float, high: float, shape: tuple[int, ...] = (2, 3)) -> np.ndarray:
    """Return random numbers of a range; the name decides which."""
    return rng(name).uniform(low, high, shape)


def complex_between(name: str, low: float, high: float) -> np.ndarray:
    """Return random complex numbers with both parts in a range."""
    parts = rng(name).uniform(low, high, (2, 2, 3))
    return np.asarray(parts[0] + 1j * parts[1])
