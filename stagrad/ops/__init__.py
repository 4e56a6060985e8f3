"""The table of operations: one record per primitive, and the compositions built of them.

Importing this package fills `stagrad.ir.PRIMITIVES`, `FUNCTIONS` and `UFUNCS`; code that applies an
operation imports it from the module of its family.
"""

from stagrad.ops import arithmetic, movement, reduction
from stagrad.ops.define import FUNCTIONS, UFUNCS, elementwise, implements
from stagrad.ops.operators import Operators

__all__ = [
    "FUNCTIONS",
    "UFUNCS",
    "Operators",
    "arithmetic",
    "elementwise",
    "implements",
    "movement",
    "reduction",
]
