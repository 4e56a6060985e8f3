"""The table of operations: one record per primitive, and the compositions built of them.

Importing this package fills `stagrad.ir.PRIMITIVES`, `FUNCTIONS` and `UFUNCS`; code that applies an
operation imports it from the module of its family.
"""

from stagrad.ops import (
    arithmetic,
    complex,
    convert,
    creation,
    diagonals,
    exponential,
    floating,
    gather,
    indexing,
    joining,
    logical,
    metadata,
    movement,
    padding,
    power,
    reduction,
    repeating,
    rounding,
    selection,
    shaping,
    slicing,
    trigonometric,
)
from stagrad.ops.define import FUNCTIONS, UFUNCS, elementwise, implements
from stagrad.ops.operators import Operators

__all__ = [
    "FUNCTIONS",
    "UFUNCS",
    "Operators",
    "arithmetic",
    "complex",
    "convert",
    "creation",
    "diagonals",
    "elementwise",
    "exponential",
    "floating",
    "gather",
    "implements",
    "indexing",
    "joining",
    "logical",
    "metadata",
    "movement",
    "padding",
    "power",
    "reduction",
    "repeating",
    "rounding",
    "selection",
    "shaping",
    "slicing",
    "trigonometric",
]
