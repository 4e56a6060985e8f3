"""Rounding to integers and decimals, and the whole and fractional parts of a number."""

from typing import Any

import numpy as np

from stagrad.ir import ZERO, Params, aval_of, bind, facts
from stagrad.ops.define import REALS, UFUNCS, Operation, elementwise, float_loop, implements
from stagrad.ops.movement import astype
from stagrad.ops.promote import DTypes

ldexp: Operation
_exponent: Operation


def _rounding(name: str, doc: str) -> tuple[Any, Any]:
    return elementwise(
        name,
        facts=facts.regular,
        dtypes=REALS,
        c={"biu": "{0}", "f": f"{name}({{0}})"},
        vjps=(ZERO,),
        doc=doc,
    )


floor_p, floor = _rounding("floor", "The largest integer not above a number.")
ceil_p, ceil = _rounding("ceil", "The smallest integer not below a number.")
trunc_p, trunc = _rounding("trunc", "The integer part of a number.")

rint_p, rint = elementwise(
    "rint",
    facts=facts.regular,
    c={"f": "rint({0})", "c": "CMPLX(rint(creal({0})), rint(cimag({0})))"},
    vjps=(ZERO,),
    doc="The nearest integer, the even one of two.",
)


@implements(np.fix)
def fix(x: Any, out: None = None) -> Any:
    """Return the integer part of each number."""
    return trunc(x)


def _round_c(params: Params) -> dict[str, str]:
    decimals = params["decimals"]
    scale = 10.0 ** abs(decimals)
    if decimals < 0:
        return {"f": f"rint({{0}} / {scale!r}) * {scale!r}"}
    rounded = f"rint({{0}} * {scale!r}) / {scale!r}" if decimals else "rint({0})"
    return {"f": rounded, "iu": "{0}"}


round_p, _ = elementwise(
    "round",
    facts=facts.regular,
    is_ufunc=False,
    dtypes="iufc",
    py="xp.round({0}, {decimals})",
    c=_round_c,
    vjps=(ZERO,),
    doc="The nearest number of some decimals, the even one of two.",
)


@implements(np.round, np.around)
def round(a: Any, decimals: int = 0, out: None = None) -> Any:
    """Round to decimals; integers round only where `decimals` is negative."""
    if aval_of(a).dtype.kind == "b":
        return rint(a)
    return bind(round_p, a, decimals=int(decimals))


fraction_p, _fraction = elementwise(
    "fraction",
    facts=facts.regular,
    is_ufunc=False,
    dtypes="f",
    loop=float_loop,
    py="xp.modf({0})[0]",
    c="copysign(isinf({0}) ? 0 : {0} - trunc({0}), {0})",
    vjps=(lambda ct, out, x: ct,),
    doc="The part of a number behind the point, with the number's sign.",
)


def modf(x: Any) -> tuple[Any, Any]:
    """Return the fractional and the integer part of each number."""
    part = _fraction(x)
    return part, trunc(astype(x, aval_of(part).dtype))


UFUNCS["modf"] = modf

mantissa_p, _mantissa = elementwise(
    "mantissa",
    facts=facts.regular,
    is_ufunc=False,
    dtypes="f",
    loop=float_loop,
    py="xp.frexp({0})[0]",
    c="sg_mantissa({0})",
    vjps=(lambda ct, out, x: ldexp(ct, -_exponent(x)),),
    doc="The number scaled by a power of two into [0.5, 1).",
)


def _exponent_loop(operand_types: tuple[Any, ...]) -> DTypes:
    return float_loop(operand_types)[0], np.dtype(np.int32)


exponent_p, _exponent = elementwise(
    "exponent",
    is_ufunc=False,
    dtypes="f",
    loop=_exponent_loop,
    py="xp.frexp({0})[1]",
    c="sg_exponent({0})",
    vjps=(ZERO,),
    doc="The power of two that a number's mantissa is scaled by.",
)


def frexp(x: Any) -> tuple[Any, Any]:
    """Return mantissa and exponent of each number: x = mantissa * 2**exponent."""
    return _mantissa(x), _exponent(x)


UFUNCS["frexp"] = frexp

ldexp_p, ldexp = elementwise(
    "ldexp",
    dtypes="if",
    c="ldexp({0}, (int)({1} > 9999 ? 9999 : {1} < -9999 ? -9999 : {1}))",
    vjps=(lambda ct, out, x, exponent: ldexp(ct, exponent), ZERO),
    doc="A number times a power of two.",
)
