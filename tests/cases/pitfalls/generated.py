"""Values that generated code gets wrong when it trusts the rules of C, or of algebra."""

import numpy
from numpy import array, inf, nan

from tests.cases.pitfalls.record import theme

codegen = theme("codegen")


@codegen(
    "P069",
    "integer_floor_division",
    lambda: (array([-7, 7, -7, 7]), array([2, -2, -2, 2])),
    array([-4, -4, 3, 3]),
    exact=True,
)
def _(np, a, b):
    return a // b


@codegen(
    "P070",
    "integer_modulo_sign",
    lambda: (array([-7, 7, -7, 7]), array([2, -2, -2, 2])),
    array([1, -1, -1, 1]),
    exact=True,
    description="result takes the divisor's sign (C's % does not)",
)
def _(np, a, b):
    return a % b


@codegen(
    "P071",
    "int8_intermediate_wraps",
    lambda: (array([100, -100], dtype="i1"), array([100, -100], dtype="i1")),
    array([-28, 28], dtype="i1"),
    exact=True,
    description="(a+b)//2 wraps after the addition; C promotes to int and gives 100",
)
def _(np, a, b):
    return (a + b) // 2


@codegen(
    "P072",
    "nan_propagation_of_min_max",
    lambda: (array([nan, 1.0, 2.0]), array([0.0, nan, 5.0])),
    array([[nan, nan, 5.0], [nan, nan, 2.0], [0.0, 1.0, 5.0], [0.0, 1.0, 2.0]]),
    exact=True,
    description="maximum/minimum propagate NaN from either side, fmax/fmin ignore it",
)
def _(np, a, b):
    return np.stack([np.maximum(a, b), np.minimum(a, b), np.fmax(a, b), np.fmin(a, b)])


@codegen(
    "P073",
    "signed_zero_survives",
    lambda: (array([1.0, -1.0, 0.0, -0.0]),),
    array(
        [
            [0.0, -0.0, 0.0, -0.0],
            [-1.0, 1.0, -0.0, 0.0],
            [1.0, -1.0, 0.0, 0.0],
            [1.0, -1.0, 0.0, 0.0],
        ]
    ),
    exact=True,
    description="x*0, -x, x+0 and 0+x: 'x+0 -> x' is wrong for -0.0, '0-x -> -x' is wrong for 0.0",
)
def _(np, x):
    return np.stack([x * 0.0, -x, x + 0.0, 0.0 + x])


@codegen(
    "P074",
    "nan_not_simplified_away",
    lambda: (array([inf, nan, 0.0, 2.0]),),
    array([[nan, nan, 0.0, 0.0], [nan, nan, 0.0, 0.0], [nan, nan, nan, 1.0]]),
    exact=True,
    description="x*0, x-x, x/x keep IEEE results",
)
def _(np, x):
    return np.stack([x * 0.0, x - x, x / x])


@codegen(
    "P075",
    "isnan_guard_under_optimisation",
    lambda: (array([1.0, nan, inf]),),
    array([1.0, 0.0, inf]),
    [[1, 0, 1]],
    cotangent=array([1.0, 1.0, 1.0]),
    description="-ffast-math style builds fold isnan to False",
)
def _(np, x):
    return np.where(np.isnan(x), 0.0, x)


@codegen(
    "P076",
    "float32_large_sum",
    lambda: (numpy.full(1000000, 0.1, dtype="f4"),),
    numpy.float32(100000.0),
    [1.0],
    rtol=2e-6,
    value_dtype="float32",
    description="a naive float32 loop gives 100958; pairwise or wider accumulation is required",
)
def _(np, x):
    return np.sum(x)


@codegen(
    "P077",
    "int64_sum_is_exact",
    lambda: (array([2**53, 1, 1, 1]),),
    numpy.int64(2**53 + 3),
    exact=True,
    description="no detour through double",
)
def _(np, x):
    return np.sum(x)


@codegen(
    "P078",
    "round_half_to_even",
    lambda: (array([0.5, 1.5, 2.5, -0.5, -1.5]),),
    array([0.0, 2.0, 2.0, -0.0, -2.0]),
    [0.0],
    cotangent=array([1.0, 1.0, 1.0, 1.0, 1.0]),
    exact=True,
    description="C round() rounds half away from zero",
)
def _(np, x):
    return np.round(x)


@codegen(
    "P079",
    "mod_gradient_negative_operand",
    lambda: (array(-7.5), array(2.0)),
    0.5,
    [1.0, 4.0],
    note="x - floor(x/y)*y: d/dy = -floor(x/y)",
)
def _(np, x, y):
    return x % y


@codegen(
    "P080",
    "uint64_plus_int64",
    lambda: (array([1, 2], dtype="u8"), array([1, -5], dtype="i8")),
    array([2.0, -3.0]),
    exact=True,
    description="NumPy promotes this pair to float64",
)
def _(np, a, b):
    return a + b
