"""Reductions and running forms of binary operations that NumPy has as methods of ufuncs only."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.errors import ShapeError
from stagrad.ir import ZERO, Primitive, aval_of, bind
from stagrad.ops import reduction
from stagrad.ops.along_axis import along_axis
from stagrad.ops.convert import as_value
from stagrad.ops.cumulative import cumlogsumexp_p, cummax_p, cumsum_p, running, share
from stagrad.ops.define import UFUNCS, normalize_axes
from stagrad.ops.movement import astype
from stagrad.ops.nan_reductions import present
from stagrad.ops.reduction import UNSET, count, expand_like, fold, keep_where, reduced_axes
from stagrad.ops.selection import select


def with_numpy_defaults(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a reduction as the method takes it: along the first axis unless told otherwise."""

    def reduce(
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: None = None,
        keepdims: Any = False,
        initial: Any = UNSET,
        where: Any = True,
    ) -> Any:
        given = UNSET if initial is None else initial
        return function(as_value(array), axis, dtype, None, keepdims, given, where)

    return reduce


def extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a largest or smallest element, whose function takes no dtype."""

    def reduce(
        array: Any, axis: Any, dtype: Any, out: None, keepdims: Any, initial: Any, where: Any
    ) -> Any:
        array = array if dtype is None else astype(array, dtype)
        return function(array, axis, None, keepdims, initial, where)

    return with_numpy_defaults(reduce)


def truth(function: Callable[..., Any], ufunc: str) -> Callable[..., Any]:
    """The same for a logical operation, whose function takes neither dtype nor initial value."""

    def reduce(
        array: Any, axis: Any, dtype: Any, out: None, keepdims: Any, initial: Any, where: Any
    ) -> Any:
        result = function(array, axis, None, keepdims, where=where)
        return result if initial is UNSET else UFUNCS[ufunc](initial, result)

    return with_numpy_defaults(reduce)


def parity(a: Any, axis: Any, out: None, keepdims: Any, *, where: Any) -> Any:
    """Whether the number of true elements is odd."""
    odd = reduction.sum(astype(a, np.bool_), axis, np.int64, None, keepdims, where=where) % 2
    return astype(odd, np.bool_)


def _logaddexp_rule(ct: Any, out: Any, x: Any, *, axis: tuple[int, ...]) -> Any:
    return expand_like(ct, x, axis) * share(x, expand_like(out, x, axis))


def _logaddexp_jvp(primals: Any, tangents: Any, out: Any, *, axis: tuple[int, ...]) -> Any:
    parts = share(primals[0], expand_like(out, primals[0], axis))
    return bind(reduction.sum_p, tangents[0] * parts, axis=axis)


logaddexp_reduce_p = reduction.reduction_record(
    "logaddexp_reduce",
    dtypes="f",
    py="xp.logaddexp.reduce({0}, axis={axis})",
    vjps=(_logaddexp_rule,),
    jvp=_logaddexp_jvp,
    doc="Logarithm of the sum of exponentials over axes.",
)


def _direction(x: Any, length: Any) -> Any:
    """Return x over the length it is part of, zero where that is zero."""
    return select(length == 0, aval_of(x).dtype.type(0), x / length)


def _hypot_rule(ct: Any, out: Any, x: Any, *, axis: tuple[int, ...]) -> Any:
    return expand_like(ct, x, axis) * _direction(x, expand_like(out, x, axis))


def _hypot_jvp(primals: Any, tangents: Any, out: Any, *, axis: tuple[int, ...]) -> Any:
    parts = _direction(primals[0], expand_like(out, primals[0], axis))
    return bind(reduction.sum_p, tangents[0] * parts, axis=axis)


hypot_reduce_p = reduction.reduction_record(
    "hypot_reduce",
    dtypes="f",
    py="xp.hypot.reduce({0}, axis={axis})",
    vjps=(_hypot_rule,),
    jvp=_hypot_jvp,
    doc="Euclidean length over axes, without overflow.",
)

INTEGER_FOLDS = {
    "bitwise_and": -1, "bitwise_or": 0, "bitwise_xor": 0, "gcd": 0, "lcm": None
}  # fmt: skip
"""Ufuncs of integers that reduce in any order, with their identities."""

integer_reduce_p = reduction.reduction_record(
    "integer_reduce",
    dtypes="biu",
    py=lambda params, arity: f"xp.{params['ufunc']}.reduce({{0}}, axis={{axis}})",
    vjps=(ZERO,),
    doc="Integers over axes, combined by a ufunc.",
)

integer_accumulate_p = along_axis(
    "integer_accumulate",
    dtypes="biu",
    py=lambda params, arity: f"xp.{params['ufunc']}.accumulate({{0}}, axis={{axis}})",
    vjps=(ZERO,),
    doc="Integers along an axis, each combined with all before it by a ufunc.",
)


def _float_operand(name: str, array: Any, dtype: Any) -> Any:
    """Return the operand in the dtype that NumPy's loop of a ufunc on floats takes."""
    given = np.dtype(aval_of(array).dtype if dtype is None else dtype)
    loop = getattr(np, name).resolve_dtypes((given, given, None))
    return astype(array, loop[0])


def _reduced(
    primitive: Primitive,
    name: str,
    identity: Any,
    array: Any,
    axis: Any,
    keepdims: Any,
    initial: Any,
    where: Any,
    **params: Any,
) -> Any:
    axes = reduced_axes(axis, aval_of(array).ndim, f"{name}.reduce")
    if identity is None and where is not True:
        raise ShapeError(f"{name}.reduce: with where=, an initial value has to be given")
    if identity is None and count(array, axes) == 0 and initial is UNSET:
        raise ShapeError(
            f"{name}.reduce: zero-size array to reduction operation {name} which has no identity"
        )
    array = array if identity is None else keep_where(where, array, identity)
    result = fold(primitive, array, axes, keepdims, **params)
    return (
        result if initial is UNSET else UFUNCS[name](astype(initial, aval_of(result).dtype), result)
    )


def _float_reduce(
    primitive: Primitive, name: str, identity: float, array: Any, axis: Any, dtype: Any, *rest: Any
) -> Any:
    _, keepdims, initial, where = rest
    array = _float_operand(name, array, dtype)
    return _reduced(primitive, name, identity, array, axis, keepdims, initial, where)


logaddexp_reduce = with_numpy_defaults(
    functools.partial(_float_reduce, logaddexp_reduce_p, "logaddexp", -np.inf)
)


@with_numpy_defaults
def logaddexp2_reduce(
    array: Any, axis: Any, dtype: Any, out: None, keepdims: Any, initial: Any, where: Any
) -> Any:
    """Logarithm to base 2 of the sum of powers of 2 over axes."""
    array = _float_operand("logaddexp2", array, dtype) * LOG_2
    initial = initial if initial is UNSET else initial * LOG_2
    return logaddexp_reduce(array, axis, None, None, keepdims, initial, where) / LOG_2


LOG_2 = math.log(2)


@with_numpy_defaults
def hypot_reduce(
    array: Any, axis: Any, dtype: Any, out: None, keepdims: Any, initial: Any, where: Any
) -> Any:
    """Euclidean length over axes; of one element it is its absolute value."""
    array = _float_operand("hypot", array, dtype)
    if not reduced_axes(axis, aval_of(array).ndim, "hypot.reduce"):
        return UFUNCS["absolute"](array)
    return _float_reduce(
        hypot_reduce_p, "hypot", 0, array, axis, None, None, keepdims, initial, where
    )


def integer_reduce(name: str) -> Callable[..., Any]:
    """Return `reduce` of one of the ufuncs in INTEGER_FOLDS."""

    def reduce(
        array: Any, axis: Any, dtype: Any, out: None, keepdims: Any, initial: Any, where: Any
    ) -> Any:
        array = array if dtype is None else astype(array, dtype)
        identity: Any = INTEGER_FOLDS[name]
        if identity == -1:
            identity = ~aval_of(array).dtype.type(0)
        return _reduced(
            integer_reduce_p, name, identity, array, axis, keepdims, initial, where, ufunc=name
        )

    return with_numpy_defaults(reduce)


def from_first_axis(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a running operation as the method takes it: along the first axis unless told."""

    def accumulate(array: Any, axis: Any = 0, dtype: Any = None, out: None = None) -> Any:
        array = as_value(array)
        if aval_of(array).ndim == 0:
            raise TypeError("cannot accumulate on a scalar")
        axes = normalize_axes(axis, aval_of(array).ndim, "accumulate")
        if len(axes) != 1:
            raise ShapeError(f"accumulate does not allow multiple axes: {axis} stands for {axes}")
        return function(array, axes[0], dtype)

    return accumulate


def running_extreme(primitive: Primitive) -> Callable[..., Any]:
    """Return `accumulate` of maximum or minimum."""
    return from_first_axis(lambda array, axis, dtype: running(primitive, array, axis, dtype))


def running_number(primitive: Primitive, neutral: Callable[[np.dtype], Any]) -> Callable[..., Any]:
    """Return `accumulate` of fmax or fmin: NaN counts only where there was nothing else."""

    def accumulate(array: Any, axis: Any, dtype: Any) -> Any:
        array = array if dtype is None else astype(array, dtype)
        found = present(array)
        if found is True:
            return running(primitive, array, axis)
        filled = keep_where(found, array, neutral(aval_of(array).dtype))
        so_far = running(cummax_p, found, axis)
        return keep_where(so_far, running(primitive, filled, axis), np.nan)

    return from_first_axis(accumulate)


def running_truth(primitive: Primitive) -> Callable[..., Any]:
    """Return `accumulate` of a logical operation as a running extreme of truth values."""
    return from_first_axis(
        lambda array, axis, dtype: running(primitive, astype(array, np.bool_), axis)
    )


@from_first_axis
def running_parity(array: Any, axis: Any, dtype: Any) -> Any:
    """Whether the number of true elements so far is odd."""
    return astype(running(cumsum_p, astype(astype(array, np.bool_), np.int64), axis) % 2, np.bool_)


@from_first_axis
def logaddexp_accumulate(array: Any, axis: Any, dtype: Any) -> Any:
    """Logarithm of the sum of exponentials so far."""
    return running(cumlogsumexp_p, _float_operand("logaddexp", array, dtype), axis)


@from_first_axis
def logaddexp2_accumulate(array: Any, axis: Any, dtype: Any) -> Any:
    """Logarithm to base 2 of the sum of powers of 2 so far."""
    return running(cumlogsumexp_p, _float_operand("logaddexp2", array, dtype) * LOG_2, axis) / LOG_2


def integer_accumulate(name: str) -> Callable[..., Any]:
    """Return `accumulate` of one of the ufuncs in INTEGER_FOLDS."""

    def accumulate(array: Any, axis: Any, dtype: Any) -> Any:
        array = array if dtype is None else astype(array, dtype)
        return bind(integer_accumulate_p, array, axis=axis, ufunc=name)

    return from_first_axis(accumulate)
