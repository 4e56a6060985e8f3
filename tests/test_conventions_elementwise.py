"""What elementwise operations answer where mathematics leaves a choice, or where others go wrong.

Each row is a line of the table of conventions: a function, points, and the derivative at each.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy import inf, nan, pi
from scipy import special

import stagrad
from stagrad.ops.exponential import softplus
from stagrad.ops.normalizing import log_softmax, logsumexp
from stagrad.ops.selection import relu

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@dataclass(frozen=True)
class Point:
    """A function of arrays and its derivative, element by element, with respect to each."""

    name: str
    function: Any
    arguments: tuple[Any, ...]
    slopes: tuple[Any, ...]

    def __str__(self) -> str:
        return self.name


def at(name: str, function: Any, *arguments: Any, slopes: Any) -> Point:
    slopes = slopes if isinstance(slopes, tuple) else (slopes,)
    return Point(name, function, tuple(np.asarray(x, complex if _is_complex(x) else float)
                                       for x in arguments), slopes)  # fmt: skip


def _is_complex(x: Any) -> bool:
    return np.asarray(x).dtype.kind == "c"


def half(x: Any) -> Any:
    return x > 0.5


TINY, HUGE = 1e-200, 1e200

KINKS = [
    at("abs at both zeros", np.abs, [0.0, -0.0, 2.0, -3.0], slopes=[0, 0, 1, -1]),
    at("fabs at both zeros", np.fabs, [0.0, -0.0], slopes=[0, 0]),
    at("hypot at the origin", np.hypot, [0.0, -0.0], [0.0, 0.0], slopes=([0, 0], [0, 0])),
    at("hypot of extreme numbers", np.hypot, [3 * HUGE, 3 * TINY], [4 * HUGE, 4 * TINY],
       slopes=([0.6, 0.6], [0.8, 0.8])),
    at("arctan2 at the origin", np.arctan2, [0.0], [0.0], slopes=([0], [0])),
    at("arctan2 of tiny numbers", np.arctan2, [TINY], [TINY], slopes=([0.5e200], [-0.5e200])),
    at("complex abs at zero", np.abs, [0j], slopes=[0j]),
    at("complex abs elsewhere", np.abs, [3 + 4j, 3e-310 + 4e-310j, complex(inf, 0), 3e200 + 4e200j],
       slopes=[0.6 + 0.8j, 0.6 + 0.8j, 1 + 0j, 0.6 + 0.8j]),
    at("angle at zero", np.angle, [0j], slopes=[0j]),
    at("angle of tiny numbers", np.angle, [TINY * (1 + 1j)], slopes=[0.5e200 * (-1 + 1j)]),
    at("maximum tie", np.maximum, [1.0, 0.0], [1.0, -0.0], slopes=([0.5, 0.5], [0.5, 0.5])),
    at("minimum tie", np.minimum, [1.0], [1.0], slopes=([0.5], [0.5])),
    at("fmax tie", np.fmax, [1.0], [1.0], slopes=([0.5], [0.5])),
    at("fmin tie", np.fmin, [1.0], [1.0], slopes=([0.5], [0.5])),
    at("fmax and fmin pass NaN over", lambda x, y: np.fmax(x, y) + np.fmin(x, y), [nan, 1.0],
       [1.0, nan], slopes=([0, 2], [2, 0])),
    at("maximum(x, 0)", lambda x: np.maximum(x, 0), [-1.0, 0.0, 2.0], slopes=[0, 0.5, 1]),
    at("relu", relu, [-1.0, 0.0, -0.0, 2.0], slopes=[0, 0, 0, 1]),
    at("clip at a bound", lambda x: np.clip(x, 0, 1), [-1.0, 0.0, 0.5, 1.0, 2.0],
       slopes=[0, 1, 1, 1, 0]),
    at("clip of one side at its bound", lambda x: np.clip(x, None, 1) + np.clip(x, 1, None), [1.0],
       slopes=[2]),
    at("clip with crossed bounds", np.clip, [0.0, 3.0], [2.0, 2.0], [1.0, 1.0],
       slopes=([0, 0], [0, 0], [1, 1])),
    at("clip with a bound of its own", lambda x: np.clip(x, 0, x), [-1.0, 0.0, 1.0],
       slopes=[1, 1, 1]),
    at("copysign at zero", np.copysign, [0.0, -2.0, 2.0], [1.0, 1.0, -1.0],
       slopes=([0, -1, -1], [0, 0, 0])),
    at("steps", lambda x: np.floor(x) + np.round(x) + np.sign(x) + np.ceil(x) + (x > 1) + x,
       [0.3, 1.0, 2.5], slopes=[1, 1, 1]),
    at("remainder", np.remainder, [5.5, -5.5], [2.0, 2.0], slopes=([1, 1], [-2, 3])),
    at("fmod", np.fmod, [5.5, -5.5], [2.0, 2.0], slopes=([1, 1], [-2, 2])),
]  # fmt: skip

POLES = [
    at("sqrt at zero", np.sqrt, [0.0], slopes=[inf]),
    at("x**0.5 at zero", lambda x: x**0.5, [0.0], slopes=[inf]),
    at("np.power(x, 0.5) at zero", lambda x: np.power(x, 0.5), [0.0], slopes=[inf]),
    at("cbrt at zero", np.cbrt, [0.0], slopes=[inf]),
    at("log at zero", lambda x: np.log(x) + np.log2(x), [0.0], slopes=[inf]),
    at("arcsin at one", np.arcsin, [-1.0, 1.0], slopes=[inf, inf]),
    at("arccos at one", np.arccos, [-1.0, 1.0], slopes=[-inf, -inf]),
    at("entropy at zero", special.entr, [0.0], slopes=[inf]),
    at("xlogy at zero", special.xlogy, [0.0, 0.0, 0.0], [2.0, 0.0, 1.0],
       slopes=([np.log(2), -inf, 0], [0, 0, 0])),
]  # fmt: skip

POWERS = [
    at("x**0 at zero, Python exponent", lambda x: x**0, [0.0, 2.0], slopes=[0, 0]),
    at(
        "x**0 at zero, integer array",
        lambda x: x ** np.array([0, 0, 1, 2]),
        [0.0, 2.0, 0.0, 0.0],
        slopes=[0, 0, 1, 0],
    ),
    at(
        "x**0 at zero, float variable",
        np.power,
        [0.0, 2.0],
        [0.0, 0.0],
        slopes=([0, 0], [0, np.log(2)]),
    ),
    at("0**b", lambda b: 0.0**b, [2.0, 0.5, 0.0], slopes=[0, 0, 0]),
    at("0**b, variable base", np.power, [0.0, 0.0], [2.0, 1.0], slopes=([0, 1], [0, 0])),
    at("powers above one at zero", lambda x: x**2 + x**3.0 + x**1.5, [0.0], slopes=[0]),
    at("power of a negative base", lambda x: x**3 + x**-2 + x**2.0, [-2.0], slopes=[12 + 0.25 - 4]),
    at("exponents cannot spoil the base", np.power, [-2.0], [3.0], slopes=([12], [nan])),
]

STABLE = [
    at("logaddexp of infinities", np.logaddexp, [-inf, -inf, inf, inf, 1e3], [-inf, 1, 1, inf, 1e3],
       slopes=([0, 0, 1, 0.5, 0.5], [0, 1, 0, 0.5, 0.5])),
    at("logaddexp2 of infinities", np.logaddexp2, [-inf, -inf, inf], [-inf, 1, 1],
       slopes=([0, 0, 1], [0, 1, 0])),
    at("softplus far out", softplus, [-800.0, 0.0, 800.0, -inf, inf], slopes=[0, 0.5, 1, 0, 1]),
    at("logistic function far out", special.expit, [-800.0, 0.0, 800.0], slopes=[0, 0.25, 0]),
    at("log of the logistic function", special.log_expit, [-800.0, 0.0, 800.0], slopes=[1, 0.5, 0]),
    at("log_ndtr far below", special.log_ndtr, [-1e5, 0.0], slopes=[1e5 + 1e-5, np.sqrt(2 / pi)]),
    at("expm1 and log1p of tiny numbers", lambda x: np.expm1(x) + np.log1p(x), [1e-18], slopes=[2]),
    at("expm1 far below", np.expm1, [-40.0], slopes=[np.exp(-40.0)]),
    at("tanh saturates", np.tanh, [-800.0, 0.0, 800.0], slopes=[0, 1, 0]),
    at("odd functions at zero", lambda x: np.arcsinh(x) + np.arctan(x) + np.arcsin(x) + np.sinh(x)
       + np.tan(x) + np.arctanh(x), [0.0, -0.0], slopes=[6, 6]),
    at("arcsinh of huge numbers", np.arcsinh, [HUGE], slopes=[1 / HUGE]),
    at("sinc at zero", np.sinc, [0.0, 0.5, -1.0], slopes=[0, -4 / pi, 1]),
]  # fmt: skip

# The branch that is not chosen has no derivative, or an infinite one.
SELECTED = [
    at(f"where passes over {name}", lambda x, f=f: np.where(half(x), x, f(x)), [point], slopes=[1])
    for name, f, point in [
        ("log", lambda x: np.log(x - 1), 1.0),
        ("sqrt", lambda x: np.sqrt(x - 1), 1.0),
        ("sqrt of a negative", lambda x: np.sqrt(-x), 2.0),
        ("a quotient", lambda x: 1 / (x - 1), 1.0),
        ("0/0", lambda x: (x - 1) / (x - 1), 1.0),
        ("a reciprocal", lambda x: np.reciprocal(x - 1), 1.0),
        ("a power", lambda x: (x - 1) ** -1.5, 1.0),
        ("a power of a negative", lambda x: (-x) ** 1.5, 2.0),
        ("an integer power", lambda x: (x - 1) ** -3, 1.0),
        ("arcsin", np.arcsin, 1.0),
        ("arccosh", np.arccosh, 1.0),
        ("arctanh", np.arctanh, 1.0),
        ("cbrt", lambda x: np.cbrt(x - 1), 1.0),
        ("an overflow", np.exp, 1000.0),
        ("log1p of an overflow", lambda x: np.log1p(np.exp(x)), 1000.0),
        ("sinh", np.sinh, 1000.0),
        ("expm1", np.expm1, 1000.0),
        ("hypot", lambda x: np.hypot(x - 1, 0), 1.0),
        ("arctan2", lambda x: np.arctan2(x - 1, 0), 1.0),
        ("gammaln", lambda x: special.gammaln(x - 1), 1.0),
        ("logit", special.logit, 1.0),
        ("erfinv", special.erfinv, 1.0),
        ("xlogy", lambda x: special.xlogy(1, x - 1), 1.0),
        ("a product with a pole", lambda x: (x - 1) * np.log(x - 1), 1.0),
        ("a square of a pole", lambda x: np.log(x - 1) ** 2 + (1 / (x - 1)) ** 3, 1.0),
        ("a wave to a pole", lambda x: np.sin(1 / (x - 1)) + np.cos(np.log(x - 1)), 1.0),
        ("bounded functions of NaN", lambda x: np.tanh(np.sqrt(-x)) + special.erf(np.log(-x)), 2.0),
        ("an oscillating product", lambda x: (x - 1) ** 2 * np.sin(1 / (x - 1)), 1.0),
        ("a logistic function of a pole", lambda x: special.expit(-1 / (x - 1) ** 2), 1.0),
        ("a quotient at its gap", lambda x: np.sin(x - 1) / (x - 1), 1.0),
    ]
] + [
    at("where with an integer condition", lambda x: np.where(np.array([2, 0, -1]), x, 5),
       [1.0, 2.0, 3.0], slopes=[1, 0, 1]),
    at("where with a constant branch", lambda x: np.where(x > 0, 1.0, x), [1.0, -1.0],
       slopes=[0, 1]),
    at("nan_to_num", np.nan_to_num, [nan, inf, -inf, 2.0], slopes=[0, 0, 0, 1]),
]  # fmt: skip

POINTS = [*KINKS, *POLES, *POWERS, *STABLE, *SELECTED]


def slopes(point: Point, dtype: Any = None) -> list[np.ndarray]:
    arguments = point.arguments
    if dtype is not None:
        arguments = tuple(argument.astype(dtype) for argument in arguments)
    value, pull = stagrad.vjp(point.function, *arguments)
    return list(pull(np.ones_like(value)))


@pytest.mark.parametrize("point", POINTS, ids=str)
def test_reverse_mode(point):
    for got, want in zip(slopes(point), point.slopes, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=0)


@pytest.mark.parametrize("point", POINTS, ids=str)
def test_forward_mode(point):
    """One argument at a time; a complex one along both axes, as dL/dRe + i dL/dIm."""
    for place, want in enumerate(point.slopes):
        argument = point.arguments[place]

        def along(direction, place=place, argument=argument):
            tangents = [np.zeros_like(other) for other in point.arguments]
            tangents[place] = np.full_like(argument, direction)
            return stagrad.jvp(point.function, point.arguments, tuple(tangents))[1]

        got = along(1)
        if argument.dtype.kind == "c":
            got = got + 1j * along(1j)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=0)


def fits_single_precision(point: Point) -> bool:
    def fits(argument: np.ndarray) -> bool:
        size = np.abs(argument[np.isfinite(argument) & (argument != 0)])
        return argument.dtype.kind == "f" and bool(np.all((size > 1e-3) & (size < 1e3)))

    return all(map(fits, point.arguments))


@pytest.mark.parametrize("point", list(filter(fits_single_precision, POINTS)), ids=str)
def test_single_precision(point):
    for got, want in zip(slopes(point, np.float32), point.slopes, strict=True):
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def second(function, x):
    """Return the second derivative of a function at one point."""
    return stagrad.grad(stagrad.grad(function))(np.float64(x))


@pytest.mark.parametrize(
    ("name", "function", "x", "want"),
    [
        ("x**2 at zero", lambda x: x**2, 0.0, 2.0),
        ("x**2.0 at zero", lambda x: np.power(x, 2.0), 0.0, 2.0),
        ("x**3 at zero", lambda x: x**3, 0.0, 0.0),
        ("x**1 at zero", lambda x: x**1, 0.0, 0.0),
        ("x**p, p an array, at zero", lambda x: np.sum(x ** np.array([0.0, 1.0, 2.0])), 0.0, 2.0),
        ("sinc at zero", np.sinc, 0.0, -(pi**2) / 3),
        ("square root of a square", lambda x: np.sqrt(x * x), 2.0, 0.0),
        ("where at its seam", lambda x: np.where(x > 0, x**3, x * x), 0.0, 2.0),
        (
            "where beside a product with a pole",
            lambda x: np.where(x > 0, x * np.log(x), x * x),
            0.0,
            2.0,
        ),
        ("where beside a pole", lambda x: np.where(x >= 0, x * x, np.log(x)), 0.0, 2.0),
        ("logaddexp at a tie", lambda x: np.logaddexp(x, 0.0), 0.0, 0.25),
        ("logaddexp far out", lambda x: np.logaddexp(x, 0.0), 800.0, 0.0),
        ("softplus", softplus, 0.0, 0.25),
        ("softplus far out", softplus, 800.0, 0.0),
        ("logistic function far out", special.expit, -800.0, 0.0),
        ("1/x", lambda x: 1 / x, 2.0, 0.25),
    ],
)
def test_second_derivatives(name, function, x, want):
    np.testing.assert_allclose(second(function, x), want, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("function", [lambda x: 1 / x, np.reciprocal, lambda x: x**-1])
def test_derivatives_of_one_over_x_stay_small(function):
    sizes = []
    for _order in range(6):
        function = stagrad.grad(function)
        sizes.append(len(function.lower(np.float64(2.0)).graph))
    assert function(np.float64(2.0)) == pytest.approx(720 / 2**7)
    growth = np.diff(sizes)
    assert np.ptp(growth) <= 1, "every order adds the same"


@pytest.mark.parametrize(
    ("row", "softmax"),
    [
        ([-inf, -inf, -inf], [0, 0, 0]),
        ([-inf, 0.0, 0.0], [0, 0.5, 0.5]),
        ([inf, 1.0, -inf], [1, 0, 0]),
        ([inf, inf, 1.0], [0.5, 0.5, 0]),
        ([1000.0, 1000.0, -1000.0], [0.5, 0.5, 0]),
        ([-1000.0, -1000.0, -2000.0], [0.5, 0.5, 0]),
    ],
)
def test_logsumexp_of_infinities(row, softmax):
    value, gradient = stagrad.value_and_grad(logsumexp)(np.array(row))
    assert value == special.logsumexp(row)
    np.testing.assert_array_equal(gradient, softmax)


def test_a_weight_of_zero_takes_an_element_out_of_logsumexp():
    def masked(x, b):
        return logsumexp(x, b=b)

    x, b = np.array([1.0, 1e4, nan, 2.0]), np.array([1.0, 0.0, 0.0, 1.0])
    value, (wrt_x, _) = stagrad.value_and_grad(masked, argnums=(0, 1))(x, b)
    np.testing.assert_allclose(value, np.logaddexp(1, 2), rtol=1e-15)
    np.testing.assert_allclose(wrt_x, [special.expit(-1), 0, 0, special.expit(1)], rtol=1e-14)
    x, b = np.array([1.0, 3.0]), np.array([1.0, 0.0])
    np.testing.assert_allclose(stagrad.grad(masked, argnums=1)(x, b), [1, np.exp(2)], rtol=1e-14)


def test_log_softmax_of_a_masked_row():
    gradient = stagrad.grad(lambda x: log_softmax(x)[1])(np.array([-inf, 0.0, 1.0]))
    share = special.expit(-1)
    np.testing.assert_allclose(gradient, [0, 1 - share, share - 1], rtol=1e-14)


def test_complex_gradients_are_the_direction_of_steepest_ascent():
    z = np.array([1 + 2j, -0.5 + 0.3j])
    gradient = stagrad.grad(lambda z: np.sum(np.abs(z) ** 2))(z)
    np.testing.assert_allclose(gradient, 2 * z, rtol=1e-15)
    gradient = stagrad.grad(lambda z: np.sum(np.real(z * z)))(z)
    np.testing.assert_allclose(gradient, 2 * np.conj(z), rtol=1e-15)
    gradient = stagrad.grad(lambda z: np.sum(np.imag(z)))(z)
    np.testing.assert_allclose(gradient, [1j, 1j])


def test_where_with_one_argument_says_what_to_write():
    with pytest.raises(stagrad.errors.UnsupportedError, match=r"Write np\.where"):
        stagrad.compile(lambda x: np.where(x > 0))(np.ones(3))
    with pytest.raises(ValueError, match="both or neither"):
        stagrad.compile(lambda x: np.where(x > 0, x))(np.ones(3))


def test_functions_whose_dtype_depends_on_numbers_say_so():
    with pytest.raises(stagrad.errors.UnsupportedError, match="real_if_close"):
        stagrad.compile(np.real_if_close)(np.ones(3) + 0j)


def test_nan_to_num_in_place_writes_into_its_argument():
    def function(x):
        y = x * 2
        np.nan_to_num(y, copy=False)
        return y

    np.testing.assert_array_equal(stagrad.compile(function)(np.array([nan, 1.0])), [0, 2])


@pytest.mark.parametrize("ufunc", [special.gammainc, special.jv])
def test_a_derivative_that_is_not_known_is_refused(ufunc):
    with pytest.raises(stagrad.errors.DerivativeError, match=f"{ufunc.__name__} has no derivative"):
        stagrad.grad(lambda v: ufunc(v, 2.0))(1.5)


def test_integers_to_negative_powers_are_refused_as_numpy_refuses_them():
    with pytest.raises(ValueError, match="integers to negative integer powers"):
        stagrad.compile(lambda n: n**-1)(np.array([1, 2]))
