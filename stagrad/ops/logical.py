"""Truth, bits, and questions about numbers: nothing here has a derivative."""

from typing import Any

import numpy as np

from stagrad.ir import ZERO, aval_of
from stagrad.ops.define import FUNCTIONS, INTEGERS, REALS, elementwise, implements
from stagrad.ops.movement import astype

logical_and_p, logical_and = elementwise(
    "logical_and", c="{0} && {1}", vjps=(ZERO, ZERO), doc="Whether both are true."
)
logical_or_p, logical_or = elementwise(
    "logical_or", c="{0} || {1}", vjps=(ZERO, ZERO), doc="Whether at least one is true."
)
logical_xor_p, logical_xor = elementwise(
    "logical_xor", c="!{0} != !{1}", vjps=(ZERO, ZERO), doc="Whether exactly one is true."
)
logical_not_p, logical_not = elementwise(
    "logical_not", c="!{0}", vjps=(ZERO,), doc="Whether a value is false."
)


def _bitwise(name: str, symbol: str, doc: str) -> tuple[Any, Any]:
    return elementwise(
        name,
        infix=symbol,
        dtypes=INTEGERS,
        c=f"{{0}} {symbol} {{1}}",
        vjps=(ZERO, ZERO),
        doc=doc,
    )


bitwise_and_p, bitwise_and = _bitwise("bitwise_and", "&", "The bits that both have.")
bitwise_or_p, bitwise_or = _bitwise("bitwise_or", "|", "The bits that at least one has.")
bitwise_xor_p, bitwise_xor = _bitwise("bitwise_xor", "^", "The bits that exactly one has.")

invert_p, invert = elementwise(
    "invert",
    infix="~",
    dtypes=INTEGERS,
    c={"b": "!{0}", "iu": "~{0}"},
    vjps=(ZERO,),
    doc="Every bit turned over.",
)

# In C a shift by the width or more is undefined; NumPy shifts everything out. A negative count is
# as large as the width.
_TOO_FAR = "({1} < 0 || {1} >= 8 * (int)sizeof({0}))"

left_shift_p, left_shift = elementwise(
    "left_shift",
    infix="<<",
    dtypes=INTEGERS,
    c=f"({_TOO_FAR} ? 0 : {{0}} << {{1}})",
    vjps=(ZERO, ZERO),
    doc="The bits moved towards the high end.",
)

right_shift_p, right_shift = elementwise(
    "right_shift",
    infix=">>",
    dtypes=INTEGERS,
    c=f"({_TOO_FAR} ? ({{0}} < 0 ? -1 : 0) : {{0}} >> {{1}})",
    vjps=(ZERO, ZERO),
    doc="The bits moved towards the low end, keeping the sign.",
)

bitwise_count_p, bitwise_count = elementwise(
    "bitwise_count",
    dtypes=INTEGERS,
    c={"bu": "sg_bit_count({0})", "i": "sg_bit_count(sg_size({0}))"},
    vjps=(ZERO,),
    doc="How many bits of the absolute value are set.",
)

isnan_p, isnan = elementwise(
    "isnan",
    c={"biu": "0", "f": "isnan({0})", "c": "(isnan(creal({0})) || isnan(cimag({0})))"},
    vjps=(ZERO,),
    doc="Whether a value is not a number.",
)

isinf_p, isinf = elementwise(
    "isinf",
    c={"biu": "0", "f": "isinf({0})", "c": "(isinf(creal({0})) || isinf(cimag({0})))"},
    vjps=(ZERO,),
    doc="Whether a number is infinite.",
)

isfinite_p, isfinite = elementwise(
    "isfinite",
    c={"biu": "1", "f": "isfinite({0})", "c": "(isfinite(creal({0})) && isfinite(cimag({0})))"},
    vjps=(ZERO,),
    doc="Whether a value is a number and not infinite.",
)

signbit_p, signbit = elementwise(
    "signbit",
    dtypes=REALS,
    c={"bu": "0", "i": "{0} < 0", "f": "copysign(1, {0}) < 0"},
    vjps=(ZERO,),
    doc="Whether a number carries a minus sign, -0.0 included.",
)


@implements(np.isposinf)
def isposinf(x: Any, out: None = None) -> Any:
    """Say which elements are positive infinity."""
    return logical_and(isinf(x), logical_not(signbit(x)))


@implements(np.isneginf)
def isneginf(x: Any, out: None = None) -> Any:
    """Say which elements are negative infinity."""
    return logical_and(isinf(x), signbit(x))


@implements(np.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Say which elements agree within `atol + rtol * |b|`."""
    from stagrad.ops.complex import absolute

    if aval_of(b).dtype.kind not in "fc":
        b = astype(b, np.result_type(aval_of(b).dtype, 1.0))
    near = absolute(a - b) <= atol + rtol * absolute(b)
    result = logical_or(logical_and(near, isfinite(b)), a == b)
    return logical_or(result, logical_and(isnan(a), isnan(b))) if equal_nan else result


@implements(np.allclose)
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Say whether all elements agree within `atol + rtol * |b|`."""
    return FUNCTIONS[np.all](isclose(a, b, rtol, atol, equal_nan))


@implements(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Say whether two arrays have one shape and the same elements."""
    if aval_of(a1).shape != aval_of(a2).shape:
        return False
    same = a1 == a2
    if equal_nan:
        same = logical_or(same, logical_and(isnan(a1), isnan(a2)))
    return FUNCTIONS[np.all](same)


@implements(np.array_equiv)
def array_equiv(a1: Any, a2: Any) -> Any:
    """Say whether two arrays broadcast together and then have the same elements."""
    try:
        np.broadcast_shapes(aval_of(a1).shape, aval_of(a2).shape)
    except ValueError:
        return False
    return FUNCTIONS[np.all](a1 == a2)
