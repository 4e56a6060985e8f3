"""numpy.emath: functions whose result is complex where the number asks for it.

Under a trace the dtype is decided before any number is known, so only complex input is taken.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.errors import UnsupportedError
from stagrad.ir import aval_of
from stagrad.ops.define import UFUNCS, implements


def _complex_only(name: str, *operands: Any) -> None:
    if not any(aval_of(operand).dtype.kind == "c" for operand in operands):
        raise UnsupportedError(
            f"np.emath.{name}: whether its result is complex depends on the numbers, and dtypes "
            f"are fixed while a function is traced. Write np.{name}(x + 0j), or np.{name}(x) where "
            "x stays in the real domain"
        )


def _of_one(name: str) -> Callable[[Any], Any]:
    def apply(x: Any) -> Any:
        _complex_only(name, x)
        return UFUNCS[name](x)

    return apply


for _name in ("sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"):
    implements(getattr(np.emath, _name))(_of_one(_name))


@implements(np.emath.logn)
def logn(n: Any, x: Any) -> Any:
    """Return the logarithm to base `n` of complex numbers."""
    _complex_only("log", x)
    return UFUNCS["log"](x) / UFUNCS["log"](n)


@implements(np.emath.power)
def power(x: Any, p: Any) -> Any:
    """Raise complex numbers to a power."""
    _complex_only("power", x)
    return UFUNCS["power"](x, p)
