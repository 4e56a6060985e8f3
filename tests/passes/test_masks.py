"""Masks of derivative rules stay where a partial derivative can be infinite, and only there."""

import numpy as np
import pytest
from scipy import special

import stagrad
from stagrad.ir import PRIMITIVES
from stagrad.ops import arithmetic
from stagrad.ops.exponential import softplus
from stagrad.ops.floating import stop_gradient
from stagrad.ops.selection import relu
from stagrad.passes.masks import settle_masks
from stagrad.passes.reverse import reverse
from tests.op_cases.programs import trace

X = np.linspace(0.5, 2.0, 4)
MASKED = {"masked_multiply", "masked_divide", "masked_product"}


def selections(function):
    """Return how many selections the transpose of a function's derivative has."""
    joint = reverse(trace(function, (X,)).graph, [0])
    names = [node.primitive.name for node in settle_masks(joint).nodes]
    assert not MASKED & set(names)
    return names.count("where")


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * x,
        lambda x: np.sin(x) * np.cos(3 * x) ** 2,
        lambda x: np.tanh(x) * special.expit(x),
        lambda x: x / 3 + x / (1 + x**2),
        lambda x: np.tanh(x) * np.exp(-(x**2)),
        lambda x: np.exp(-np.abs(x)) * special.erf(x),
        lambda x: softplus(x) * x,
        lambda x: np.log(1 + x**2) * np.arctan(x),
        lambda x: np.sqrt(1 + x * x) * x,
        lambda x: np.exp(x - stop_gradient(np.max(x))) * x,
        lambda x: x**3 + 2 * x**4,
        lambda x: np.mean((x[1:] - x[:-1]) ** 2),
        lambda x: (np.outer(x, x) @ x) * x,
    ],
)
def test_nothing_is_selected_where_partials_are_finite(function):
    assert selections(function) == 0


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * np.log(x),
        lambda x: 1 / x,
        np.sqrt,
        np.exp,
        lambda x: np.sin(1 / x),
        lambda x: x**-2,
        lambda x: np.sqrt(np.sum(x)),
        np.arcsin,
        special.gammaln,
    ],
)
def test_a_mask_stays_where_a_partial_can_be_infinite(function):
    assert selections(function) > 0


def test_a_cotangent_that_is_never_zero_needs_no_mask():
    gradient = stagrad.grad(lambda x: np.log(x))
    assert "where" not in gradient.lower(np.float64(2.0)).source


def test_the_backward_half_of_vjp_keeps_the_masks_it_needs():
    """What the backward half takes in can be infinite, though it is an input there."""
    _, pull = stagrad.vjp(lambda x: np.where(x > 0, x * np.log(x), 0), np.array([0.0, 1.0]))
    np.testing.assert_array_equal(pull(np.ones(2))[0], [0, 1])
    _, pull = stagrad.vjp(np.log, np.array([0.0, 1.0]))
    np.testing.assert_array_equal(pull(np.array([0.0, 2.0]))[0], [0, 2])


def test_a_named_relu_selects_once():
    assert selections(relu) == 1


@pytest.mark.parametrize("name", sorted(MASKED))
@pytest.mark.parametrize("awkward", [0.0, np.inf, np.nan])
def test_masked_operations_on_plain_arrays(name, awkward):
    """Large arrays take a shorter way, to the same numbers."""
    x, y = np.linspace(0.5, 2.0, 2000), np.linspace(1.0, 3.0, 2000)
    x[:3] = 0.0
    y[1:5] = awkward
    with np.errstate(all="ignore"):
        want = PRIMITIVES[name].evaluate((x, y), {})
    np.testing.assert_array_equal(getattr(arithmetic, name)(x, y), want)


def test_every_masked_operation_is_known_to_the_pass():
    from stagrad.passes import masks

    assert {PRIMITIVES[name] for name in MASKED} == set(masks._PLAIN) == set(masks._SELECTED)


def test_python_scalars_stay_weak_where_masks_become_selections():
    for function, point in ((np.angle, 0.7), (np.angle, 0.7 + 0.2j), (np.arctan2, 0.3)):

        def f(x, function=function):
            value = function(x, 2.0 * x) if function is np.arctan2 else function(x)
            return np.real(value * 1.0)

        slope = stagrad.grad(f)
        second = stagrad.grad(lambda x, slope=slope: np.real(slope(x)))
        np.testing.assert_allclose(second(point), second(np.asarray(point)), rtol=1e-12)
