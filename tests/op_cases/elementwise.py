"""Rows of the NumPy ufuncs and of the functions that work element by element."""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.ops.arithmetic import masked_product
from stagrad.ops.floating import stop_gradient
from tests.op_cases.case import Case
from tests.op_cases.points import (
    BINARY_EDGES,
    BOOLS,
    COMPLEX,
    EMPTY,
    FIRST,
    FIRST_INTEGER,
    SCALAR,
    SECOND,
    SECOND_INTEGER,
    SPECIAL,
    UNARY_EDGES,
    between,
    complex_between,
)

REAL = ("float32", "float16", "int64", "int8", "bool")
FLOATS = ("float32", "float16")


def unary(ufunc: Any, low: float, high: float, **claims: Any) -> Case:
    """Return the row of a ufunc of one operand, smooth between two numbers."""
    name = ufunc.__name__
    claims = {
        "covers": (name,),
        "edges": UNARY_EDGES,
        "dtypes": ("float32", "float16", "int64", "int8", "bool"),
        "rtol": 0.0,
        **claims,
    }
    return Case(name=name, function=ufunc, operands=(between(name, low, high),), **claims)


def holomorphic(ufunc: Any, low: float = 0.3, high: float = 0.8, **claims: Any) -> Case:
    """Return the row of a ufunc on complex numbers."""
    name = f"{ufunc.__name__} complex"
    return Case(
        name=name,
        function=ufunc,
        operands=(complex_between(name, low, high),),
        edges=((COMPLEX,), (np.array(0.5 - 2j),)),
        dtypes=("complex64",),
        rtol=0.0,
        **claims,
    )


def binary(ufunc: Any, first: Any, second: Any, **claims: Any) -> Case:
    """Return the row of a ufunc of two operands, the second of which broadcasts."""
    name = ufunc.__name__
    claims = {
        "covers": (name,),
        "edges": (*BINARY_EDGES, (FIRST_INTEGER, SECOND_INTEGER)),
        "dtypes": ("float32", "float16", "int64", "int8"),
        "rtol": 0.0,
        **claims,
    }
    operands = (between(name, *first), between(name + "2", *second, (3,)))
    return Case(name=name, function=ufunc, operands=operands, **claims)


def of(name: str, function: Callable[..., Any], *operands: Any, **claims: Any) -> Case:
    """Return the row of any function."""
    return Case(name=name, function=function, operands=operands, **claims)


X = between("x", -2.0, 2.0)
Y = between("y", -2.0, 2.0)
POSITIVE = between("positive", 0.5, 2.0)
Z = complex_between("z", -2.0, 2.0)
I = np.arange(6).reshape(2, 3) - 2  # noqa: E741

ARITHMETIC = [
    binary(np.add, (-2, 2), (-2, 2), dtypes=REAL),
    binary(np.subtract, (-2, 2), (-2, 2)),
    binary(np.multiply, (-2, 2), (-2, 2), dtypes=REAL),
    binary(np.divide, (-2, 2), (0.5, 2), dtypes=REAL,
           covers=("divide", "masked_divide", "masked_multiply")),
    binary(np.floor_divide, (0.6, 0.9), (0.1, 0.11), dtypes=REAL),
    binary(np.remainder, (0.6, 0.9), (0.41, 0.5), dtypes=REAL),
    binary(np.fmod, (-0.9, -0.6), (0.41, 0.5)),
    binary(np.hypot, (-2, 2), (0.5, 2)),
    binary(np.arctan2, (-2, 2), (0.5, 2)),
    binary(np.logaddexp, (-2, 2), (-2, 2), covers=("logaddexp", "expit")),
    binary(np.logaddexp2, (-2, 2), (-2, 2)),
    binary(np.maximum, (-2, 0), (0.1, 2), dtypes=REAL),
    binary(np.minimum, (-2, 2), (2.1, 3), dtypes=REAL),
    binary(np.fmax, (-2, 0), (0.1, 2), dtypes=REAL),
    binary(np.fmin, (-2, 2), (2.1, 3), dtypes=REAL),
    binary(np.copysign, (0.5, 2), (-2, -0.5)),
    binary(np.heaviside, (0.5, 2), (-2, -0.5)),
    binary(np.nextafter, (-2, 2), (2.1, 3), order=1, dtypes=("float32",)),
    of("masked_product", masked_product, X, Y, covers=("masked_product",), dtypes=("float32",)),
    of("divmod", np.divmod, POSITIVE, np.array([0.31, 0.77, 0.4]), edges=BINARY_EDGES, rtol=0.0),
    of("add complex", np.add, Z, np.array([1j, 2.0, 0.0]), rtol=0.0, dtypes=("complex64",)),
    of("multiply mixed", np.multiply, Z, X, rtol=0.0, dtypes=("float32",)),
    of("multiply by itself", lambda x: x * x, X, rtol=0.0),
    of("divide complex", np.divide, Z, Z + 5, edges=((COMPLEX, COMPLEX[::-1]),), rtol=0.0),
    of("divide of real by complex", np.divide, X, Z + 5, rtol=0.0),
    of("operators", lambda x, y: (+x - y) * -x / (y + 4) + abs(x) ** 2, X, Y),
    of("operators with Python numbers", lambda x: 2 - 3 * x + 1.5 / (x + 4) - x / 2, X),
    of("operators of integers", lambda x, y: (x // y, x % y, x * y, x - y, x**3, divmod(x, y)),
       I, np.array([3, -2, 0]), order=0, rtol=0.0),
    of("Python scalars adapt", lambda x, a, n: (x * a, x + a**2, x * n, x**n, x / n, x // a, a - x,
       np.maximum(x, a), np.where(x > a, x, a), np.clip(x, a, n), n * x + (a > 0), x * (a + 1j)),
       POSITIVE.astype(np.float32), 0.75, 2, wrt=(0,)),
    of("Python scalars alone", lambda a, n: (a * n, a**n, a / n, -a, abs(a), n // 3, n % 3, a < n,
       2**a, np.sin(a), np.add(a, n), np.sqrt(n)), 0.75, 2, wrt=(0,)),
    of("NumPy functions of Python scalars are double", lambda x, a: x * np.sin(a) + np.add(a, 1),
       POSITIVE.astype(np.float32), 0.75, wrt=(0,)),
    of("hypot where large", np.hypot, np.array([3e200, 1.0]), np.array([4e200, 1e-200]),
       order=0, rtol=0.0),
]  # fmt: skip

POWERS = [
    binary(
        np.power, (0.5, 2), (-2, 2),
        edges=(*BINARY_EDGES, (FIRST_INTEGER, np.abs(SECOND_INTEGER % 5))),
        dtypes=FLOATS,
    ),
    binary(np.float_power, (0.5, 2), (-2, 2), covers=(), edges=BINARY_EDGES, rtol=1e-13),
    of("power complex", np.power, Z, Z[0], edges=((COMPLEX, COMPLEX[::-1]),), rtol=0.0),
    of("power of a negative base", lambda x: (x - 3) ** 3 + (x - 3.0) ** -2.0, X),
    of("power of an integer exponent array", lambda x: x ** np.array([0, 1, 2]), POSITIVE),
    *(
        of(
            f"power with exponent {exponent!r}",
            lambda x, exponent=exponent: (x**exponent, np.power(x, exponent)),
            POSITIVE,
            edges=((SPECIAL[~(abs(SPECIAL) < 1e-300) | (SPECIAL == 0)],), (EMPTY,), (SCALAR,)),
            dtypes=FLOATS,
            covers=("integer_power",) if exponent in (3, 4, 7, -2, 5.0) else (),
        )
        for exponent in (0, 1, 2, 3, 4, 7, -1, -2, 5.0, 0.5, -0.5, np.float32(2), np.int64(2))
    ),
    of("power of a Python number", lambda x: 2**x + 0.5 ** (x * x), X),
    of("power of integers", lambda x: (x**2, x**3, np.power(x, 2.0)), I, order=0, rtol=0.0),
    unary(np.square, -2, 2),
    holomorphic(np.square),
    unary(np.reciprocal, 0.5, 2, dtypes=FLOATS),
    holomorphic(np.reciprocal),
    unary(np.sqrt, 0.5, 2),
    holomorphic(np.sqrt),
    unary(np.cbrt, 0.5, 2),
]  # fmt: skip

EXPONENTIAL = [
    unary(np.exp, -2, 2),
    unary(np.exp2, -2, 2),
    unary(np.expm1, -2, 2),
    unary(np.log, 0.5, 2),
    unary(np.log2, 0.5, 2),
    unary(np.log10, 0.5, 2),
    unary(np.log1p, -0.5, 2),
    *(
        holomorphic(ufunc)
        for ufunc in (np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p)
    ),
]

TRIGONOMETRIC = [
    unary(np.sin, -2, 2),
    unary(np.cos, -2, 2),
    unary(np.tan, -1, 1),
    unary(np.arcsin, -0.9, 0.9),
    unary(np.arccos, -0.9, 0.9),
    unary(np.arctan, -2, 2),
    unary(np.sinh, -2, 2),
    unary(np.cosh, -2, 2),
    unary(np.tanh, -2, 2),
    unary(np.arcsinh, -2, 2),
    unary(np.arccosh, 1.2, 3),
    unary(np.arctanh, -0.9, 0.9),
    unary(np.deg2rad, -180, 180),
    unary(np.rad2deg, -3, 3),
    unary(np.radians, -180, 180, covers=()),
    unary(np.degrees, -3, 3, covers=()),
    of("sinc", np.sinc, np.array([0.0, 1e-9, 0.01, -0.3, 0.5, 1.0, 2.7]), covers=("sinc",),
       edges=UNARY_EDGES, dtypes=REAL, rtol=0.0),
    of("unwrap", np.unwrap, np.cumsum(between("unwrap", 2.0, 5.0, (2, 6)), axis=1) % 6.28,
       edges=((np.array([0.0, np.pi, 0.0, -np.pi, 7.0, -9.0]),), (np.zeros((2, 0)),))),
    of("unwrap with a period", lambda p: np.unwrap(p, 1.2, 0, period=1.5), X),
    of("unwrap of integers", lambda p: (np.unwrap(p, period=4), np.unwrap(p, period=5)),
       np.array([0, 3, 2, 9, 7, 1, 3]), order=0),
    of("sinc complex", np.sinc, Z, rtol=0.0, dtypes=("complex64",)),
    *(
        holomorphic(ufunc)
        for ufunc in (
            np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan,
            np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh,
        )
    ),
]  # fmt: skip

PARTS = [
    of("real", np.real, Z, covers=("real",), rtol=0.0, edges=((COMPLEX,),), dtypes=("complex64",)),
    of("imag", np.imag, Z, covers=("imag",), rtol=0.0, edges=((COMPLEX,),)),
    of("real and imag of real", lambda x: (np.real(x) * 2, np.imag(x)), X, dtypes=REAL),
    of("conjugate", np.conj, Z, covers=("conjugate",), rtol=0.0, edges=((COMPLEX,), (X,), (I,))),
    of("absolute", np.abs, X, covers=("absolute", "sign"), rtol=0.0, dtypes=REAL,
       edges=UNARY_EDGES),
    of("absolute complex", np.abs, Z, rtol=0.0, edges=((COMPLEX,),), dtypes=("complex64",)),
    of("sign", np.sign, X, rtol=0.0, edges=UNARY_EDGES, dtypes=("float32", "int64", "int8")),
    of("sign complex", np.sign, Z, rtol=0.0, edges=((COMPLEX,),), dtypes=("complex64",)),
    of("angle", np.angle, Z, edges=((COMPLEX,), (X,), (I,)), rtol=0.0, dtypes=("complex64",)),
    of("angle in degrees", lambda z: np.angle(z, deg=True), Z),
    of("real_if_close of real", np.real_if_close, X, rtol=0.0),
    of("emath of complex", lambda z: (np.emath.sqrt(z) + np.emath.log(z) * np.emath.arcsin(z)
       + np.emath.power(z, 2) - np.emath.logn(2, z)), Z),
    of("complex from parts", lambda x, y: x + 1j * y, X, Y, dtypes=("float32",)),
    of("fabs", np.fabs, X, covers=("fabs",), rtol=0.0, edges=UNARY_EDGES, dtypes=REAL),
    of("positive", np.positive, X, covers=("positive",), rtol=0.0, edges=UNARY_EDGES,
       dtypes=FLOATS),
    of("negative", np.negative, X, covers=("negative",), rtol=0.0, edges=UNARY_EDGES,
       dtypes=FLOATS),
]  # fmt: skip

ROUNDING = [
    *(
        unary(ufunc, 0.1, 0.4, covers=(ufunc.__name__,), order=1)
        for ufunc in (np.floor, np.ceil, np.trunc, np.rint)
    ),
    of("round", np.round, X, covers=("round",), order=1, rtol=0.0, edges=UNARY_EDGES,
       dtypes=FLOATS),
    of("round to decimals", lambda x: (np.round(x, 2), x.round(-1), np.around(x, 1)), X * 20,
       order=0, rtol=0.0, dtypes=("float32", "int64")),
    of("fix", np.fix, X, order=1, rtol=0.0, edges=UNARY_EDGES, dtypes=REAL),
    of("modf", np.modf, X, covers=("fraction",), rtol=0.0, edges=UNARY_EDGES, dtypes=REAL),
    of("frexp", np.frexp, X, covers=("mantissa", "exponent"), rtol=0.0, edges=UNARY_EDGES,
       dtypes=FLOATS),
    of("ldexp", np.ldexp, X, np.array([1, -2, 3]), covers=("ldexp",), rtol=0.0, dtypes=FLOATS),
    unary(np.spacing, 0.5, 0.9, order=1),
]  # fmt: skip

COMPARISONS = [
    *(
        binary(ufunc, (-2, 2), (-2, 2), order=0, dtypes=REAL)
        for ufunc in (
            np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
            np.logical_and, np.logical_or, np.logical_xor,
        )
    ),
    *(
        unary(ufunc, -2, 2, order=0)
        for ufunc in (np.logical_not, np.isnan, np.isinf, np.isfinite, np.signbit)
    ),
    of("isnan complex", lambda z: (np.isnan(z), np.isinf(z), np.isfinite(z)), COMPLEX, order=0),
    of("comparison of complex", lambda z, w: (z == w, z != w, z < w, z >= w), Z, Z[::-1], order=0),
    of("isposinf", lambda x: (np.isposinf(x), np.isneginf(x)), SPECIAL, order=0),
    of("iscomplex", lambda z: (np.iscomplex(z), np.isreal(z), np.isreal(z.real)), COMPLEX, order=0),
    of("isclose", lambda x, y: (np.isclose(x, y), np.isclose(x, y, 0.5, 0.1, equal_nan=True)),
       FIRST, SECOND, order=0, edges=((I, I), (X, X + 1e-9))),
    of("bitwise operators", lambda x, y: (x & y, x | y, x ^ y, ~x, np.bitwise_count(x)),
       FIRST_INTEGER, SECOND_INTEGER, order=0, edges=((BOOLS, ~BOOLS),),
       covers=("bitwise_and", "bitwise_or", "bitwise_xor", "invert", "bitwise_count")),
    of("shifts", lambda x, y: (x << y, x >> y), FIRST_INTEGER, SECOND_INTEGER % 70, order=0,
       covers=("left_shift", "right_shift"), edges=((np.int8([1, -1, 5]), np.int8([7, 8, -1])),)),
    of("gcd and lcm", lambda x, y: (np.gcd(x, y), np.lcm(x, y)), np.array([12, 18, 0, -4]),
       np.array([8, 27, 3, 6]), order=0, covers=("gcd", "lcm")),
]  # fmt: skip

SELECTIONS = [
    of("where", lambda x, y: np.where(x > y, x * x, y), X, Y, covers=("where",), dtypes=REAL),
    of("where with an integer condition", lambda x, y: np.where(I, x, y), X, Y, rtol=0.0),
    of("where with scalars", lambda x: (np.where(x > 0, x, 1), np.where(x > 0, 2.0, x)), X,
       rtol=0.0, dtypes=FLOATS),
    of("where broadcast", lambda x, y: np.where(x > y, x, y), X, np.array([[0.1], [0.2]]),
       rtol=0.0),
    of("where complex", lambda z, x: np.where(x > 0, z, x), Z, X, rtol=0.0),
    of("clip", lambda x: np.clip(x, -0.5, 0.7), X, covers=("clip",), rtol=0.0, edges=UNARY_EDGES,
       dtypes=("float32", "int64", "int8")),
    of("clip with arrays", np.clip, X, np.array([-0.5, 0.1, -3.0]), np.array([[0.7], [0.2]]),
       rtol=0.0, edges=((FIRST, SECOND, SCALAR), (FIRST, SCALAR, SECOND), (SCALAR, FIRST, SECOND))),
    of("clip one side", lambda x: (np.clip(x, 0.1, None), x.clip(max=0.3), np.clip(x, min=-1)), X,
       rtol=0.0, edges=UNARY_EDGES, dtypes=("float32",)),
    of("clip integers", lambda x: (np.clip(x, -1, 2), np.clip(x, 0, None), np.clip(x, None, 300)),
       np.int8([-5, 0, 7]), order=0, edges=((I,),)),
    of("stop_gradient", lambda x: (stop_gradient(x), x * stop_gradient(x)), X, order=0, rtol=0.0,
       covers=("stop_gradient",), edges=((COMPLEX,), (I,)), tags=frozenset({"zero by decree"})),
    of("nan_to_num",
       lambda x: (np.nan_to_num(x), np.nan_to_num(x, nan=1.0, posinf=2.0, neginf=-3.0)),
       X, rtol=0.0, edges=((SPECIAL,), (I,)), dtypes=("float32",)),
    of("nan_to_num complex", np.nan_to_num, Z, covers=("make_complex",), rtol=0.0,
       edges=((COMPLEX,),)),
]  # fmt: skip

CASES = [
    *ARITHMETIC,
    *POWERS,
    *EXPONENTIAL,
    *TRIGONOMETRIC,
    *PARTS,
    *ROUNDING,
    *COMPARISONS,
    *SELECTIONS,
]
