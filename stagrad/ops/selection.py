"""Selection: choosing one of several values, element by element."""

from typing import Any

import numpy as np

from stagrad.errors import UnsupportedError
from stagrad.ir import ZERO, aval_of, facts
from stagrad.ops.arithmetic import positive
from stagrad.ops.define import Operation, elementwise, implements
from stagrad.ops.promote import DTypes, common_loop, loop_types

select: Operation

_MISSING = np._NoValue


def _where_loop(operand_types: tuple[Any, ...]) -> DTypes:
    dtypes, dtype = common_loop(operand_types[1:])
    return (np.dtype(np.bool_), *dtypes), dtype


where_p, select = elementwise(
    "where",
    facts=lambda condition, x, y: facts.one_of(x, y),
    is_ufunc=False,
    py="xp.where({args})",
    c="({0} ? {1} : {2})",
    loop=_where_loop,
    vjps=(
        ZERO,
        lambda ct, out, condition, x, y: select(condition, ct, 0),
        lambda ct, out, condition, x, y: select(condition, 0, ct),
    ),
    linear=True,
    doc="The second operand where the first is true, else the third.",
)


@implements(np.where)
def where(condition: Any, x: Any = _MISSING, y: Any = _MISSING) -> Any:
    """Choose from `x` where the condition holds, else from `y`."""
    if x is _MISSING and y is _MISSING:
        raise UnsupportedError(
            "np.where(condition) returns as many indices as the condition has true elements, and "
            "shapes are fixed while a function is traced. Write np.where(condition, a, b), or "
            "multiply by the condition"
        )
    if x is _MISSING or y is _MISSING:
        raise ValueError("where: either both or neither of x and y should be given")
    return select(condition, x, y)


def _share(ct: Any, wins: Any, ties: Any) -> Any:
    """Return the part of `ct` an operand gets: all where it wins, half where it ties."""
    return select(wins, ct, select(ties, 0.5 * ct, 0))


def _number_share(ct: Any, x: Any, y: Any, wins: Any) -> Any:
    """The same where a number wins over a NaN."""
    from stagrad.ops.logical import isnan, logical_or

    return _share(ct, logical_or(wins, isnan(y)), x == y)


maximum_p, maximum = elementwise(
    "maximum",
    facts=facts.regular,
    c={"biuf": "({0} > {1} || {0} != {0} ? {0} : {1})"},
    vjps=(
        lambda ct, out, x, y: _share(ct, x > y, x == y),
        lambda ct, out, x, y: _share(ct, y > x, x == y),
    ),
    doc="The larger of two numbers; NaN where either is NaN.",
)

minimum_p, minimum = elementwise(
    "minimum",
    facts=facts.regular,
    c={"biuf": "({0} < {1} || {0} != {0} ? {0} : {1})"},
    vjps=(
        lambda ct, out, x, y: _share(ct, x < y, x == y),
        lambda ct, out, x, y: _share(ct, y < x, x == y),
    ),
    doc="The smaller of two numbers; NaN where either is NaN.",
)

fmax_p, fmax = elementwise(
    "fmax",
    facts=facts.regular,
    c={"biuf": "({0} > {1} || {1} != {1} ? {0} : {1})"},
    vjps=(
        lambda ct, out, x, y: _number_share(ct, x, y, x > y),
        lambda ct, out, x, y: _number_share(ct, y, x, y > x),
    ),
    doc="The larger of two numbers; a NaN counts only where both are.",
)

fmin_p, fmin = elementwise(
    "fmin",
    facts=facts.regular,
    c={"biuf": "({0} < {1} || {1} != {1} ? {0} : {1})"},
    vjps=(
        lambda ct, out, x, y: _number_share(ct, x, y, x < y),
        lambda ct, out, x, y: _number_share(ct, y, x, y < x),
    ),
    doc="The smaller of two numbers; a NaN counts only where both are.",
)

relu_p, relu = elementwise(
    "relu",
    facts=facts.regular_nonnegative,
    is_ufunc=False,
    dtypes="iuf",
    py="xp.maximum({0}, 0)",
    c="({0} > 0 || {0} != {0} ? {0} : 0)",
    vjps=(lambda ct, out, x: select(x > 0, ct, 0),),
    doc="The number where it is positive, else zero; its slope at zero is zero.",
)

# Where the bounds cross, the upper one decides and the number itself plays no part.
clip_p, clip_between = elementwise(
    "clip",
    facts=facts.regular,
    is_ufunc=False,
    py="xp.clip({args})",
    c={
        "biuf": "({0} != {0} ? {0} : {1} != {1} ? {1} : {2} != {2} ? {2} : "
        "({0} < {1} ? {1} : {0}) > {2} ? {2} : {0} < {1} ? {1} : {0})"
    },
    vjps=(
        lambda ct, out, x, low, high: select((low <= x) & (x <= high), ct, 0),
        lambda ct, out, x, low, high: select((x < low) & (low <= high), ct, 0),
        lambda ct, out, x, low, high: select((x > high) | (low > high), ct, 0),
    ),
    doc="The number brought into a range; its slope at the bounds is one.",
)


@implements(np.clip)
def clip(
    a: Any,
    a_min: Any = _MISSING,
    a_max: Any = _MISSING,
    out: None = None,
    *,
    min: Any = _MISSING,
    max: Any = _MISSING,
) -> Any:
    """Bring elements into a range; None, or no argument, leaves that side open."""
    given = [bound for bound in (a_min, a_max, min, max) if bound is not _MISSING]
    if len(given) > 2:
        raise ValueError("clip: pass either min and max, or a_min and a_max, not both")
    low, high = (
        next((bound for bound in pair if bound is not _MISSING), None)
        for pair in ((a_min, min), (a_max, max))
    )
    dtype = aval_of(a).dtype
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        # NumPy ignores a Python integer that the array's dtype cannot exceed.
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    if low is None and high is None:
        return positive(a)
    bounds = [bound for bound in (low, high) if bound is not None]
    _, dtype = common_loop(loop_types([aval_of(value) for value in (a, *bounds)]))
    smallest, largest = _extremes(dtype)
    return clip_between(a, smallest if low is None else low, largest if high is None else high)


def _extremes(dtype: np.dtype) -> tuple[Any, Any]:
    """Return bounds that no number of a dtype exceeds."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.min, limits.max
    if dtype.kind == "b":
        return False, True
    if dtype.kind == "f":
        return -np.inf, np.inf
    return complex(-np.inf, -np.inf), complex(np.inf, np.inf)


@implements(np.nan_to_num)
def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """Replace NaN and the infinities by numbers, which do not depend on `x`.

    With `copy=False` the replacement is written into `x`, as NumPy does.
    """
    from stagrad.ops.complex import imag, make_complex, real

    dtype = aval_of(x).dtype
    if dtype.kind == "c":
        result = make_complex(
            _replaced(real(x), nan, posinf, neginf), _replaced(imag(x), nan, posinf, neginf)
        )
    elif dtype.kind == "f":
        result = _replaced(x, nan, posinf, neginf)
    else:
        result = x
    if copy or not hasattr(x, "__setitem__"):
        return result
    x[...] = result
    return x


def _replaced(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    dtype = aval_of(x).dtype
    limits = np.finfo(dtype)
    posinf = limits.max if posinf is None else posinf
    neginf = limits.min if neginf is None else neginf
    nan, posinf, neginf = (_in_dtype(value, dtype) for value in (nan, posinf, neginf))
    return select(x != x, nan, select(x == np.inf, posinf, select(x == -np.inf, neginf, x)))


def _in_dtype(value: Any, dtype: np.dtype) -> Any:
    from stagrad.ops.movement import astype

    return dtype.type(value) if np.isscalar(value) else astype(value, dtype)
