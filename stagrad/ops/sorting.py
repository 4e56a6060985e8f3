"""Sorting and searching: order along an axis, and where in an order a number belongs.

Derivatives follow the stable permutation: equal elements keep their order.
"""

from typing import Any

import numpy as np

from stagrad.errors import ShapeError, UnsupportedError
from stagrad.ir import ZERO, Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.along_axis import along_axis, one_axis
from stagrad.ops.convert import as_value
from stagrad.ops.define import implements
from stagrad.ops.gather import gather
from stagrad.ops.logical import logical_not
from stagrad.ops.movement import astype, reshape, zeros
from stagrad.ops.reduction import sum as sum_
from stagrad.ops.selection import clip, select


def _positions(avals: tuple[Aval, ...], params: Params) -> Aval:
    return Aval(avals[0].shape, np.dtype(np.int64))


def _permute_rule(ct: Any, out: Any, x: Any, order: Any, *, axis: int) -> Any:
    return permute(ct, inverse_permutation(order, axis), axis)


# Its derivative is another permutation, where that of a general gather adds element by element.
permute_p = along_axis(
    "permute_along_axis",
    py="xp.take_along_axis({0}, {1}, axis={axis})",
    vjps=(_permute_rule, ZERO),
    linear=True,
    doc="The elements along an axis in the order a permutation of their positions says.",
)


def permute(x: Any, order: Any, axis: int) -> Any:
    """Reorder along an axis; `order` has the shape of `x` and names every position once."""
    return bind(permute_p, x, order, axis=axis)


def _argsort_text(params: Params, arity: int) -> str:
    stable = ', kind="stable"' if params["stable"] else ""
    return f"xp.argsort({{0}}, axis={{axis}}{stable})"


argsort_p = along_axis(
    "argsort",
    abstract_eval=_positions,
    py=_argsort_text,
    vjps=(ZERO,),
    doc="The positions along an axis in the order of their elements.",
)


def stable_order(x: Any, axis: int) -> Any:
    """Return the permutation that sorts along an axis and keeps equal elements in their order."""
    return bind(argsort_p, x, axis=axis, stable=True)


def inverse_permutation(order: Any, axis: int) -> Any:
    """Return the permutation that undoes another."""
    return bind(argsort_p, order, axis=axis, stable=False)


def _sort_rule(ct: Any, out: Any, x: Any, *, axis: int) -> Any:
    return permute(ct, inverse_permutation(stable_order(x, axis), axis), axis)


sort_p = along_axis(
    "sort",
    py="xp.sort({0}, axis={axis})",
    vjps=(_sort_rule,),
    jvp=lambda primals, tangents, out, *, axis: permute(
        tangents[0], stable_order(primals[0], axis), axis
    ),
    doc="The elements along an axis in increasing order, NaN last.",
)


def sorted_along(x: Any, axis: int) -> Any:
    """Sort along an axis counted from zero."""
    return bind(sort_p, x, axis=axis)


# A partition is a permutation that no NumPy function returns: both sides are brought into order.
def _partition_rule(ct: Any, out: Any, x: Any, *, axis: int, kth: tuple[int, ...]) -> Any:
    ordered = permute(ct, stable_order(out, axis), axis)
    return permute(ordered, inverse_permutation(stable_order(x, axis), axis), axis)


def _partition_jvp(
    primals: Any, tangents: Any, out: Any, *, axis: int, kth: tuple[int, ...]
) -> Any:
    return _partition_rule(tangents[0], primals[0], out, axis=axis, kth=kth)


partition_p = along_axis(
    "partition",
    py="xp.partition({0}, {kth}, axis={axis})",
    vjps=(_partition_rule,),
    jvp=_partition_jvp,
    doc="The elements along an axis, those at `kth` where sorting puts them, smaller ones before.",
)

argpartition_p = along_axis(
    "argpartition",
    abstract_eval=_positions,
    py="xp.argpartition({0}, {kth}, axis={axis})",
    vjps=(ZERO,),
    doc="The positions along an axis in the order of a partition.",
)


def _flattened(a: Any, axis: Any, name: str) -> tuple[Any, int]:
    """Return an array and the axis to work along; None flattens."""
    a = as_value(a)
    aval = aval_of(a)
    if axis is None:
        return reshape(a, (aval.size,)), 0
    return a, one_axis(axis, aval.ndim, name)


def _is_stable(kind: Any, order: Any, stable: Any, name: str) -> bool:
    if order is not None:
        raise ShapeError(f"{name}: order={order!r} names fields, and the array has none")
    if kind is not None and stable is not None:
        raise ShapeError(f"{name}: `kind` and `stable` parameters can't be provided together")
    letter = str(kind)[:1].lower()
    if kind is not None and letter not in tuple("qhms"):
        raise ShapeError(
            f"{name}: sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})"
        )
    return bool(stable) or letter in ("m", "s")


@implements(np.sort)
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """Sort along an axis, as `numpy.sort`."""
    _is_stable(kind, order, stable, "sort")
    return sorted_along(*_flattened(a, axis, "sort"))


@implements(np.argsort)
def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    """Positions in the order of their elements, as `numpy.argsort`."""
    is_stable = _is_stable(kind, order, stable, "argsort")
    if aval_of(a).ndim == 0 and axis in (-1, 0):
        axis = None
    a, place = _flattened(a, axis, "argsort")
    return bind(argsort_p, a, axis=place, stable=is_stable)


def _partitioned(primitive: Primitive, a: Any, kth: Any, axis: Any, order: Any) -> Any:
    if order is not None:
        raise ShapeError(f"{primitive.name}: order={order!r} names fields, and the array has none")
    a, place = _flattened(a, axis, primitive.name)
    extent = aval_of(a).shape[place]
    wanted = tuple(int(position) for position in np.ravel(kth))
    for position in wanted:
        if not -extent <= position < extent:
            raise ShapeError(f"{primitive.name}: kth(={position}) out of bounds ({extent})")
    return bind(primitive, a, axis=place, kth=tuple(position % extent for position in wanted))


@implements(np.partition)
def partition(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> Any:
    """Put the elements at `kth` where sorting would, as `numpy.partition`."""
    return _partitioned(partition_p, a, kth, axis, order)


@implements(np.argpartition)
def argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> Any:
    """Positions in the order of a partition, as `numpy.argpartition`."""
    return _partitioned(argpartition_p, a, kth, axis, order)


@implements(np.lexsort)
def lexsort(keys: Any, axis: int = -1) -> Any:
    """Positions in the order of several keys, the last one first, as `numpy.lexsort`."""
    keys = [as_value(key) for key in keys]
    if not keys:
        raise TypeError("lexsort: need sequence of keys with len > 0")
    shapes = {aval_of(key).shape for key in keys}
    if len(shapes) > 1:
        raise ShapeError(f"lexsort: all keys need to be the same shape, not {sorted(shapes)}")
    place = one_axis(axis, aval_of(keys[0]).ndim, "lexsort")
    order = stable_order(keys[0], place)
    for key in keys[1:]:
        order = permute(order, stable_order(permute(key, order, place), place), place)
    return order


@implements(np.sort_complex)
def sort_complex(a: Any) -> Any:
    """Sort along the last axis by real, then imaginary part, as `numpy.sort_complex`."""
    ordered = sort(a)
    dtype = aval_of(ordered).dtype
    if dtype.kind == "c":
        return ordered
    small = dtype.kind in "iu" and dtype.itemsize < 4
    return astype(ordered, np.complex64 if small else np.result_type(dtype, np.complex128))


def _searchsorted_batcher(size: int, batched: Any, operands: Any, *, side: str) -> Any:
    a, v = operands
    if not batched[0]:
        return bind(searchsorted_p, a, v, side=side)
    extent = aval_of(a).shape[1]
    ndim = aval_of(v).ndim - 1 if batched[1] else aval_of(v).ndim
    rows = reshape(a, (size, *(1,) * ndim, extent))
    values = v if batched[1] else reshape(v, (1, *aval_of(v).shape))
    values = reshape(values, (*aval_of(values).shape, 1))
    # NaN counts as larger than all numbers, as in sorting.
    if side == "left":
        smaller = (rows < values) | ((values != values) & (rows == rows))
    else:
        smaller = (rows <= values) | (values != values)
    return sum_(smaller, -1, np.int64)


searchsorted_p: Primitive = register(
    Primitive(
        name="searchsorted",
        kind=Kind.LIBRARY,
        abstract_eval=lambda avals, params: Aval(avals[1].shape, np.dtype(np.int64)),
        py="xp.searchsorted({0}, {1}, side={side})",
        vjps=(ZERO, ZERO),
        batcher=_searchsorted_batcher,
        doc="Where numbers belong in a sorted row: before or after its equal elements.",
    )
)


@implements(np.searchsorted)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Positions at which numbers can be put into a sorted array, as `numpy.searchsorted`."""
    a, v = as_value(a), as_value(v)
    if aval_of(a).ndim != 1:
        raise ShapeError(f"searchsorted: a must be 1-D, and its shape is {aval_of(a).shape}")
    if side not in ("left", "right"):
        raise ShapeError(f"searchsorted: search side must be 'left' or 'right' (got {side!r})")
    if sorter is not None:
        a = gather(a, (as_value(sorter),), (0,))
    return bind(searchsorted_p, a, v, side=side)


@implements(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """Number of the bin each element falls into, as `numpy.digitize`; bins go up or down."""
    x, bins = as_value(x), as_value(bins)
    if aval_of(x).dtype.kind == "c":
        raise TypeError("digitize: x may not be complex")
    extent = aval_of(bins).size
    upward = searchsorted(bins, x, "left" if right else "right")
    if extent < 2:
        return upward
    downward = extent - searchsorted(bins[::-1], x, "left" if right else "right")
    return select(bins[0] <= bins[-1], upward, downward)


@implements(np.isin)
def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Any = None,
) -> Any:
    """Whether each element is among others, as `numpy.isin`."""
    element, among = as_value(element), as_value(test_elements)
    extent = aval_of(among).size
    if extent == 0:
        found = zeros(aval_of(element).shape, np.dtype(np.bool_), like=element)
    else:
        row = sort(among, None)
        place = clip(searchsorted(row, element), 0, extent - 1)
        found = gather(row, (place,), (0,)) == element
    return logical_not(found) if invert else found


_RAGGED = {
    np.unique: "np.sort(x) keeps repeats, and sorted[1:] != sorted[:-1] marks the first of each",
    np.unique_values: "np.sort(x) keeps repeats",
    np.unique_counts: "np.sort(x) keeps repeats; np.bincount(x, minlength=n) counts integers",
    np.unique_inverse: "np.searchsorted(values, x) finds positions among known values",
    np.unique_all: "np.sort(x) keeps repeats",
    np.nonzero: "x != 0 is a mask: np.where(x != 0, a, b) selects, and multiplying by it clears",
    np.flatnonzero: "x != 0 is a mask: np.where(x != 0, a, b) selects",
    np.argwhere: "x != 0 is a mask: np.where(x != 0, a, b) selects",
    np.union1d: "np.concatenate keeps repeats",
    np.intersect1d: "np.isin(x, y) is a mask of x",
    np.setdiff1d: "~np.isin(x, y) is a mask of x",
    np.setxor1d: "~np.isin(x, y) and ~np.isin(y, x) are masks",
    np.trim_zeros: "x != 0 is a mask",
}


def _refuse(function: Any, alternative: str) -> None:
    def refuse(*arguments: Any, **keywords: Any) -> Any:
        raise UnsupportedError(
            f"np.{function.__name__} returns as many elements as it finds, and shapes are fixed "
            f"while a function is traced. {alternative}; or call it outside and pass its result in"
        )

    implements(function)(refuse)


for _function, _alternative in _RAGGED.items():
    _refuse(_function, _alternative)
