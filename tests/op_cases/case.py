"""What one row of the operation table's test says."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Case:
    """One NumPy expression with operands, and what may be claimed of it.

    - name: unique; starts with the function's name.
    - function: written with plain NumPy (or SciPy, stagrad) over the operands.
    - operands: arrays (float64 or complex128 where differentiable), away from kinks and poles.
    - covers: names of the primitives this row is the row of; its program or gradient uses them.
    - edges: further operand tuples where only values are compared (NaN, inf, -0.0, empty, 0-d).
    - dtypes: further dtypes in which values and aval rules are checked (operands are cast).
    - order: highest derivative checked numerically (0 where there is none).
    - wrt: operand positions that are differentiated; None: all inexact ones.
    - rtol: tolerance of value comparisons against NumPy itself, in double precision; it widens with
      the epsilon of other dtypes. 0 means bit for bit.
    - atol: absolute tolerance of the same, for sums whose terms cancel.
    - grad_rtol: tolerance of derivatives against central differences.
    - tags: "any zero sign" (a zero may have either sign), "reverse only" (there is no forward
      mode), "float64 only" (the function itself is of double precision), "zero by decree" (the
      derivative is zero though the value changes).
    """

    name: str
    function: Callable[..., Any]
    operands: tuple[Any, ...]
    covers: tuple[str, ...] = ()
    edges: tuple[tuple[Any, ...], ...] = ()
    dtypes: tuple[str, ...] = ()
    order: int = 2
    wrt: tuple[int, ...] | None = None
    rtol: float = 1e-13
    atol: float = 0.0
    grad_rtol: float = 1e-5
    tags: frozenset[str] = field(default_factory=frozenset)


def rng(name: str) -> np.random.Generator:
    """Return a generator whose stream depends on the row's name alone."""
    return np.random.default_rng([ord(letter) for letter in name])
