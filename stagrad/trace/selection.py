"""Reading with a traced mask: `x[mask]` has a length nobody knows while tracing.

Much code only reduces the selection (`x[mask].mean()`) or writes it back (`x[mask] *= 2`). For that
the length does not matter: a `Selection` keeps the whole array with the mask, computes elementwise
on all of it and reduces under the mask. Anything that needs the length raises UnsupportedError.
"""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from stagrad.errors import UnsupportedError
from stagrad.ops.define import FUNCTIONS, UFUNCS
from stagrad.trace.tracer import Tracer

_REDUCTIONS = frozenset({"sum", "prod", "mean", "var", "std", "any", "all", "count_nonzero"})
_EXTREMES = {"max": -np.inf, "min": np.inf}
_OF_UFUNC = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}


class Selection:
    """The elements of `values` where `mask`, an array of the same shape, is true."""

    __array_priority__ = 2000.0

    def __init__(self, values: Tracer, mask: Tracer) -> None:
        self.values = values
        self.mask = mask

    @property
    def dtype(self) -> np.dtype:
        """Dtype of the elements."""
        return self.values.dtype

    @property
    def ndim(self) -> int:
        """A selection is one-dimensional."""
        return 1

    @property
    def size(self) -> Any:
        """How many elements are selected, a traced integer."""
        return FUNCTIONS[np.sum](self.mask)

    @property
    def shape(self) -> NoReturn:
        """Unknown while tracing."""
        raise unknown_length("its shape")

    def __len__(self) -> int:
        raise unknown_length("its length")

    def __iter__(self) -> NoReturn:
        raise unknown_length("its elements one by one")

    def __getitem__(self, index: Any) -> NoReturn:
        raise unknown_length("an element by position")

    def __bool__(self) -> bool:
        raise unknown_length("its truth")

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise unknown_length("its numbers")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        if method == "reduce" and ufunc.__name__ in _OF_UFUNC:
            return self._reduce(_OF_UFUNC[ufunc.__name__], keywords)
        out = keywords.pop("out", None)
        if method != "__call__" or keywords:
            raise unknown_length(f"np.{ufunc.__name__}.{method}")
        result = self._elementwise(ufunc.__name__, inputs)
        if out is not None:
            out[0].values = result.values
            return out[0]
        return result

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if args and args[0] is self and len(args) == 1:
            return self._reduce(function.__name__.removeprefix("a"), dict(kwargs))
        raise unknown_length(f"np.{function.__name__}")

    def _elementwise(self, name: str, inputs: tuple[Any, ...]) -> "Selection":
        operands = []
        for value in inputs:
            if isinstance(value, Selection):
                if value.mask.node is not self.mask.node:
                    raise unknown_length("an operation with a selection by another mask")
                operands.append(value.values)
            elif np.ndim(value) == 0:
                operands.append(value)
            else:
                raise unknown_length("an operation with an array")
        return Selection(UFUNCS[name](*operands), self.mask)

    def _reduce(self, name: str, keywords: dict[str, Any]) -> Any:
        if keywords.pop("axis", None) not in (None, 0, -1, (0,)):
            raise unknown_length("another axis")
        keywords = {key: value for key, value in keywords.items() if value is not None}
        if name in _EXTREMES and not keywords:
            return self._extreme(name)
        if name not in _REDUCTIONS or keywords.keys() - {"dtype", "ddof", "initial"}:
            raise unknown_length(f"np.{name}")
        if name == "count_nonzero":
            return FUNCTIONS[np.sum](UFUNCS["logical_and"](self.values, self.mask))
        return FUNCTIONS[getattr(np, name)](self.values, where=self.mask, **keywords)

    def _extreme(self, name: str) -> Any:
        """The extreme of nothing is an error in NumPy; here it is NaN, which hides nothing."""
        if self.dtype.kind != "f":
            raise unknown_length(f"np.{name} of {self.dtype}")
        found = FUNCTIONS[getattr(np, name)](
            self.values, where=self.mask, initial=self.dtype.type(_EXTREMES[name])
        )
        return FUNCTIONS[np.where](FUNCTIONS[np.any](self.mask), found, self.dtype.type(np.nan))

    def __repr__(self) -> str:
        return f"Selection({self.values.aval})"


def unknown_length(what: str) -> UnsupportedError:
    """Return the error for a use of `x[mask]` that needs to know how many elements there are."""
    from stagrad.trace.sources import quote_user_line

    return UnsupportedError(
        f"x[mask] with a traced mask has a length that depends on numbers; asked for is {what}."
        f"{quote_user_line()}\nWrite np.where(mask, x, other), or reduce under the mask: "
        "x[mask].sum(), np.mean(x, where=mask)."
    )


def _binary(name: str, *, reflected: bool = False) -> Callable[[Selection, Any], Selection]:
    def apply(self: Selection, other: Any) -> Selection:
        return self._elementwise(name, (other, self) if reflected else (self, other))

    return apply


def _unary(name: str) -> Callable[[Selection], Selection]:
    return lambda self: self._elementwise(name, (self,))


def _reduction(name: str) -> Callable[..., Any]:
    def apply(self: Selection, axis: Any = None, **keywords: Any) -> Any:
        return self._reduce(name, {"axis": axis, **keywords})

    return apply


for _operator, _name in (
    ("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide"),
    ("floordiv", "floor_divide"), ("mod", "remainder"), ("pow", "power"),
):  # fmt: skip
    setattr(Selection, f"__{_operator}__", _binary(_name))
    setattr(Selection, f"__r{_operator}__", _binary(_name, reflected=True))
for _operator, _name in (
    ("lt", "less"), ("le", "less_equal"), ("gt", "greater"), ("ge", "greater_equal"),
    ("eq", "equal"), ("ne", "not_equal"),
):  # fmt: skip
    setattr(Selection, f"__{_operator}__", _binary(_name))
for _operator, _name in (("neg", "negative"), ("pos", "positive"), ("abs", "absolute")):
    setattr(Selection, f"__{_operator}__", _unary(_name))
for _name in ("sum", "prod", "mean", "var", "std", "any", "all", "max", "min"):
    setattr(Selection, _name, _reduction(_name))


def selected(values: Any, index: Any) -> Selection | None:
    """Return the selection `values[index]` when the index is a traced mask of its shape."""
    if not isinstance(index, Tracer) or index.dtype.kind != "b" or index.ndim == 0:
        return None
    return Selection(values, index) if index.shape == values.shape else None
