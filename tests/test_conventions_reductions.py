"""Where a reduction leaves a derivative open: each line of docs/conventions.md on one, pinned."""

import numpy as np
import pytest

import stagrad

NAN, INF = np.nan, np.inf


def gradient(function, *operands, **options):
    return stagrad.grad(function, **options)(*operands)


def hessian(function, x):
    return stagrad.hessian(function)(x)


def assert_gradient(function, x, expected):
    np.testing.assert_allclose(gradient(function, np.array(x)), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("reduce", [np.max, np.amax, lambda x: x.max(), np.maximum.reduce])
def test_tied_largest_elements_share_evenly(reduce):
    assert_gradient(reduce, [1.0, 3.0, 3.0, 3.0], [0, 1 / 3, 1 / 3, 1 / 3])


@pytest.mark.parametrize("reduce", [np.min, np.amin, lambda x: x.min(), np.minimum.reduce])
def test_tied_smallest_elements_share_evenly(reduce):
    assert_gradient(reduce, [1.0, 3.0, 1.0, 2.0], [0.5, 0, 0.5, 0])


def test_ties_share_along_each_axis_by_themselves():
    x = [[1.0, 1.0], [0.0, 2.0]]
    assert_gradient(lambda x: np.max(x, axis=1).sum(), x, [[0.5, 0.5], [0, 1]])
    assert_gradient(lambda x: np.min(x, axis=0, keepdims=True).sum(), x, [[0, 1], [1, 0]])


def test_signed_zeros_tie():
    assert_gradient(np.max, [0.0, -0.0], [0.5, 0.5])


def test_an_initial_value_ties_with_an_element():
    x, initial = np.array([1.0, 3.0]), 3.0
    wrt_x, wrt_initial = gradient(lambda x, y: np.max(x, initial=y), x, initial, argnums=(0, 1))
    np.testing.assert_array_equal(wrt_x, [0, 0.5])
    assert wrt_initial == 0.5


def test_the_largest_of_numbers_with_a_nan_is_that_nan():
    assert_gradient(np.max, [1.0, NAN, 3.0], [0, 1, 0])


def test_element_at_argmax_is_the_first_of_ties():
    assert_gradient(lambda x: x[np.argmax(x)], [1.0, 3.0, 3.0], [0, 1, 0])


def test_ptp_of_equal_elements_has_gradient_zero():
    assert_gradient(np.ptp, [2.0, 2.0, 2.0], [0, 0, 0])


@pytest.mark.parametrize("accumulate", [np.maximum.accumulate, np.fmax.accumulate])
def test_ties_of_a_running_maximum_share_evenly(accumulate):
    assert_gradient(lambda x: accumulate(x)[2], [2.0, 1.0, 2.0], [0.5, 0, 0.5])
    assert_gradient(lambda x: accumulate(x)[1], [2.0, 1.0, 2.0], [1, 0, 0])
    assert_gradient(lambda x: accumulate(x).sum(), [1.0, 1.0, 3.0], [1.5, 0.5, 1])


@pytest.mark.parametrize("deviation", [np.std, np.nanstd, lambda x: np.sqrt(np.var(x)) ** 2])
def test_std_of_equal_elements_has_gradient_zero(deviation):
    for x in ([2.0, 2.0, 2.0], [5.0]):
        assert_gradient(deviation, x, np.zeros(len(x)))


def test_std_of_equal_elements_stays_flat_at_second_order():
    assert not hessian(np.std, np.array([2.0, 2.0])).any()


def test_one_constant_row_leaves_the_others_alone():
    x = np.array([[1.0, 1.0], [1.0, 3.0]])
    assert_gradient(lambda x: np.std(x, axis=1).sum(), x, [[0, 0], [-0.5, 0.5]])


def test_variance_of_a_large_mean_keeps_its_digits():
    x = 1e8 + np.arange(4.0)
    assert stagrad.compile(np.var)(x) == 1.25
    assert_gradient(np.var, x, [-0.75, -0.25, 0.25, 0.75])
    assert stagrad.compile(np.var)(np.full(7, 0.1)) >= 0


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize(
    "reduce", [np.mean, np.var, np.std, np.median, np.max, np.prod, lambda x: np.cumprod(x)[-1]]
)
def test_single_precision_stays_single(reduce, dtype):
    x = np.array([0.5, 2.0, -1.0], dtype)
    value, slope = stagrad.value_and_grad(lambda x: np.abs(reduce(x)))(x)
    assert value.dtype == np.float32
    assert slope.dtype == dtype


def test_variance_of_complex_numbers_is_real():
    z = np.array([1 + 2j, 3 - 1j])
    value, slope = stagrad.value_and_grad(np.var)(z)
    assert value.dtype == np.float64
    np.testing.assert_allclose(slope, z - z.mean())


@pytest.mark.parametrize(
    ("reduce", "expected"),
    [
        (np.nansum, [1, 0, 1]),
        (np.nanmean, [0.5, 0, 0.5]),
        (np.nanprod, [3, 0, 1]),
        (np.nanmax, [0, 0, 1]),
        (np.nanmin, [1, 0, 0]),
        (np.nanvar, [-1, 0, 1]),
        (np.nanstd, [-0.5, 0, 0.5]),
        (np.nanmedian, [0.5, 0, 0.5]),
        (lambda x: np.nanpercentile(x, 25), [0.75, 0, 0.25]),
        (lambda x: np.nancumsum(x)[-1], [1, 0, 1]),
        (lambda x: np.nancumprod(x)[-1], [3, 0, 1]),
    ],
)
def test_what_is_left_out_as_nan_has_gradient_zero(reduce, expected):
    assert_gradient(reduce, [1.0, NAN, 3.0], expected)


@pytest.mark.parametrize(
    "reduce", [np.nansum, np.nanmean, np.nanmax, np.nanvar, np.nanstd, np.nanmedian, np.nanprod]
)
def test_a_nan_born_inside_does_not_come_back_in_the_gradient(reduce):
    """0/0 at the middle element: the quotient's partials are infinite there."""
    slope = gradient(lambda x: reduce(x * x / x), np.array([1.0, 0.0, 3.0]))
    assert np.isfinite(slope).all()
    assert slope[1] == 0


def test_derivatives_of_a_product_are_products_of_the_others():
    assert_gradient(np.prod, [0.0, 2.0, 3.0], [6, 0, 0])
    assert_gradient(np.prod, [0.0, 2.0, 0.0], [0, 0, 0])
    assert_gradient(np.prod, [0.0], [1])
    np.testing.assert_array_equal(
        hessian(np.prod, np.array([0.0, 2.0, 0.0])), [[0, 0, 2], [0, 0, 0], [2, 0, 0]]
    )


def test_third_derivatives_of_a_product_survive_zeros():
    third = stagrad.jacobian(stagrad.hessian(np.prod))(np.zeros(3))
    expected = np.zeros((3, 3, 3))
    for place in np.ndindex(3, 3, 3):
        expected[place] = len(set(place)) == 3
    np.testing.assert_array_equal(third, expected)


def test_derivatives_of_a_running_product_hold_no_division():
    assert_gradient(lambda x: np.cumprod(x).sum(), [2.0, 0.0, 3.0], [1, 8, 0])
    assert_gradient(lambda x: np.cumprod(x)[2], [0.0, 2.0, 0.0], [0, 0, 0])
    np.testing.assert_array_equal(
        hessian(lambda x: np.cumprod(x)[2], np.array([0.0, 2.0, 0.0])),
        [[0, 0, 2], [0, 0, 0], [2, 0, 0]],
    )


@pytest.mark.parametrize(
    "function",
    [np.sum, np.prod, np.cumsum, np.cumprod, np.sort, np.diff, np.nansum, np.maximum.accumulate],
)
@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_gradients_of_nothing_are_empty(function, shape):
    slope = gradient(lambda x: np.sum(function(x)), np.zeros(shape))
    assert slope.shape == shape


def test_a_product_over_an_empty_axis_has_an_empty_gradient():
    slope = gradient(lambda x: np.prod(x, axis=1).sum(), np.zeros((2, 0, 3)))
    assert slope.shape == (2, 0, 3)


@pytest.mark.parametrize("reduce", [np.max, np.min, np.amax, np.ptp, np.argmax, np.argmin])
def test_no_extreme_of_nothing(reduce):
    with pytest.raises(ValueError, match=r"zero-size|empty sequence"):
        stagrad.compile(reduce)(np.zeros(0))


def test_float32_sums_are_as_accurate_as_numpys():
    x = np.full(10**6, 0.1, np.float32)
    assert abs(stagrad.compile(np.sum)(x) - 1e5) < 1
    assert abs(stagrad.compile(lambda x: np.sum(x * 1))(x) - 1e5) < 1


def test_equal_elements_sort_in_a_stable_order():
    weights = np.array([1.0, 10.0, 100.0])
    for sort in (np.sort, lambda x: np.partition(x, 1)):
        assert_gradient(lambda x, sort=sort: sort(x) @ weights, [2.0, 1.0, 1.0], [100, 1, 10])
    assert_gradient(
        lambda x: x[np.argsort(x, stable=True)] @ weights, [1.0, 1.0, 0.0], [10, 100, 1]
    )


def test_many_equal_elements_sort_in_a_stable_order():
    x, weights = np.repeat([1.0, 0.0], 100), np.arange(200.0)
    assert_gradient(lambda x: np.sort(x) @ weights, x, np.roll(weights, 100))


def test_sorting_signed_zeros_and_nan():
    weights = np.array([1.0, 10.0, 100.0])
    assert_gradient(lambda x: np.sort(x) @ weights, [0.0, -0.0, -1.0], [10, 100, 1])
    assert_gradient(lambda x: np.sort(x)[:2] @ weights[:2], [NAN, 2.0, 1.0], [0, 10, 1])


def test_median_of_an_even_number_is_the_mean_of_the_two_middle():
    assert_gradient(np.median, [4.0, 1.0, 3.0, 2.0], [0, 0, 0.5, 0.5])


def test_median_of_ties_is_the_one_in_the_middle():
    assert_gradient(np.median, [2.0, 2.0, 2.0], [0, 1, 0])
    assert_gradient(np.median, [2.0, 2.0, 1.0, 2.0, 5.0], [0, 1, 0, 0, 0])


def test_quantiles_between_two_elements_share_by_distance():
    assert_gradient(lambda x: np.quantile(x, 0.1), [3.0, 1.0, 2.0], [0, 0.8, 0.2])
    assert_gradient(lambda x: np.percentile(x, 25, method="nearest"), [3.0, 1.0, 2.0], [0, 1, 0])


def test_the_slope_in_the_level_of_a_quantile_is_the_distance_of_its_neighbours():
    slope = gradient(lambda q: np.quantile(np.array([3.0, 1.0, 7.0]), q), 0.25)
    assert slope == 4.0


def test_a_level_out_of_range_gives_nan():
    quantile = stagrad.compile(lambda q: np.quantile(np.array([3.0, 1.0]), q))
    assert np.isnan(quantile(1.5))
    with pytest.raises(ValueError, match=r"range \[0, 1\]"):
        stagrad.compile(lambda x: np.quantile(x, 1.5))(np.ones(3))


@pytest.mark.parametrize("reduce", [np.logaddexp.reduce, lambda x: np.logaddexp.accumulate(x)[-1]])
def test_logaddexp_of_nothing_but_minus_infinity_has_gradient_zero(reduce):
    assert_gradient(reduce, [-INF, -INF], [0, 0])
    assert_gradient(reduce, [-INF, 1.0], [0, 1])
    assert_gradient(reduce, [INF, 1.0], [1, 0])


def test_hypot_of_zeros_has_gradient_zero():
    assert_gradient(np.hypot.reduce, [0.0, 0.0], [0, 0])
    assert_gradient(np.hypot.reduce, [3e200, 4e200], [0.6, 0.8])


def test_counts_do_not_vary():
    x = np.array([0.2, 0.7, 0.9])
    assert not gradient(lambda x: np.histogram(x, 2, range=(0, 1))[0].sum() * 1.0, x).any()
    assert not gradient(lambda x: np.count_nonzero(x > 0.5) * x[0] * 0, x).any()


def test_the_slope_at_a_point_of_a_table_is_that_to_its_right_and_at_its_end_to_its_left():
    points, values = np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 8.0])
    slope = gradient(lambda x: np.interp(x, points, values).sum(), np.array([0.0, 1.0, 3.0, 4.0]))
    np.testing.assert_array_equal(slope, [2, 3, 3, 0])
