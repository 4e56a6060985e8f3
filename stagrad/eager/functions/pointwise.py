"""Functions of each element."""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.eager import tape
from stagrad.eager.functions.registry import alias, enter, function, numbers
from stagrad.eager.names import backward_name
from stagrad.eager.tape import apply
from stagrad.ir import PRIMITIVES, ZERO, aval_of
from stagrad.ops.complex import make_complex
from stagrad.ops.convert import cast
from stagrad.ops.define import UFUNCS

_UNARY = {
    "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh",
    "atan": "arctan", "atanh": "arctanh", "bitwise_not": "invert", "ceil": "ceil", "cos": "cos",
    "cosh": "cosh", "deg2rad": "deg2rad", "digamma": "psi", "erf": "erf", "erfc": "erfc",
    "erfinv": "erfinv", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "floor": "floor",
    "i0": "i0", "isfinite": "isfinite", "isinf": "isinf", "isnan": "isnan", "lgamma": "gammaln",
    "log": "log", "log10": "log10", "log1p": "log1p", "log2": "log2", "logical_not": "logical_not",
    "neg": "negative", "rad2deg": "rad2deg", "reciprocal": "reciprocal", "sigmoid": "expit",
    "sgn": "sign", "sign": "sign", "signbit": "signbit", "sin": "sin", "sinh": "sinh",
    "sqrt": "sqrt", "tan": "tan", "tanh": "tanh", "trunc": "trunc",
}  # fmt: skip
"""PyTorch's name for a function of one argument, and NumPy's or SciPy's."""

_BINARY = {
    "atan2": "arctan2", "bitwise_and": "bitwise_and", "bitwise_left_shift": "left_shift",
    "bitwise_or": "bitwise_or", "bitwise_right_shift": "right_shift", "bitwise_xor": "bitwise_xor",
    "copysign": "copysign", "eq": "equal", "float_power": "float_power",
    "floor_divide": "floor_divide", "fmax": "fmax", "fmin": "fmin", "fmod": "fmod", "gcd": "gcd",
    "ge": "greater_equal", "gt": "greater", "heaviside": "heaviside", "hypot": "hypot",
    "lcm": "lcm", "ldexp": "ldexp", "le": "less_equal", "logaddexp": "logaddexp",
    "logaddexp2": "logaddexp2", "logical_and": "logical_and", "logical_or": "logical_or",
    "logical_xor": "logical_xor", "lt": "less", "maximum": "maximum", "minimum": "minimum",
    "mul": "multiply", "ne": "not_equal", "nextafter": "nextafter", "remainder": "remainder",
    "xlogy": "xlogy",
}  # fmt: skip

ALIASES = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctanh": "atanh", "arctan2": "atan2", "negative": "neg", "fix": "trunc",
    "multiply": "mul", "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le",
    "not_equal": "ne",
}  # fmt: skip


def camel(name: str) -> str:
    """Return PyTorch's name of the node that a function leaves.

    >>> camel("log_softmax")
    'LogSoftmaxBackward0'
    """
    if name == "log1p":
        return "Log1PBackward0"
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) + "Backward0"


def _unary(name: str, ufunc: str) -> Callable[..., Any]:
    implementation = UFUNCS[ufunc]
    label = camel(name)

    def body(input: Any) -> Any:
        if name in ("sign", "sgn") and aval_of(input).dtype.kind != "c":
            input = numbers(input)
        return implementation(input)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = f"Return `{ufunc}` of each element, as NumPy or SciPy define it."
    general: Callable[..., Any] = function(label)(body)
    primitive = PRIMITIVES.get(ufunc)
    is_step = primitive is not None and (primitive.vjps == (ZERO,) or ufunc == "sign")
    if primitive is None or is_step or backward_name(ufunc) != label:
        enter(general, in_place=True)
        return general

    def public(input: Any, *, out: Any = None) -> Any:
        # What tutorials chain: one operation of the table, without a composition around it.
        if type(input) is tape.tensor_type and out is None and input._array.dtype.kind in "fc":
            return apply(primitive, (input,), {})
        return general(input, out=out)

    public.__name__ = public.__qualname__ = name
    public.__doc__ = body.__doc__
    enter(public, in_place=True)
    return public


def _binary(name: str, ufunc: str) -> Callable[..., Any]:
    implementation = UFUNCS[ufunc]

    def body(input: Any, other: Any) -> Any:
        return implementation(input, other)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = f"Return `{ufunc}` of each pair of elements, as NumPy or SciPy define it."
    return function(camel(name), in_place=True)(body)


TABLE: dict[str, Callable[..., Any]] = {
    **{name: _unary(name, ufunc) for name, ufunc in _UNARY.items()},
    **{name: _binary(name, ufunc) for name, ufunc in _BINARY.items()},
}
"""All functions made of one ufunc."""

for _other, _known in ALIASES.items():
    alias(_other, TABLE[_known])

sigmoid, tanh, exp, log, sqrt = (TABLE[name] for name in ("sigmoid", "tanh", "exp", "log", "sqrt"))


def _scaled(other: Any, alpha: Any) -> Any:
    return other if alpha == 1 else other * alpha


@function("AddBackward0", in_place=True)
def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Return input + alpha * other."""
    return UFUNCS["add"](input, _scaled(other, alpha))


@function("SubBackward0", in_place=True)
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Return input - alpha * other."""
    if "b" in (aval_of(input).dtype.kind, aval_of(other).dtype.kind):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return UFUNCS["subtract"](input, _scaled(other, alpha))


@function("RsubBackward1")
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Return other - alpha * input."""
    return UFUNCS["subtract"](other, _scaled(input, alpha))


def _quotient_name(input: Any, other: Any, *, rounding_mode: str | None = None) -> str:
    return "DivBackward0" if rounding_mode is None else "DivBackward2"


@function(_quotient_name, in_place=True)
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """Return the quotient; `rounding_mode` "trunc" or "floor" rounds it to whole numbers."""
    if rounding_mode is None:
        return UFUNCS["divide"](input, other)
    if rounding_mode == "floor":
        if aval_of(input).dtype.kind in "iu" and aval_of(other).dtype.kind in "iu":
            return UFUNCS["floor_divide"](input, other)
        return UFUNCS["floor"](UFUNCS["divide"](input, other))
    if rounding_mode == "trunc":
        quotient = UFUNCS["trunc"](UFUNCS["divide"](input, other))
        whole = np.result_type(aval_of(input).dtype, aval_of(other).dtype)
        return cast(quotient, whole) if whole.kind in "iu" else quotient
    raise RuntimeError(
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
        f"'{rounding_mode}'"
    )


def _power_name(input: Any, exponent: Any) -> str:
    if not hasattr(input, "aval"):
        return "PowBackward2"
    return "PowBackward1" if hasattr(exponent, "aval") else "PowBackward0"


@function(_power_name, in_place=True)
def pow(input: Any, exponent: Any) -> Any:
    """Return each element to a power."""
    return UFUNCS["power"](input, exponent)


@function("PowBackward0", in_place=True)
def square(input: Any) -> Any:
    """Return the square of each element."""
    return UFUNCS["square"](input)


@function("RsqrtBackward0", in_place=True)
def rsqrt(input: Any) -> Any:
    """Return 1 / sqrt(input)."""
    return UFUNCS["reciprocal"](UFUNCS["sqrt"](input))


@function("FracBackward0", in_place=True)
def frac(input: Any) -> Any:
    """Return the part of each element behind the point, with its sign."""
    return input - UFUNCS["trunc"](input)


@function("RoundBackward0", in_place=True)
def round(input: Any, *, decimals: int = 0) -> Any:
    """Return each element rounded to `decimals`, halves to even."""
    return np.round(input, decimals)


@function("LogitBackward0", in_place=True)
def logit(input: Any, eps: float | None = None) -> Any:
    """Return log(x / (1 - x)), x held within eps and 1 - eps if that is given."""
    if eps is not None:
        input = np.clip(input, eps, 1 - eps)
    return UFUNCS["logit"](input)


@function("SincBackward0", in_place=True)
def sinc(input: Any) -> Any:
    """Return sin(pi x) / (pi x)."""
    return np.sinc(input)


@function("NanToNumBackward0", in_place=True)
def nan_to_num(
    input: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """Return the tensor with numbers in place of NaN and infinities."""
    return np.nan_to_num(input, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


@function("ClampBackward1", in_place=True)
def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Return each element moved to the nearest number within bounds; one may be left out.

    Elements on a bound keep their gradient.
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    result = input
    if min is not None:
        result = np.where(np.less(numbers(input), numbers(min)), min, result)
    if max is not None:
        result = np.where(np.greater(numbers(result), numbers(max)), max, result)
    is_number = not (hasattr(min, "ndim") or hasattr(max, "ndim"))
    return cast(result, aval_of(input).dtype, copy=False) if is_number else result


alias("clip", clamp)


@function("ClampMinBackward0", in_place=True)
def clamp_min(input: Any, min: Any) -> Any:
    """Return each element or the bound, whichever is larger."""
    return np.where(np.less(numbers(input), numbers(min)), min, input)


@function("ClampMaxBackward0", in_place=True)
def clamp_max(input: Any, max: Any) -> Any:
    """Return each element or the bound, whichever is smaller."""
    return np.where(np.greater(numbers(input), numbers(max)), max, input)


def _lerp_name(input: Any, end: Any, weight: Any) -> str:
    return "LerpBackward1" if hasattr(weight, "ndim") else "LerpBackward0"


@function(_lerp_name, in_place=True)
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """Return input + weight * (end - input)."""
    return input + weight * (end - input)


@function("AddcmulBackward0", in_place=True)
def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """Return input + value * tensor1 * tensor2."""
    return input + _scaled(tensor1 * tensor2, value)


@function("AddcdivBackward0", in_place=True)
def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """Return input + value * tensor1 / tensor2."""
    return input + _scaled(tensor1 / tensor2, value)


@function("ComplexBackward0", method=False, module=False)
def complex_from_parts(real: Any, imag: Any) -> Any:
    """Return the complex tensor of these parts."""
    return make_complex(real, imag)


@function("PolarBackward0", method=False)
def polar(abs: Any, angle: Any) -> Any:
    """Return the complex tensor of this magnitude and angle."""
    return make_complex(abs * np.cos(angle), abs * np.sin(angle))


@function("AngleBackward0")
def angle(input: Any) -> Any:
    """Return the angle of each complex number."""
    return np.angle(input)


@function("ConjBackward0")
def conj(input: Any) -> Any:
    """Return the complex conjugate."""
    return UFUNCS["conjugate"](input) if aval_of(input).dtype.kind == "c" else input


alias("conj_physical", conj)
alias("resolve_conj", conj)
alias("resolve_neg", conj)


def positive(input: Any) -> Any:
    """Return the tensor itself."""
    return input


enter(positive)


alias("subtract", sub)
alias("divide", div)
alias("true_divide", div)


@function("IscloseBackward0")
def isclose(
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Return where |input - other| <= atol + rtol * |other|."""
    return np.isclose(numbers(input), numbers(other), rtol, atol, equal_nan)


def allclose(
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Say whether |input - other| <= atol + rtol * |other| everywhere."""
    return bool(np.allclose(numbers(input), numbers(other), rtol, atol, equal_nan))


def equal(input: Any, other: Any) -> bool:
    """Say whether two tensors have the same shape and elements."""
    return bool(np.array_equal(numbers(input), numbers(other)))


enter(allclose)
enter(equal)


@function("IsneginfBackward0")
def isneginf(input: Any) -> Any:
    """Return where the elements are negative infinity."""
    return np.isneginf(numbers(input))


@function("IsposinfBackward0")
def isposinf(input: Any) -> Any:
    """Return where the elements are positive infinity."""
    return np.isposinf(numbers(input))


@function("IsrealBackward0")
def isreal(input: Any) -> Any:
    """Return where the elements have no imaginary part."""
    return np.isreal(numbers(input))
