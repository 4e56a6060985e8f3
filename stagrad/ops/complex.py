"""Complex numbers: their parts, putting them together, conjugate, modulus and angle.

None of these but the putting together is holomorphic, so their rules show the bilinear pairing: a
cotangent `ct` stands for the real-linear map dz -> Re(ct * dz).
"""

import math
from typing import Any

import numpy as np
import numpy as xp

from stagrad.errors import UnsupportedError
from stagrad.ir import aval_of, facts
from stagrad.ops.arithmetic import masked_divide, masked_multiply
from stagrad.ops.define import FUNCTIONS, REALS, Operation, elementwise, implements
from stagrad.ops.movement import astype
from stagrad.ops.promote import DTypes, common_loop

make_complex: Operation
_imaginary_part: Operation
conjugate: Operation


def _part_loop(operand_types: tuple[Any, ...]) -> DTypes:
    dtypes, dtype = common_loop(operand_types)
    return dtypes, np.zeros(0, dtype).real.dtype


def _as_complex(x: Any, like: Any) -> Any:
    return astype(x, aval_of(like).dtype)


real_p, _real_part = elementwise(
    "real",
    facts=facts.regular,
    is_ufunc=False,
    dtypes="c",
    loop=_part_loop,
    py="xp.real({0})",
    c="creal({0})",
    vjps=(lambda ct, out, z: _as_complex(ct, z),),
    view=lambda base, value, params: make_complex(value, _imaginary_part(base)),
    linear=True,
    doc="Real part of a complex number.",
)

imag_p, _imaginary_part = elementwise(
    "imag",
    facts=facts.regular,
    is_ufunc=False,
    dtypes="c",
    loop=_part_loop,
    py="xp.imag({0})",
    c="cimag({0})",
    vjps=(lambda ct, out, z: -1j * _as_complex(ct, z),),
    view=lambda base, value, params: make_complex(_real_part(base), value),
    linear=True,
    doc="Imaginary part of a complex number.",
)


@implements(np.real)
def real(val: Any) -> Any:
    """Return the real part; real numbers come back as they are."""
    return _real_part(val) if aval_of(val).dtype.kind == "c" else val


@implements(np.imag)
def imag(val: Any) -> Any:
    """Return the imaginary part; that of real numbers is zero."""
    if aval_of(val).dtype.kind == "c":
        return _imaginary_part(val)
    return FUNCTIONS[np.zeros_like](val)


def complex_from_parts(real_part: xp.ndarray, imaginary_part: xp.ndarray) -> xp.ndarray:
    """Return real_part + 1j * imaginary_part without the NaN that 1j * inf would make."""
    dtype = xp.result_type(real_part, xp.complex64)
    result = xp.empty(xp.broadcast(real_part, imaginary_part).shape, dtype)
    result.real = real_part
    result.imag = imaginary_part
    return result


def _complex_loop(operand_types: tuple[Any, ...]) -> DTypes:
    dtypes, dtype = common_loop((*operand_types, np.dtype(np.float32)))
    return dtypes[:-1], np.result_type(dtype, np.complex64)


make_complex_p, make_complex = elementwise(
    "make_complex",
    facts=facts.regular,
    is_ufunc=False,
    dtypes=REALS,
    loop=_complex_loop,
    py="complex_from_parts({0}, {1})",
    helpers=(complex_from_parts,),
    c="CMPLX({0}, {1})",
    vjps=(lambda ct, out, x, y: real(ct), lambda ct, out, x, y: -imag(ct)),
    linear=True,
    doc="The complex number of a real and an imaginary part.",
)

conjugate_p, conjugate = elementwise(
    "conjugate",
    facts=facts.one_of,
    c={"c": "conj({0})", "iuf": "{0}"},
    vjps=(lambda ct, out, z: conjugate(ct),),
    linear=True,
    doc="The number with its imaginary part negated.",
)


def _absolute_rule(ct: Any, out: Any, z: Any) -> Any:
    direction = sign(z)
    is_complex = aval_of(z).dtype.kind == "c"
    return masked_multiply(ct, conjugate(direction) if is_complex else direction)


absolute_p, absolute = elementwise(
    "absolute",
    facts=facts.magnitude,
    c={"b": "{0}", "i": "({0} < 0 ? -{0} : {0})", "u": "{0}", "fc": "fabs({0})"},
    vjps=(_absolute_rule,),
    doc="The distance from zero; its slope at zero is zero.",
)


def _sign_rule(ct: Any, out: Any, z: Any) -> Any:
    if aval_of(z).dtype.kind != "c":
        return None
    # With s = z/|z|, a change dz turns s by ds = i s Im(conj(s) dz) / |z|.
    turn = make_complex(0.0, imag(masked_multiply(ct, out)))
    return masked_divide(turn * conjugate(out), _as_complex(absolute(z), z))


sign_p, sign = elementwise(
    "sign",
    facts=facts.one_of,
    dtypes="iufc",
    c={
        "iu": "(({0} > 0) - ({0} < 0))",
        "f": "({0} != {0} ? {0} : ({0} > 0) - ({0} < 0))",
        "c": "({0} == 0 ? 0 : isinf(creal({0})) && isinf(cimag({0})) ? CMPLX(NAN, NAN) : "
        "isinf(creal({0})) ? copysign(1, creal({0})) : "
        "isinf(cimag({0})) ? CMPLX(0, copysign(1, cimag({0}))) : {0} / fabs({0}))",
    },
    vjps=(_sign_rule,),
    doc="-1, 0 or 1 by the sign of a number; z/|z| of a complex one.",
)


@implements(np.angle)
def angle(z: Any, deg: bool = False) -> Any:
    """Return the angle from the positive real axis, in (-pi, pi]; 0 of zero."""
    from stagrad.ops.trigonometric import arctan2

    if aval_of(z).dtype.kind == "c":
        result = arctan2(imag(z), real(z))
    else:
        result = arctan2(0, z)
    return result * (180 / math.pi) if deg else result


@implements(np.real_if_close)
def real_if_close(a: Any, tol: float = 100) -> Any:
    """Return real input as it is; whether complex input is nearly real depends on its numbers."""
    if aval_of(a).dtype.kind != "c":
        return a
    raise UnsupportedError(
        "np.real_if_close: the dtype of its result depends on the numbers, and dtypes are fixed "
        "while a function is traced. Write np.real(a)"
    )


@implements(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    """Say whether the dtype is complex."""
    return aval_of(x).dtype.kind == "c"


@implements(np.isrealobj)
def isrealobj(x: Any) -> bool:
    """Say whether the dtype is real."""
    return aval_of(x).dtype.kind != "c"


@implements(np.iscomplex)
def iscomplex(x: Any) -> Any:
    """Say which elements have an imaginary part."""
    return imag(x) != 0


@implements(np.isreal)
def isreal(x: Any) -> Any:
    """Say which elements have no imaginary part."""
    return imag(x) == 0
