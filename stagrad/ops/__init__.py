"""The table of operations: one record per primitive, and the compositions built of them.

Importing this package fills `stagrad.ir.PRIMITIVES`, `FUNCTIONS` and `UFUNCS`; code that applies an
operation imports it from the module of its family.
"""

from stagrad.ops import (
    arithmetic,
    convert,
    gather,
    indexing,
    joining,
    movement,
    reduction,
    slicing,
)
from stagrad.ops.define import FUNCTIONS, UFUNCS, elementwise, implements
from stagrad.ops.operators import Operators

__all__ = [
    "FUNCTIONS",
    "UFUNCS",
    "Operators",
    "arithmetic",
    "convert",
    "elementwise",
    "gather",
    "implements",
    "indexing",
    "joining",
    "movement",
    "reduction",
    "slicing",
]
