"""Reductions: operations that fold axes away.

A record's `axis` is a sorted tuple of non-negative ints, and kept axes are a reshape around it; the
functions take NumPy's own arguments. A record's `c` text combines the value so far, `{0}`, with one
more element, `{1}`.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.errors import ShapeError
from stagrad.ir import ZERO, Aval, Kind, Params, Primitive, aval_of, bind, facts, register
from stagrad.ops.along_axis import one_axis
from stagrad.ops.define import implements, normalize_axes
from stagrad.ops.movement import astype, broadcast_to, reshape, transpose
from stagrad.ops.native_forms import native_position
from stagrad.ops.selection import maximum, minimum, select

UNSET: Any = np._NoValue  # NumPy's default of an argument that may be anything


def kept_shape(shape: tuple[int, ...], axis: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape after a reduction that keeps reduced axes as extent one."""
    return tuple(1 if position in axis else extent for position, extent in enumerate(shape))


def reduced(avals: tuple[Aval, ...], params: Params) -> Aval:
    """Type rule of a reduction that keeps its operand's dtype."""
    aval = avals[0]
    axis = params["axis"]
    shape = tuple(extent for position, extent in enumerate(aval.shape) if position not in axis)
    return Aval(shape, aval.dtype)


def _reduced_to(name: str) -> Callable[[tuple[Aval, ...], Params], Aval]:
    return lambda avals, params: Aval(reduced(avals, params).shape, np.dtype(name))


def expand_like(reduced_value: Any, x: Any, axis: tuple[int, ...]) -> Any:
    """Spread a reduced value back over the axes that were folded."""
    shape = aval_of(x).shape
    return broadcast_to(reshape(reduced_value, kept_shape(shape, axis)), shape)


def count(x: Any, axis: tuple[int, ...]) -> int:
    """Return how many elements each reduced value stands for."""
    shape = aval_of(x).shape
    return math.prod(shape[position] for position in axis)


def accumulator(dtype: np.dtype) -> np.dtype:
    """Return the dtype NumPy's sum and prod use by default: small integers widen."""
    total: np.generic = np.add.reduce(np.zeros(0, dtype))
    return total.dtype


def reduction_record(name: str, **fields: Any) -> Primitive:
    """Register a reduction of one operand over `axis` and return its record."""

    def batcher(
        size: int, batched: Any, operands: Any, *, axis: tuple[int, ...], **params: Any
    ) -> Any:
        return bind(record, operands[0], axis=tuple(position + 1 for position in axis), **params)

    record = register(
        Primitive(
            name=name,
            kind=Kind.REDUCTION,
            batcher=batcher,
            **{"abstract_eval": reduced, "py": f"xp.{name}({{0}}, axis={{axis}})", **fields},
        )
    )
    return record


sum_p = reduction_record(
    "sum",
    facts=facts.one_sign,
    py="xp.sum({0}, axis={axis}, dtype={0}.dtype)",
    c="{0} + {1}",
    identity=lambda dtype: 0,
    vjps=(lambda ct, out, x, *, axis: expand_like(ct, x, axis),),
    linear=True,
    doc="Sum over axes, in the operand's dtype.",
)


def product_of_others(x: Any, axis: tuple[int, ...]) -> Any:
    """Return for every element the product of all others along the axes, zeros or not."""
    from stagrad.ops.cumulative import exclusive_cumprod

    shape = aval_of(x).shape
    kept = tuple(position for position in range(len(shape)) if position not in axis)
    order = (*kept, *axis)
    moved = transpose(x, order)
    moved_shape = aval_of(moved).shape
    rows = reshape(moved, (*moved_shape[: len(kept)], count(x, axis)))
    others = exclusive_cumprod(rows) * exclusive_cumprod(rows, reverse=True)
    back = tuple(order.index(position) for position in range(len(shape)))
    return transpose(reshape(others, moved_shape), back)


prod_p = reduction_record(
    "prod",
    py="xp.prod({0}, axis={axis}, dtype={0}.dtype)",
    c="{0} * {1}",
    identity=lambda dtype: 1,
    vjps=(lambda ct, out, x, *, axis: expand_like(ct, x, axis) * product_of_others(x, axis),),
    jvp=lambda primals, tangents, out, *, axis: bind(
        sum_p, tangents[0] * product_of_others(primals[0], axis), axis=axis
    ),
    doc="Product over axes, in the operand's dtype.",
)


def _chosen(out: Any, x: Any, axis: tuple[int, ...]) -> tuple[Any, Any]:
    """Return which elements the extreme stands for, and how many they are: ties share evenly.

    Where the result is NaN, the NaNs among the elements are the ones it stands for.
    """
    chosen = (x == expand_like(out, x, axis)) | (x != x)
    real_dtype = np.zeros(0, aval_of(x).dtype).real.dtype
    return chosen, bind(sum_p, astype(chosen, real_dtype), axis=axis)


def _extreme_rule(ct: Any, out: Any, x: Any, *, axis: tuple[int, ...]) -> Any:
    chosen, ties = _chosen(out, x, axis)
    return keep_where(chosen, expand_like(ct / ties, x, axis), 0)


def _extreme_jvp(primals: Any, tangents: Any, out: Any, *, axis: tuple[int, ...]) -> Any:
    chosen, ties = _chosen(out, primals[0], axis)
    return bind(sum_p, keep_where(chosen, tangents[0], 0), axis=axis) / ties


max_p = reduction_record(
    "max",
    c={"biuf": "({0} >= {1} || {0} != {0} ? {0} : {1})"},
    identity=lambda dtype: bottom(dtype),
    vjps=(_extreme_rule,),
    jvp=_extreme_jvp,
    doc="Largest element over axes; NaN where there is one.",
)

min_p = reduction_record(
    "min",
    c={"biuf": "({0} <= {1} || {0} != {0} ? {0} : {1})"},
    identity=lambda dtype: top(dtype),
    vjps=(_extreme_rule,),
    jvp=_extreme_jvp,
    doc="Smallest element over axes; NaN where there is one.",
)

any_p = reduction_record(
    "any",
    c="{0} || {1} != 0",
    identity=lambda dtype: False,
    abstract_eval=_reduced_to("bool"),
    vjps=(ZERO,),
    doc="Whether some element over axes is not zero.",
)

all_p = reduction_record(
    "all",
    c="{0} && {1} != 0",
    identity=lambda dtype: True,
    abstract_eval=_reduced_to("bool"),
    vjps=(ZERO,),
    doc="Whether no element over axes is zero.",
)


def _position(name: str, before: str, doc: str) -> Primitive:
    return reduction_record(
        name,
        py=lambda params, arity: f"xp.{name}({{0}}, axis={params['axis'][0]})",
        abstract_eval=_reduced_to("int64"),
        vjps=(ZERO,),
        native=native_position(before),
        doc=doc,
    )


argmax_p = _position("argmax", ">", "Position of the first largest element along one axis.")
argmin_p = _position("argmin", "<", "Position of the first smallest element along one axis.")


def keep_where(mask: Any, x: Any, fill: Any) -> Any:
    """Return `x` with the elements that the mask leaves out replaced by a number.

    `mask` is NumPy's `where=` argument: True for all elements, or anything that broadcasts to `x`.
    """
    if mask is True or mask is UNSET:
        return x
    aval = aval_of(x)
    mask = broadcast_to(astype(mask, np.bool_), aval.shape)
    return select(mask, x, aval.dtype.type(fill))


def fold(primitive: Primitive, a: Any, axes: tuple[int, ...], keepdims: Any, **params: Any) -> Any:
    """Apply a reduction, keeping the reduced axes as extent one where asked."""
    result = bind(primitive, a, axis=axes, **params) if axes else a
    return reshape(result, kept_shape(aval_of(a).shape, axes)) if wanted(keepdims) else result


def reduced_axes(axis: Any, ndim: int, name: str) -> tuple[int, ...]:
    """Return the axes a reduction folds; for a scalar NumPy lets the first axis pass."""
    if ndim == 0 and isinstance(axis, int | np.integer) and axis in (0, -1):
        return ()
    return normalize_axes(axis, ndim, name)


def wanted(keepdims: Any) -> bool:
    """Read a `keepdims` argument, which NumPy's methods pass on unset."""
    return keepdims is not UNSET and bool(keepdims)


def _accumulated(
    primitive: Primitive, identity: int, a: Any, axis: Any, dtype: Any, keepdims: Any, where: Any
) -> Any:
    aval = aval_of(a)
    axes = reduced_axes(axis, aval.ndim, primitive.name)
    a = astype(a, accumulator(aval.dtype) if dtype is None else dtype)
    return fold(primitive, keep_where(where, a, identity), axes, keepdims)


@implements(np.sum)
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: Any = False,
    initial: Any = UNSET,
    where: Any = True,
) -> Any:
    """Sum over axes, as `numpy.sum`: integers smaller than the platform's widen to it."""
    total = _accumulated(sum_p, 0, a, axis, dtype, keepdims, where)
    return total if initial is UNSET else total + astype(initial, aval_of(total).dtype)


@implements(np.prod)
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: Any = False,
    initial: Any = UNSET,
    where: Any = True,
) -> Any:
    """Product over axes, as `numpy.prod`; derivatives hold no division, so zeros are no harm."""
    product = _accumulated(prod_p, 1, a, axis, dtype, keepdims, where)
    return product if initial is UNSET else product * astype(initial, aval_of(product).dtype)


def bottom(dtype: np.dtype) -> Any:
    """Return the value that no other of this dtype is smaller than."""
    if dtype.kind == "c":
        return complex(-np.inf, -np.inf)
    if dtype.kind == "b":
        return False
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def top(dtype: np.dtype) -> Any:
    """Return the value that no other of this dtype is larger than."""
    if dtype.kind == "c":
        return complex(np.inf, np.inf)
    if dtype.kind == "b":
        return True
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


def _extreme(
    primitive: Primitive,
    combine: Callable[..., Any],
    neutral: Callable[[np.dtype], Any],
    a: Any,
    axis: Any,
    keepdims: Any,
    initial: Any,
    where: Any,
) -> Any:
    aval = aval_of(a)
    axes = reduced_axes(axis, aval.ndim, primitive.name)
    a = astype(a, aval.dtype)
    if initial is UNSET:
        if count(a, axes) == 0:
            raise ShapeError(
                f"{primitive.name}: zero-size array to reduction operation {combine.__name__} "
                f"which has no identity: axes {axes} of shape {aval.shape} hold no element; "
                "give initial="
            )
        if where is not True and where is not UNSET:
            raise ShapeError(
                f"{primitive.name}: reduction operation '{combine.__name__}' does not have an "
                "identity, so to use a where mask one has to specify 'initial'"
            )
        return fold(primitive, a, axes, keepdims)
    initial = astype(initial, aval.dtype)
    if count(a, axes) == 0:
        shape = reduced((aval,), {"axis": axes}).shape
        return broadcast_to(initial, kept_shape(aval.shape, axes) if wanted(keepdims) else shape)
    result = fold(primitive, keep_where(where, a, neutral(aval.dtype)), axes, keepdims)
    return combine(result, initial)


@implements(np.max, np.amax)
def max(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: Any = False,
    initial: Any = UNSET,
    where: Any = True,
) -> Any:
    """Largest element over axes, as `numpy.max`; the derivative is shared evenly among ties."""
    return _extreme(max_p, maximum, bottom, a, axis, keepdims, initial, where)


@implements(np.min, np.amin)
def min(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: Any = False,
    initial: Any = UNSET,
    where: Any = True,
) -> Any:
    """Smallest element over axes, as `numpy.min`; the derivative is shared evenly among ties."""
    return _extreme(min_p, minimum, top, a, axis, keepdims, initial, where)


@implements(np.ptp)
def ptp(a: Any, axis: Any = None, out: None = None, keepdims: Any = False) -> Any:
    """Largest minus smallest element over axes, as `numpy.ptp`."""
    return max(a, axis, None, keepdims) - min(a, axis, None, keepdims)


def _logical(
    primitive: Primitive, identity: bool, a: Any, axis: Any, keepdims: Any, where: Any
) -> Any:
    axes = reduced_axes(axis, aval_of(a).ndim, primitive.name)
    if where is not True and where is not UNSET:
        a = keep_where(where, astype(a, np.bool_), identity)
    return astype(fold(primitive, a, axes, keepdims), np.bool_)


@implements(np.any)
def any(
    a: Any, axis: Any = None, out: None = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    """Whether some element over axes is not zero, as `numpy.any`."""
    return _logical(any_p, False, a, axis, keepdims, where)


@implements(np.all)
def all(
    a: Any, axis: Any = None, out: None = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    """Whether no element over axes is zero, as `numpy.all`."""
    return _logical(all_p, True, a, axis, keepdims, where)


@implements(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """How many elements over axes are not zero, as `numpy.count_nonzero`."""
    return sum(astype(a, np.bool_), axis, np.int64, keepdims=keepdims)


def extreme_position(primitive: Primitive, a: Any, axis: Any, keepdims: Any) -> Any:
    """Apply an operation that finds one element's position along an axis, or among all of them."""
    shape = aval_of(a).shape
    kept: tuple[int, ...] = (1,) * len(shape)
    if axis is None or not shape:
        a = reshape(a, (math.prod(shape),))
        places = (one_axis(0 if axis is None else axis, 1, primitive.name),)
    else:
        places = (one_axis(axis, len(shape), primitive.name),)
        kept = kept_shape(shape, places)
    if count(a, places) == 0:
        raise ShapeError(f"attempt to get {primitive.name} of an empty sequence (shape {shape})")
    result = bind(primitive, a, axis=places)
    return reshape(result, kept) if wanted(keepdims) else result


@implements(np.argmax)
def argmax(a: Any, axis: Any = None, out: None = None, *, keepdims: Any = False) -> Any:
    """Position of the first largest element, as `numpy.argmax`."""
    return extreme_position(argmax_p, a, axis, keepdims)


@implements(np.argmin)
def argmin(a: Any, axis: Any = None, out: None = None, *, keepdims: Any = False) -> Any:
    """Position of the first smallest element, as `numpy.argmin`."""
    return extreme_position(argmin_p, a, axis, keepdims)
