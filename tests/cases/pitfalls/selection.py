"""Ties and selections, and statistics of degenerate data."""

from numpy import array, nan

from tests.cases.pitfalls.record import theme

ties = theme("ties")
statistics = theme("statistics")


@ties(
    "P006",
    "inf_norm_tie_is_shared",
    lambda: (array([3.0, -3.0, 1.0]),),
    3.0,
    [[0.5, -0.5, 0]],
    status="convention",
    note="tied entries share the gradient evenly, with their sign. torch and jax agree; "
    "autograd NaN",
)
def _(np, x):
    return np.linalg.norm(x, np.inf)


@ties(
    "P013",
    "max_full_reduction_tie",
    lambda: (array([1.0, 3.0, 3.0, 2.0]),),
    3.0,
    [[0, 0.5, 0.5, 0]],
    status="convention",
    note="split evenly; torch.max()/amax, jax, autograd agree (torch.max(dim) picks one index)",
)
def _(np, x):
    return np.max(x)


@ties(
    "P014",
    "max_axis_keepdims_tie",
    lambda: (array([[2.0, 2.0, 1.0], [0.0, 5.0, 5.0]]),),
    array([[2.0], [5.0]]),
    [[[0.5, 0.5, 0], [0, 5, 5]]],
    cotangent=array([[1.0], [10.0]]),
    status="convention",
    note="split evenly per reduced slice",
)
def _(np, x):
    return np.max(x, axis=1, keepdims=True)


@ties(
    "P015",
    "maximum_with_scalar_zero",
    lambda: (array([-1.0, 0.0, 2.0]),),
    2.0,
    [[0, 0.5, 1]],
    status="convention",
    note="np.maximum halves a tie (torch.maximum, jax, autograd). A dedicated relu uses 0 instead",
)
def _(np, x):
    return np.sum(np.maximum(x, 0.0))


@ties(
    "P016",
    "clip_on_the_bounds",
    lambda: (array([-1.0, 0.0, 0.5, 1.0, 2.0]),),
    2.5,
    [[0, 1, 1, 1, 0]],
    status="convention",
    note="gradient passes at the bounds, as in torch; jax gives 0.5, autograd 0 there",
)
def _(np, x):
    return np.sum(np.clip(x, 0.0, 1.0))


@ties(
    "P017",
    "gather_at_argmax_takes_first",
    lambda: (array([1.0, 5.0, 5.0, 2.0]),),
    5.0,
    [[0, 1, 0, 0]],
    description="argmax is an integer constant of the graph; indexing with it is not np.max",
)
def _(np, x):
    return x[np.argmax(x)]


@ties(
    "P018",
    "sort_ties_stable",
    lambda: (array([2.0, 1.0, 2.0]),),
    221.0,
    [[10, 1, 100]],
    status="convention",
    note="equal values keep their order (stable permutation); torch(stable=True), jax, "
    "autograd agree",
)
def _(np, x):
    return np.sum(np.sort(x) * np.array([1.0, 10.0, 100.0]))


@ties(
    "P019",
    "median_even_count",
    lambda: (array([10.0, 1.0, 3.0, 2.0]),),
    2.5,
    [[0, 0, 0.5, 0.5]],
    note="NumPy's median averages the two middle values; torch.median returns the lower one",
)
def _(np, x):
    return np.median(x)


@statistics(
    "P020",
    "std_of_constant_vector",
    lambda: (array([2.0, 2.0, 2.0]),),
    0.0,
    [[0, 0, 0]],
    status="convention",
    note="0 (the minimum of a convex function). torch 0; jax and autograd NaN",
)
def _(np, x):
    return np.std(x)


@statistics(
    "P021", "var_with_ddof", lambda: (array([1.0, 2.0, 4.0]),), 7 / 3, [[-4 / 3, -1 / 3, 5 / 3]]
)
def _(np, x):
    return np.var(x, ddof=1)


@statistics(
    "P022",
    "std_axis_one_constant_row",
    lambda: (array([[1.0, 1.0, 1.0], [0.0, 3.0, 6.0]]),),
    2.449489742783178,
    [[[0, 0, 0], [-0.408248290463863, 0, 0.408248290463863]]],
    status="convention",
    note="the degenerate row contributes 0 and must not poison the other row",
)
def _(np, x):
    return np.sum(np.std(x, axis=1))


@statistics(
    "P023",
    "prod_with_one_zero",
    lambda: (array([2.0, 0.0, 3.0, 4.0]),),
    0.0,
    [[0, 24, 0, 0]],
    note="result/x is 0/0; autograd gives NaN",
)
def _(np, x):
    return np.prod(x)


@statistics(
    "P025",
    "cumprod_zero_in_the_middle",
    lambda: (array([2.0, 0.0, 3.0, 4.0]),),
    array([2.0, 0.0, 0.0, 0.0]),
    [[1, 32, 0, 0]],
    cotangent=array([1.0, 1.0, 1.0, 1.0]),
)
def _(np, x):
    return np.cumprod(x)


@statistics(
    "P081",
    "nansum_nanmean",
    lambda: (array([1.0, nan, 3.0]),),
    6.0,
    [[1.5, 0, 1.5]],
    description="nansum + nanmean; the masked element gets 0, not NaN",
)
def _(np, x):
    return np.nansum(x) + np.nanmean(x)
