"""The operators, attributes and methods of an array, shared by traced values and eager tensors.

Every one looks up the NumPy function of the same meaning in the table, so that `x.sum(axis=0)`,
`np.sum(x, axis=0)` and `x + y`, `np.add(x, y)` are one implementation each.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.ir import Aval
from stagrad.ops.define import FUNCTIONS, UFUNCS


def _binary(name: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    def forward(self: Any, other: Any) -> Any:
        return UFUNCS[name](self, other) if _is_operand(other) else NotImplemented

    def reflected(self: Any, other: Any) -> Any:
        return UFUNCS[name](other, self) if _is_operand(other) else NotImplemented

    return forward, reflected


def _unary(name: str) -> Callable[[Any], Any]:
    def apply(self: Any) -> Any:
        return UFUNCS[name](self)

    return apply


def _is_operand(other: Any) -> bool:
    return other is not None and not isinstance(other, str | bytes | dict | set)


class Operators:
    """What an array can do by itself; subclasses provide `aval` and `process_primitive`."""

    __slots__ = ()

    aval: Aval

    __add__, __radd__ = _binary("add")
    __sub__, __rsub__ = _binary("subtract")
    __mul__, __rmul__ = _binary("multiply")
    __truediv__, __rtruediv__ = _binary("divide")
    __floordiv__, __rfloordiv__ = _binary("floor_divide")
    __mod__, __rmod__ = _binary("remainder")
    __divmod__, __rdivmod__ = _binary("divmod")
    __pow__, __rpow__ = _binary("power")
    __matmul__, __rmatmul__ = _binary("matmul")
    __and__, __rand__ = _binary("bitwise_and")
    __or__, __ror__ = _binary("bitwise_or")
    __xor__, __rxor__ = _binary("bitwise_xor")
    __lshift__, __rlshift__ = _binary("left_shift")
    __rshift__, __rrshift__ = _binary("right_shift")
    __lt__, _ = _binary("less")
    __le__, _ = _binary("less_equal")
    __gt__, _ = _binary("greater")
    __ge__, _ = _binary("greater_equal")
    __eq__, _ = _binary("equal")  # type: ignore[assignment]
    __ne__, _ = _binary("not_equal")  # type: ignore[assignment]
    __hash__ = object.__hash__
    __neg__ = _unary("negative")
    __pos__ = _unary("positive")
    __abs__ = _unary("absolute")
    __invert__ = _unary("invert")

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype:
        """NumPy dtype."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.aval.size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.aval.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.aval.nbytes

    @property
    def T(self) -> Any:
        """The array with its axes in reverse order."""
        return FUNCTIONS[np.transpose](self)


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    def apply(self: Any, *arguments: Any, **keywords: Any) -> Any:
        return FUNCTIONS[function](self, *arguments, **keywords)

    apply.__doc__ = f"The same as `numpy.{function.__name__}` of this array."
    return apply


METHODS = (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "compress",
    "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod", "ptp",
    "ravel", "repeat", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take",
    "trace", "var",
)  # fmt: skip

for _name in METHODS:
    setattr(Operators, _name, _method(getattr(np, _name)))
Operators.conj = Operators.conjugate = _unary("conjugate")  # type: ignore[attr-defined]
