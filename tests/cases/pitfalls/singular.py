"""Points where a formula is singular, masked or out of range while the function is not."""

from numpy import array, inf, pi

from tests.cases.pitfalls.record import theme

masking = theme("masking")
power = theme("power")
stability = theme("stability")


@masking(
    "P001",
    "double_where_guards_sqrt",
    lambda: (array([-1.0, -4.0, 0.0, 9.0]),),
    -12.0,
    [[3, 3, 3, 1 / 6]],
    description="inner select keeps sqrt in its domain; no NaN may leak from the unselected lanes",
)
def _(np, x):
    safe = np.where(x > 0, x, 1.0)
    return np.sum(np.where(x > 0, np.sqrt(safe), 3.0 * x))


@masking(
    "P002",
    "single_where_log_unselected_pole",
    lambda: (array([0.0, 2.0, 3.0]),),
    5.09861228866811,
    [[2, 2, 1 / 3]],
    status="stretch",
    description="log(0) sits only in the unselected branch",
    note="torch, jax and autograd give NaN for element 0 (0*inf); a zero incoming cotangent "
    "means 'no dependence', so 2 is the true derivative",
)
def _(np, x):
    return np.sum(np.where(x > 2, np.log(x), 2.0 * x))


@masking(
    "P003",
    "where_broadcast_three_ways",
    lambda: (array([1.0, 2.0, 3.0]), array([[2.5], [0.5]])),
    73.0,
    [[2, 4, 12], [[20], [0]]],
    description="condition (2,3), branches (3,) and (2,1): both cotangents are masked, then "
    "un-broadcast",
)
def _(np, x, y):
    return np.sum(np.where(x > y, x * x, 10.0 * y))


@masking(
    "P004",
    "abs_at_both_zeros",
    lambda: (array([-2.0, 0.0, -0.0, 3.0]),),
    5.0,
    [[-1, 0, 0, 1]],
    status="convention",
    note="0 at 0 (minimum-norm subgradient). torch and autograd 0, jax 1",
)
def _(np, x):
    return np.sum(np.abs(x))


@masking(
    "P005",
    "row_norms_with_a_zero_row",
    lambda: (array([[0.0, 0.0], [3.0, 4.0]]),),
    5.0,
    [[[0, 0], [0.6, 0.8]]],
    status="convention",
    note="0 at the origin. torch 0; jax and autograd NaN in the zero row",
)
def _(np, x):
    return np.sum(np.linalg.norm(x, axis=1))


@masking(
    "P007",
    "sqrt_then_square_at_origin",
    lambda: (array([0.0, 0.0, 0.0]),),
    0.0,
    [[0, 0, 0]],
    status="stretch",
    note="(sqrt(sum x^2))^2 is smooth: gradient 2x = 0. torch, jax, autograd all NaN (0*inf)",
)
def _(np, x):
    return np.sqrt(np.sum(x * x)) ** 2


@masking(
    "P008",
    "sinc_value_and_slope",
    lambda: (array([0.0, 0.5, -1.0]),),
    1 + 2 / pi,
    [[0, -4 / pi, 1]],
    note="autograd gives NaN at 0",
)
def _(np, x):
    return np.sum(np.sinc(x))


@masking(
    "P009",
    "arctan2_on_the_axes",
    lambda: (array([1.0, 0.0, -1.0, 0.0, 1.0]), array([0.0, -1.0, 0.0, 1.0, 1.0])),
    1.25 * pi,
    [[0, -1, 0, 1, 0.5], [-1, 0, 1, 0, -0.5]],
    description="formulas that divide by x alone break here",
)
def _(np, y, x):
    return np.sum(np.arctan2(y, x))


@masking(
    "P087",
    "inverse_hyperbolic_sine_slope_at_zero",
    lambda: (array([0.0, -0.0, 1.0]),),
    0.881373587019543,
    [[1, 1, 0.7071067811865475]],
    description="a sign(x)*log(|x|+...) formulation yields slope 0 at 0",
)
def _(np, x):
    return np.sum(np.arcsinh(x))


@power(
    "P010",
    "polynomial_by_exponent_array_at_zero",
    lambda: (array(0.0),),
    1.0,
    [1.0],
    description="x**[0,1,2,3] at x=0; n*x**(n-1) with n=0 is 0*inf if computed blindly",
)
def _(np, x):
    return np.sum(x ** np.array([0, 1, 2, 3]))


@power(
    "P011",
    "exponent_gradient_with_zero_base",
    lambda: (array([0.0, 2.0]), array([1.0, 3.0])),
    8.0,
    [[1, 12], [0, 5.545177444479562]],
    note="0**b is 0 for every b>0, so d/db = 0 (naive 0*log(0) is NaN)",
)
def _(np, a, b):
    return np.sum(a**b)


@power(
    "P012",
    "fractional_power_pole",
    lambda: (array([0.0, 4.0]),),
    2.0,
    [[inf, 0.25]],
    note="one-sided derivative is +inf, the same as sqrt(0); must not be replaced by 0 or NaN",
)
def _(np, x):
    return np.sum(x**0.5)


@stability(
    "P026",
    "logaddexp_infinite_arguments",
    lambda: (array([-inf, inf, 1000.0, -1000.0]), array([1.0, 1.0, 1000.0, 0.0])),
    array([1.0, inf, 1000.6931471805599, 0.0]),
    [[0, 1, 0.5, 0], [1, 0, 0.5, 1]],
    cotangent=array([1.0, 1.0, 1.0, 1.0]),
    note="limits; jax returns 2.718 for the second slot of (inf, 1), autograd NaN for the first",
)
def _(np, a, b):
    return np.logaddexp(a, b)


@stability(
    "P027",
    "shifted_logsumexp_large_and_tied",
    lambda: (array([[1000.0, 1000.0], [-1000.0, 0.0]]),),
    array([1000.6931471805599, 0.0]),
    [[[0.5, 0.5], [0, 1]]],
    cotangent=array([1.0, 1.0]),
    description="the max used as shift cancels exactly, so the tie rule must not show",
)
def _(np, x):
    m = np.max(x, axis=1, keepdims=True)
    return (m + np.log(np.sum(np.exp(x - m), axis=1, keepdims=True)))[:, 0]


@stability(
    "P028",
    "sigmoid_via_tanh_saturates",
    lambda: (array([-800.0, 0.0, 800.0]),),
    array([0.0, 0.5, 1.0]),
    [[0, 0.25, 0]],
    cotangent=array([1.0, 1.0, 1.0]),
)
def _(np, x):
    return 0.5 * (np.tanh(0.5 * x) + 1.0)


@stability(
    "P029",
    "softplus_via_logaddexp",
    lambda: (array([-800.0, 0.0, 800.0]),),
    800.6931471805599,
    [[0, 0.5, 1]],
)
def _(np, x):
    return np.sum(np.logaddexp(0.0, x))


@stability(
    "P030",
    "log1p_expm1_tiny_arguments",
    lambda: (array([1e-18, -3e-17]),),
    array([2e-18, -6e-17]),
    [[2, 2]],
    cotangent=array([1.0, 1.0]),
    rtol=1e-14,
    atol=0.0,
    description="rewriting to log(1+x) or exp(x)-1 loses everything",
)
def _(np, x):
    return np.log1p(x) + np.expm1(x)
