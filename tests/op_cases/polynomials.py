"""Rows of polynomials."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.op_cases.case import Case, rng

NOISE = rng("polynomials")


def reals(*shape: int) -> np.ndarray:
    return NOISE.standard_normal(shape)


def case(name: str, function: Callable[..., Any], *operands: Any, **claims: Any) -> Case:
    claims = {"rtol": 1e-11, "atol": 1e-12, "tags": frozenset({"any zero sign"}), **claims}
    return Case(name=name, function=function, operands=operands, **claims)


X = np.linspace(-1.0, 2.0, 7)

CASES = [
    case("polynomials: polyval", np.polyval, reals(4), reals(2, 3), dtypes=("float32",)),
    case("polynomials: polyval of integers", np.polyval, np.arange(3), np.arange(4), order=0),
    case("polynomials: polyval of a number", np.polyval, reals(3), np.array(0.7)),
    case("polynomials: polyadd", np.polyadd, reals(3), reals(5)),
    case("polynomials: polysub", np.polysub, reals(4), reals(2)),
    case("polynomials: polymul", np.polymul, reals(4), reals(2)),
    case("polynomials: polyder", np.polyder, reals(5)),
    case("polynomials: polyder twice", lambda p: np.polyder(p, 2), reals(5)),
    case("polynomials: polyint", np.polyint, reals(3)),
    case("polynomials: polyint constants", lambda p, k: np.polyint(p, 2, k), reals(3), reals(2)),
    case("polynomials: poly", np.poly, reals(3)),
    case("polynomials: roots", lambda p: np.roots(p), np.array([1.0, -2.0, 3.0, 1.5])),
    case(
        "polynomials: polyfit", lambda x, y: np.polyfit(x, y, 2), X, reals(7), dtypes=("float32",)
    ),
    case(
        "polyfit weights", lambda x, y, w: np.polyfit(x, y, 1, w=w), X, reals(7), 1 + reals(7) ** 2
    ),
    case("polynomials: polyfit columns", lambda x, y: np.polyfit(x, y, 2), X, reals(7, 2)),
    case(
        "polynomials: polyfit covariance", lambda x, y: np.polyfit(x, y, 1, cov=True), X, reals(7)
    ),
    case("polynomials: polyfit full", lambda x, y: np.polyfit(x, y, 1, full=True)[:2], X, reals(7)),
]
