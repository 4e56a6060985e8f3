"""PyTorch's functions: families of compositions of the table's operations."""

from collections.abc import Callable
from typing import Any

from stagrad.eager import linalg, special
from stagrad.eager.functions import (
    diagonals,
    joining,
    ordering,
    picking,
    pointwise,
    products,
    reductions,
    shapes,
)
from stagrad.eager.functions.registry import NAMES

FAMILIES = (
    pointwise, reductions, ordering, shapes, diagonals, picking, joining, products, linalg, special,
)  # fmt: skip
"""Importing a family enters its functions."""

NAMES |= {name: getattr(linalg, name) for name in ("det", "matrix_exp", "pinv")}
NAMES["inverse"], NAMES["pinverse"] = linalg.inv, linalg.pinv


def __getattr__(name: str) -> Callable[..., Any]:
    if name in NAMES:
        found: Callable[..., Any] = NAMES[name]
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
