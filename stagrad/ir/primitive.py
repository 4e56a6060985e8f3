"""The Primitive record: everything stagrad knows about one operation, in one place."""

import enum
import functools
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stagrad.ir.aval import Aval
from stagrad.ir.facts import Facts
from stagrad.ir.index import Index, Placement
from stagrad.ir.literal import Literal

Params = Mapping[str, Any]

CText = str | Mapping[str, str]
"""A C template, or one for each of several groups of dtype kinds of the first operand."""


class Kind(enum.Enum):
    """What fusion and scheduling need to know about an operation."""

    LEAF = "leaf"
    ELEMENTWISE = "elementwise"
    REDUCTION = "reduction"
    MOVEMENT = "movement"
    CONTRACTION = "contraction"
    INDEXING = "indexing"
    CONTROL = "control"
    LIBRARY = "library"


class Rule(enum.Enum):
    """Derivative rules that are statements rather than functions."""

    ZERO = "zero"
    NOT_DIFFERENTIABLE = "not differentiable"


ZERO = Rule.ZERO
NOT_DIFFERENTIABLE = Rule.NOT_DIFFERENTIABLE

VjpRule = Callable[..., Any] | Rule


@dataclass(frozen=True, kw_only=True, eq=False)
class Primitive:
    """One operation: its name, type rule, text in each target language and derivative rules.

    Fields
    - name: NumPy's own name where NumPy has the function, so that ufunc dispatch is a look-up.
    - kind: see `Kind`.
    - dtypes: the dtype kinds accepted for every operand, as letters of `np.dtype.kind`.
    - abstract_eval: `(avals, params) -> Aval`, or a tuple of avals when `multiple` is set.
    - py: expression over operands `{0}`, `{1}`, … (or `{args}`) and params `{axis}`, with `xp` as
      the array module and `special`, `linalg` as SciPy's; a callable `(params, arity) -> template`
      where the text depends on the params.
    - c: the same for one scalar, valid C99 and CUDA C++, or a callable `params -> template`; a
      mapping from dtype kinds of operand 0 ("iu", "f", "c") where the text depends on them; None
      where no kernel form exists.
    - native: `NativeCall -> C statements` for the operation on whole, contiguous arrays, or None
      where there is no native form for them; a program then calls Python for that step.
    - strided: `(operand aval, strides) -> bool`, whether the native form takes an operand that lies
      in memory with these distances between elements, instead of a contiguous copy of it.
    - identity: reductions: `dtype -> number`, what no elements fold to.
    - vjps: one rule per operand, `(ct, out, *primals, **params) -> cotangent`, or `ZERO`, or
      `NOT_DIFFERENTIABLE`; for a variadic operation one callable `(position, ct, out, *primals,
      **params)`. Rules use the bilinear pairing: they hold no conjugates, and a holomorphic rule
      reads like the real one (`reverse` conjugates at its border, see docs/conventions.md).
    - jvp: `(primals, tangents, out, **params) -> tangent`, tangents being None where zero; derived
      from `vjps` when absent.
    - batcher: `(size, batched, operands, **params) -> result`, batch axis leading.
    - prepare: `(operands, params) -> operands`, run by `bind` first; elementwise: `promote`.
    - loop: dtypes in, `(operand dtypes, result dtype)` out; elementwise operations only.
    - multiple: the operation returns a tuple; nodes take its parts apart with `project`.
    - view: set where NumPy's result shares its operand's memory: `(base, value, params) -> base`
      returns the base with `value` written through the view, or raises where it is read-only.
    - access: movement operations: `(operand aval, params) -> Index`, which element of the operand a
      point of the result reads (one entry per operand axis, moving with result axes), or None where
      that is not affine. Fusion reads through such an operation instead of running it.
    - places: movement operations whose result is made of their operands' elements: `(operand avals,
      params) -> Placements`, written in order into operand 0 (one with an `update`) or zeros.
    - update: Python statement that leaves the result in operand 0 instead of in a copy of it; used
      where operand 0 is not needed afterwards. Same fields as `py`.
    - infix: Python's operator for the operation, for emitted text only: `+`, or a prefix `-`.
    - helpers: plain functions the `py` text calls; their source is pasted into emitted modules.
    - linear: the operation is linear in all differentiable operands jointly.
    - facts: `(facts of each operand, **params) -> Facts`, what holds for every element of the
      result whatever the numbers; nothing where absent, except that what moves, folds or contracts
      finite numbers is finite.
    """

    name: str
    kind: Kind
    doc: str
    vjps: tuple[VjpRule, ...] | Callable[..., Any]
    abstract_eval: Callable[[tuple[Aval, ...], Params], Any]
    py: str | Callable[[Params, int], str]
    dtypes: str = "biufc"
    c: CText | Callable[[Params], CText] | None = None
    native: Callable[[Any], str | None] | None = None
    strided: Callable[[Aval, tuple[int, ...]], bool] | None = None
    identity: Callable[[np.dtype], Any] | None = None
    jvp: Callable[..., Any] | None = None
    batcher: Callable[..., Any] | None = None
    prepare: Callable[..., Any] | None = None
    loop: Callable[..., Any] | None = None
    multiple: bool = False
    view: Callable[[Any, Any, Params], Any] | None = None
    access: Callable[[Aval, Params], Index | None] | None = None
    places: Callable[[tuple[Aval, ...], Params], tuple[Placement, ...]] | None = None
    update: str | Callable[[Params, int], str] | None = None
    infix: str | None = None
    helpers: tuple[Callable[..., Any], ...] = ()
    linear: bool = False
    facts: Callable[..., Facts] | None = None

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"

    def expression(self, operands: tuple[str, ...], params: Params) -> str:
        """Return the Python expression for operands named by the given texts.

        >>> import stagrad
        >>> PRIMITIVES["add"].expression(("x", "y"), {})
        'xp.add(x, y)'
        """
        return self._fill(self.py, operands, params)

    def c_template(self, kind: str, params: Params) -> str | None:
        """Return the C template for operands of a dtype kind, None where no kernel form exists."""
        text = self.c(params) if callable(self.c) else self.c
        if isinstance(text, Mapping):
            return next((text[kinds] for kinds in text if kind in kinds), None)
        return text

    def update_statement(self, operands: tuple[str, ...], params: Params) -> str:
        """Return the Python statement that turns operand 0 into the result."""
        assert self.update is not None
        return self._fill(self.update, operands, params)

    def _fill(
        self,
        text: str | Callable[[Params, int], str],
        operands: tuple[str, ...],
        params: Params,
    ) -> str:
        template = text(params, len(operands)) if callable(text) else text
        values = {name: format_param(value) for name, value in params.items()}
        return _formatter.vformat(template, operands, {"args": ", ".join(operands), **values})

    def evaluate(self, operands: tuple[Any, ...], params: Params) -> Any:
        """Run the operation on plain arrays: the same text that code generation prints."""
        return _evaluator(self, _freeze(params), len(operands))(*operands)


_formatter = string.Formatter()

PRIMITIVES: dict[str, Primitive] = {}


def register(primitive: Primitive) -> Primitive:
    """Enter a record into the table of operations; a name can be taken once."""
    if primitive.name in PRIMITIVES:
        raise ValueError(f"primitive {primitive.name!r} is already defined")
    PRIMITIVES[primitive.name] = primitive
    return primitive


def format_param(value: Any) -> str:
    """Return the Python text of a param as it appears in emitted code.

    >>> format_param(np.dtype("float32")), format_param((0, 1))
    ('xp.float32', '(0, 1)')
    >>> format_param(Literal([0.1, np.inf], np.float32)), format_param(complex(-0.0, 1.0))
    ('xp.array([0.1, xp.inf], dtype=xp.float32)', 'complex(-0.0, 1.0)')
    """
    if isinstance(value, np.dtype):
        return f"xp.{value.name if value.kind != 'b' else 'bool_'}"
    if isinstance(value, Literal):
        if value.array.size == 0:
            return f"xp.zeros({value.array.shape}, dtype={format_param(value.array.dtype)})"
        counted = _range_text(value.array)
        if counted is not None:
            return counted
        text = np.array2string(
            value.array,
            separator=", ",
            threshold=2**62,
            formatter={"float_kind": _format_float, "complex_kind": _format_complex},
        )
        return f"xp.array({text}, dtype={format_param(value.array.dtype)})"
    if isinstance(value, float):
        return _format_float(value)
    if isinstance(value, complex):
        return _format_complex(value)
    return repr(value)


LONG_RANGE = 8
"""Evenly spaced integers are written out up to this many, and as a range beyond."""


def _range_text(array: np.ndarray) -> str | None:
    """Return evenly spaced integers as an arange, None for all other arrays.

    >>> _range_text(np.arange(0, 40, 2).reshape(1, 20))
    'xp.arange(0, 40, 2, dtype=xp.int64).reshape((1, 20))'
    """
    if array.dtype.kind != "i" or array.size <= LONG_RANGE:
        return None
    numbers = array.ravel()
    first, step = int(numbers[0]), int(numbers[1]) - int(numbers[0])
    if step == 0 or np.any(np.diff(numbers) != step):
        return None
    stop = first + step * array.size
    text = f"xp.arange({first}, {stop}, {step}, dtype={format_param(array.dtype)})"
    return text if array.ndim == 1 else f"{text}.reshape({array.shape})"


def _format_float(value: Any) -> str:
    """Return the text of a Python or NumPy float, which has no names for its special values."""
    if value != value:
        return "xp.nan"
    if value in (float("inf"), float("-inf")):
        return "xp.inf" if value > 0 else "-xp.inf"
    return str(value)


def _format_complex(value: Any) -> str:
    """Return the text of a complex number, whose own text loses infinities and minus zeros."""
    text = str(value)
    parts = (value.real, value.imag)
    if all(np.isfinite(part) and (part != 0 or not np.signbit(part)) for part in parts):
        return text
    return f"complex({', '.join(map(_format_float, parts))})"


def _freeze(params: Params) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(params.items())) if params else ()


def params_key(params: Params) -> tuple[tuple[str, Any], ...]:
    """Return params as a hashable key, independent of their order."""
    return _freeze(params)


def module_namespace() -> dict[str, Any]:
    """Return the names `py` texts may use besides their operands: `xp` and SciPy, loaded late."""
    return {"xp": np, "special": _Lazy("scipy.special"), "linalg": _Lazy("scipy.linalg")}


class _Lazy:
    """A module imported at first use: SciPy costs more to import than the whole of stagrad."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        import importlib

        return getattr(importlib.import_module(self._name), attribute)


def is_shape(param: Any) -> bool:
    """Say whether a param is a tuple of a class of its own, without named fields."""
    return isinstance(param, tuple) and type(param) is not tuple and not hasattr(param, "_fields")


@functools.lru_cache(maxsize=4096)
def _evaluator(
    primitive: Primitive, params: tuple[tuple[str, Any], ...], arity: int
) -> Callable[..., Any]:
    names = tuple(f"a{position}" for position in range(arity))
    # A shape may be a tensor's, whose text is none that can be evaluated.
    known = {name: tuple(p) if is_shape(p) else p for name, p in params}
    text = f"lambda {', '.join(names)}: {primitive.expression(names, known)}"
    namespace = module_namespace() | {helper.__name__: helper for helper in primitive.helpers}
    return eval(text, namespace)  # type: ignore[no-any-return]
