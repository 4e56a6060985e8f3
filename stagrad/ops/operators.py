"""The operators, attributes and methods of an array, shared by traced values and eager tensors.

Every one looks up the NumPy function of the same meaning in the table, so that `x.sum(axis=0)`,
`np.sum(x, axis=0)` and `x + y`, `np.add(x, y)` are one implementation each.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from stagrad.errors import UnsupportedError
from stagrad.ir import Aval
from stagrad.ops.convert import as_array, cast, fresh
from stagrad.ops.define import FUNCTIONS, UFUNCS


def _binary(name: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    def forward(self: Any, other: Any) -> Any:
        return UFUNCS[name](self, _operand(other, self)) if _is_operand(other) else NotImplemented

    def reflected(self: Any, other: Any) -> Any:
        return UFUNCS[name](_operand(other, self), self) if _is_operand(other) else NotImplemented

    return forward, reflected


def _operand(other: Any, like: Any) -> Any:
    return as_array(other, like=like) if isinstance(other, list | tuple) else other


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
    __eq__, _ = _binary("equal")
    __ne__, _ = _binary("not_equal")
    __hash__ = object.__hash__
    __neg__ = _unary("negative")
    __pos__ = _unary("positive")
    __abs__ = _unary("absolute")
    __invert__ = _unary("invert")

    def __round__(self, digits: Any = None) -> Any:
        return int(self) if digits is None else FUNCTIONS[np.round](self, digits)  # type: ignore

    def __format__(self, specification: str) -> str:
        return repr(self)

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

    @property
    def mT(self) -> Any:
        """The array with its last two axes exchanged."""
        return FUNCTIONS[np.matrix_transpose](self)

    @property
    def real(self) -> Any:
        """The real part."""
        return FUNCTIONS[np.real](self)

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return FUNCTIONS[np.imag](self)

    @property
    def flat(self) -> Any:
        """The elements in a row, in the order of the last axis running fastest."""
        return FUNCTIONS[np.reshape](self, -1)

    def __getitem__(self, index: Any) -> Any:
        from stagrad.ops.indexing import getitem

        return getitem(self, index)

    def __len__(self) -> int:
        if not self.aval.shape:
            raise TypeError("len() of unsized object")
        return self.aval.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.aval.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[place] for place in range(self.aval.shape[0]))

    def __contains__(self, value: Any) -> Any:
        return bool((self == value).any())

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
        """The same elements under another shape, given as one tuple or as several integers."""
        wanted = shape[0] if len(shape) == 1 else shape
        return FUNCTIONS[np.reshape](self, wanted, order=order, copy=copy)

    def transpose(self, *axes: Any) -> Any:
        """The array with its axes reordered; reversed when no order is given."""
        order = axes[0] if len(axes) == 1 else axes or None
        return FUNCTIONS[np.transpose](self, order)

    def __copy__(self) -> Any:
        return fresh(self)

    def __deepcopy__(self, memo: Any) -> Any:
        return fresh(self)

    def view(self, dtype: Any = None) -> Any:
        """Another array on the same memory; its bytes cannot be read as another dtype."""
        if dtype is not None and np.dtype(dtype) != self.dtype:
            raise UnsupportedError(
                f"view: the bytes of a traced value ({self.aval}) cannot be read as {dtype}. "
                "x.real, x.imag and a + 1j * b take complex numbers apart and put them together; "
                "x.astype(dtype) converts"
            )
        return FUNCTIONS[np.reshape](self, self.shape)

    def compress(self, condition: Any, axis: int | None = None) -> Any:
        """The entries along an axis where a known condition holds."""
        return fresh(FUNCTIONS[np.compress](condition, self, axis))

    def flatten(self, order: str = "C") -> Any:
        """A one-dimensional copy."""
        return fresh(FUNCTIONS[np.ravel](self, order))

    def copy(self, order: str = "C") -> Any:
        """A copy that shares no memory with this array."""
        return fresh(self)

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Any:
        """The same numbers in another dtype."""
        return cast(self, dtype, casting=casting, copy=copy)


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    shares = function.__name__ in VIEWS

    def apply(self: Any, *arguments: Any, **keywords: Any) -> Any:
        result = FUNCTIONS[function](self, *arguments, **keywords)
        return result if shares else fresh(result)

    apply.__doc__ = f"The same as `numpy.{function.__name__}` of this array."
    return apply


VIEWS = frozenset({"diagonal", "ravel", "squeeze", "swapaxes"})
"""The methods whose result shares memory with the array, so that writing one writes the other."""

METHODS = (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip",
    "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod", "ptp",
    "ravel", "repeat", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take",
    "trace", "var",
)  # fmt: skip

for _name in METHODS:
    setattr(Operators, _name, _method(getattr(np, _name)))
Operators.conj = Operators.conjugate = _unary("conjugate")  # type: ignore[attr-defined]
