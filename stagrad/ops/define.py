"""Constructors for the records of the table: what the records of one kind have in common."""

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.errors import DTypeError, ShapeError
from stagrad.ir import Aval, CText, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.promote import DTypes, common_loop, promote, ufunc_loop

FLOATS = "fc"
NUMBERS = "biufc"
REALS = "biuf"
INTEGERS = "biu"

Operation = Callable[..., Any]
"""Type of the functions that apply operations, for those that rules mention before their line."""

UFUNCS: dict[str, Callable[..., Any]] = {}
"""Implementation of each ufunc by its name, NumPy's and SciPy's alike."""

FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""Implementation of each NumPy function that answers `__array_function__`."""


def implements(*functions: Callable[..., Any]) -> Callable[[Any], Any]:
    """Mark a composition as the meaning of NumPy functions inside a trace.

    The composition takes the arguments the NumPy function takes. An argument `out` is seen to here:
    to the composition it is always None.
    """

    def enter(implementation: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            FUNCTIONS[function] = _with_out(implementation)
            if isinstance(function, np.ufunc):
                UFUNCS[function.__name__] = implementation
        return implementation

    return enter


def _with_out(implementation: Callable[..., Any]) -> Callable[..., Any]:
    """Return the composition with its argument `out`, where it has one, written into."""
    code = getattr(implementation, "__code__", None)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ()
    if code is None or "out" not in names:
        return implementation
    place = names.index("out") if names.index("out") < code.co_argcount else sys.maxsize

    @functools.wraps(implementation)
    def apply(*arguments: Any, **keywords: Any) -> Any:
        out = keywords.pop("out", None)
        if len(arguments) > place:
            out = arguments[place]
            arguments = (*arguments[:place], None, *arguments[place + 1 :])
        result = implementation(*arguments, **keywords)
        return result if out is None else _written(out, result, implementation.__name__)

    return apply


def _written(out: Any, result: Any, name: str) -> Any:
    """Write a result into an array and return that, with NumPy's checks of shape and dtype."""
    given, target = aval_of(result), aval_of(out)
    if given.shape != target.shape:
        raise ShapeError(
            f"{name}: a result of shape {given.shape} does not fit out= of shape {target.shape}"
        )
    if not np.can_cast(given.dtype, target.dtype, casting="same_kind"):
        raise DTypeError(f"{name}: cannot cast the result from {given.dtype} to {target.dtype}")
    out[...] = result
    return out


SCIPY: dict[str, Callable[..., Any]] = {}
"""Implementation of SciPy functions that answer no NumPy protocol, by dotted name."""


def implements_scipy(*names: str) -> Callable[[Any], Any]:
    """Mark a composition as the meaning of SciPy functions, named with their public module.

    The composition takes the arguments the SciPy function takes. SciPy is not imported for it.
    """

    def enter(implementation: Callable[..., Any]) -> Callable[..., Any]:
        SCIPY.update(dict.fromkeys(names, implementation))
        return implementation

    return enter


def find_ufunc(name: str) -> np.ufunc | None:
    """Return NumPy's or SciPy's ufunc of that name; SciPy is imported only when NumPy has none."""
    ufunc = getattr(np, name, None)
    if not isinstance(ufunc, np.ufunc):
        import scipy.special

        ufunc = getattr(scipy.special, name, None)
    return ufunc if isinstance(ufunc, np.ufunc) else None


def _named_loop(name: str) -> Callable[[tuple[Any, ...]], DTypes]:
    @functools.lru_cache(maxsize=1024)
    def loop(operand_types: tuple[Any, ...]) -> DTypes:
        ufunc = find_ufunc(name)
        assert ufunc is not None, f"{name} is not a ufunc; its record must say how dtypes combine"
        return ufunc_loop(ufunc, operand_types)

    return loop


def float_loop(operand_types: tuple[Any, ...]) -> DTypes:
    """Return the loop of an operation on floats that is no ufunc: integers become floats."""
    dtypes, dtype = common_loop((*operand_types, np.dtype(np.float16)))
    return dtypes[:-1], dtype


def elementwise(
    name: str,
    *,
    vjps: tuple[Any, ...],
    doc: str,
    c: CText | Callable[[Params], CText] | None,
    py: str | Callable[[Params, int], str] | None = None,
    loop: Callable[[tuple[Any, ...]], DTypes] | None = None,
    is_ufunc: bool = True,
    **fields: Any,
) -> tuple[Primitive, Callable[..., Any]]:
    """Register an elementwise operation; return its record and the function that applies it.

    By default it is the NumPy or SciPy ufunc of that name, which then also answers dtype questions.
    An operation that is no ufunc says `is_ufunc=False`, with its `py` text and, unless all operands
    and the result share their common dtype, its `loop`.
    """
    if loop is None:
        loop = _named_loop(name) if is_ufunc else common_loop
    if py is None:
        module = "xp" if isinstance(getattr(np, name, None), np.ufunc) else "special"
        py = f"{module}.{name}({{args}})"
    arity = len(vjps)

    def abstract_eval(avals: tuple[Aval, ...], params: Params) -> Aval:
        _, dtype = loop(tuple(aval.dtype for aval in avals))
        weak = all(aval.weak for aval in avals) and dtype.kind != "b"
        return Aval(avals[0].shape, dtype, weak)

    record = register(
        Primitive(
            name=name,
            kind=Kind.ELEMENTWISE,
            vjps=vjps,
            doc=doc,
            c=c,
            py=py,
            loop=loop,
            abstract_eval=abstract_eval,
            prepare=promote,
            **fields,
        )
    )
    apply = _positional(record, arity)
    if is_ufunc:
        UFUNCS[name] = apply
    return record, apply


def _positional(record: Primitive, arity: int) -> Callable[..., Any]:
    def apply(*operands: Any) -> Any:
        if len(operands) != arity:
            raise TypeError(f"{record.name} takes {arity} operands, got {len(operands)}")
        return bind(record, *operands)

    apply.__name__ = apply.__qualname__ = record.name
    apply.__module__ = sys._getframe(2).f_globals["__name__"]
    apply.__doc__ = record.doc
    return apply


def normalize_axes(axis: Any, ndim: int, name: str) -> tuple[int, ...]:
    """Return an axis argument (None, int or tuple) as a sorted tuple of non-negative axes.

    Raises numpy.exceptions.AxisError naming the operation, as NumPy does.
    """
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    return tuple(sorted(np.lib.array_utils.normalize_axis_tuple(axes, ndim, name)))
