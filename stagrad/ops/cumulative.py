"""Running sums, products and extremes along one axis, and the recurrence their derivatives need.

With `reverse` a record runs from the last element to the first.
"""

from typing import Any

import numpy as np
import numpy as xp

from stagrad.errors import ShapeError
from stagrad.ir import Params, Primitive, aval_of, bind
from stagrad.ops.along_axis import along_axis, one_axis
from stagrad.ops.define import UFUNCS, implements
from stagrad.ops.movement import astype, reshape, zeros
from stagrad.ops.native_forms import native_cumulation
from stagrad.ops.reduction import accumulator
from stagrad.ops.selection import select
from stagrad.ops.slicing import Region, axis_slice, set_slice, span, whole


def _running_text(call: str) -> Any:
    """Return the text of a NumPy function that runs forward, flipped around when `reverse`."""

    def text(params: Params, arity: int) -> str:
        if not params["reverse"]:
            return call
        flipped = f"xp.flip({{0}}, {params['axis']})"
        return f"xp.flip({call.replace('{0}', flipped, 1)}, {params['axis']})"

    return text


def previous(x: Any, axis: int, fill: Any, *, reverse: bool) -> Any:
    """Return for every element the one before it along an axis, and `fill` for the first.

    With `reverse`, before means after, and the last element gets `fill`.
    """
    aval = aval_of(x)
    extent = aval.shape[axis]
    if extent == 0:
        return x
    region: list[Any] = list(whole(aval.shape))
    region[axis] = span(0, extent - 1, 1, extent) if reverse else span(1, extent, 1, extent)
    taken = axis_slice(x, axis, 1, extent) if reverse else axis_slice(x, axis, 0, extent - 1)
    base = zeros(aval.shape, aval.dtype, like=x)
    complete: Region = tuple(region)
    return set_slice(base + fill if fill else base, taken, complete)


def run_recurrence(factors, terms, axis, reverse):  # type: ignore[no-untyped-def]
    """Return y along an axis with y[0] = terms[0] and y[i] = terms[i] + factors[i] * y[i - 1]."""
    factors, terms = xp.moveaxis(factors, axis, 0), xp.moveaxis(terms, axis, 0)
    if reverse:
        factors, terms = factors[::-1], terms[::-1]
    result = xp.empty_like(terms)
    if terms.ndim == 1 and terms.size:
        values = terms.tolist()
        for place, factor in enumerate(factors.tolist()[1:], start=1):
            values[place] += factor * values[place - 1]
        result[:] = xp.asarray(values)
    elif terms.size:
        result[0] = terms[0]
        for place in range(1, len(terms)):
            result[place] = terms[place] + factors[place] * result[place - 1]
    return xp.moveaxis(result[::-1] if reverse else result, 0, axis)


def _recurrence_rule_for_terms(
    ct: Any, out: Any, factors: Any, terms: Any, *, axis: int, reverse: bool
) -> Any:
    back = previous(factors, axis, 0, reverse=not reverse)
    return linear_recurrence(back, ct, axis, reverse=not reverse)


def _recurrence_rule_for_factors(
    ct: Any, out: Any, factors: Any, terms: Any, *, axis: int, reverse: bool
) -> Any:
    sensitivity = _recurrence_rule_for_terms(ct, out, factors, terms, axis=axis, reverse=reverse)
    return sensitivity * previous(out, axis, 0, reverse=reverse)


def _recurrence_jvp(primals: Any, tangents: Any, out: Any, *, axis: int, reverse: bool) -> Any:
    driving = tangents[1]
    if tangents[0] is not None:
        varied = tangents[0] * previous(out, axis, 0, reverse=reverse)
        driving = varied if driving is None else driving + varied
    return linear_recurrence(primals[0], driving, axis, reverse=reverse)


linear_recurrence_p = along_axis(
    "linear_recurrence",
    dtypes="fc",
    py="run_recurrence({0}, {1}, {axis}, {reverse})",
    helpers=(run_recurrence,),
    vjps=(_recurrence_rule_for_factors, _recurrence_rule_for_terms),
    jvp=_recurrence_jvp,
    doc="y[i] = terms[i] + factors[i] * y[i - 1] along an axis, starting with y[0] = terms[0].",
)


def linear_recurrence(factors: Any, terms: Any, axis: int, *, reverse: bool = False) -> Any:
    """Solve a first-order linear recurrence; both operands have one shape and dtype."""
    return bind(linear_recurrence_p, factors, terms, axis=axis, reverse=reverse)


cumsum_p = along_axis(
    "cumsum",
    py=_running_text("xp.cumsum({0}, axis={axis}, dtype={0}.dtype)"),
    vjps=(lambda ct, out, x, *, axis, reverse: running_sum(ct, axis, reverse=not reverse),),
    linear=True,
    native=native_cumulation("+"),
    doc="Sums of all elements up to each one along an axis, in the operand's dtype.",
)


def running_sum(x: Any, axis: int, *, reverse: bool = False) -> Any:
    """Sum all elements up to each one along an axis, keeping the dtype."""
    return bind(cumsum_p, x, axis=axis, reverse=reverse)


def _cumprod_rule(ct: Any, out: Any, x: Any, *, axis: int, reverse: bool) -> Any:
    following = previous(x, axis, 0, reverse=not reverse)
    later = linear_recurrence(following, ct, axis, reverse=not reverse)
    return later * previous(out, axis, 1, reverse=reverse)


def _cumprod_jvp(primals: Any, tangents: Any, out: Any, *, axis: int, reverse: bool) -> Any:
    driving = tangents[0] * previous(out, axis, 1, reverse=reverse)
    return linear_recurrence(primals[0], driving, axis, reverse=reverse)


cumprod_p = along_axis(
    "cumprod",
    py=_running_text("xp.cumprod({0}, axis={axis}, dtype={0}.dtype)"),
    vjps=(_cumprod_rule,),
    jvp=_cumprod_jvp,
    native=native_cumulation("*"),
    doc="Products of all elements up to each one along an axis, in the operand's dtype.",
)


def running_product(x: Any, axis: int, *, reverse: bool = False) -> Any:
    """Multiply all elements up to each one along an axis, keeping the dtype."""
    return bind(cumprod_p, x, axis=axis, reverse=reverse)


def exclusive_cumprod(x: Any, *, reverse: bool = False) -> Any:
    """Return the products of all elements before each one along the last axis."""
    axis = aval_of(x).ndim - 1
    return previous(running_product(x, axis, reverse=reverse), axis, 1, reverse=reverse)


def _is_same(x: Any, y: Any) -> Any:
    return (x == y) | ((x != x) & (y != y))


def _plateaus(out: Any, x: Any, axis: int, reverse: bool) -> tuple[Any, Any, Any]:
    """Describe a running extreme as weights on its elements: ties share evenly.

    Returns 1 where the extreme stays what it was, 1 where an element equals it, and how many
    elements since the extreme last changed do.
    """
    real_dtype = np.zeros(0, aval_of(x).dtype).real.dtype
    stays = astype(_is_same(out, previous(out, axis, 0, reverse=reverse)), real_dtype)
    attains = astype(_is_same(x, out), real_dtype)
    return stays, attains, linear_recurrence(stays, attains, axis, reverse=reverse)


def _running_extreme_rule(ct: Any, out: Any, x: Any, *, axis: int, reverse: bool) -> Any:
    stays, attains, ties = _plateaus(out, x, axis, reverse)
    dtype = aval_of(ct).dtype
    onward = astype(previous(stays, axis, 0, reverse=not reverse), dtype)
    return linear_recurrence(onward, ct / ties, axis, reverse=not reverse) * attains


def _running_extreme_jvp(primals: Any, tangents: Any, out: Any, *, axis: int, reverse: bool) -> Any:
    stays, attains, ties = _plateaus(out, primals[0], axis, reverse)
    factors = astype(stays, aval_of(tangents[0]).dtype)
    return linear_recurrence(factors, tangents[0] * attains, axis, reverse=reverse) / ties


cummax_p = along_axis(
    "cummax",
    py=_running_text("xp.maximum.accumulate({0}, axis={axis})"),
    vjps=(_running_extreme_rule,),
    jvp=_running_extreme_jvp,
    doc="Largest of all elements up to each one along an axis.",
)

cummin_p = along_axis(
    "cummin",
    py=_running_text("xp.minimum.accumulate({0}, axis={axis})"),
    vjps=(_running_extreme_rule,),
    jvp=_running_extreme_jvp,
    doc="Smallest of all elements up to each one along an axis.",
)


def share(x: Any, total: Any) -> Any:
    """Return exp(x - total), the part of exp(total) that exp(x) is, for x <= total.

    Where both are the same infinity it is 1 for +inf and 0 for -inf: a sum of nothing has no parts.
    """
    zero = aval_of(x).dtype.type(0)
    difference = select(x == total, zero, x - total)
    return select(x == -np.inf, zero, UFUNCS["exp"](difference))


def _cumlogsumexp_rule(ct: Any, out: Any, x: Any, *, axis: int, reverse: bool) -> Any:
    later = previous(out, axis, np.inf, reverse=not reverse)
    summed = linear_recurrence(share(out, later), ct, axis, reverse=not reverse)
    return summed * share(x, out)


cumlogsumexp_p = along_axis(
    "cumlogsumexp",
    dtypes="f",
    py=_running_text("xp.logaddexp.accumulate({0}, axis={axis})"),
    vjps=(_cumlogsumexp_rule,),
    doc="Logarithm of the sum of exponentials of all elements up to each one along an axis.",
)


def running(primitive: Primitive, a: Any, axis: Any, dtype: Any = None) -> Any:
    """Apply a running operation with NumPy's `axis` argument: None flattens first."""
    a = astype(a, aval_of(a).dtype if dtype is None else dtype)
    aval = aval_of(a)
    if axis is None or aval.ndim == 0:
        a = reshape(a, (aval.size,))
    place = one_axis(0 if axis is None else axis, aval_of(a).ndim, primitive.name)
    return bind(primitive, a, axis=place, reverse=False)


@implements(np.cumsum)
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """Running sums along an axis, as `numpy.cumsum`: small integers widen."""
    return running(cumsum_p, a, axis, accumulator(aval_of(a).dtype) if dtype is None else dtype)


@implements(np.cumprod)
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """Running products along an axis, as `numpy.cumprod`; derivatives hold no division."""
    return running(cumprod_p, a, axis, accumulator(aval_of(a).dtype) if dtype is None else dtype)


def with_initial(values: Any, axis: Any, first: int) -> Any:
    """Return values with one more, zero or one, in front of the axis."""
    aval = aval_of(values)
    place = one_axis(0 if axis is None else axis, aval.ndim, "cumulative")
    shape = (*aval.shape[:place], aval.shape[place] + 1, *aval.shape[place + 1 :])
    region: list[Any] = list(whole(shape))
    region[place] = span(1, shape[place], 1, shape[place])
    base = zeros(shape, aval.dtype, like=values)
    return set_slice(base + first if first else base, values, tuple(region))


def _cumulative(
    name: str, function: Any, first: int, x: Any, axis: Any, dtype: Any, include_initial: bool
) -> Any:
    ndim = aval_of(x).ndim
    if ndim < 1:
        raise ShapeError(f"{name}: input arrays must have at least one dimension, but got none")
    if axis is None and ndim > 1:
        raise ShapeError(f"{name}: axis must be given for an array of {ndim} dimensions")
    values = function(x, axis, dtype)
    return with_initial(values, axis, first) if include_initial else values


@implements(np.cumulative_sum)
def cumulative_sum(
    x: Any,
    /,
    *,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    include_initial: bool = False,
) -> Any:
    """Running sums, as `numpy.cumulative_sum`; `include_initial` puts a zero in front."""
    return _cumulative("cumulative_sum", cumsum, 0, x, axis, dtype, include_initial)


@implements(np.cumulative_prod)
def cumulative_prod(
    x: Any,
    /,
    *,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    include_initial: bool = False,
) -> Any:
    """Running products, as `numpy.cumulative_prod`; `include_initial` puts a one in front."""
    return _cumulative("cumulative_prod", cumprod, 1, x, axis, dtype, include_initial)
