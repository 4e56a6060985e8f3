"""The checkers themselves: they pass what is right and catch every kind of wrong rule."""

import numpy as np
import pytest

from stagrad.ir import ZERO, Aval, Kind, Primitive, bind
from stagrad.ops.complex import conjugate
from stagrad.ops.define import elementwise
from stagrad.ops.floating import stop_gradient
from stagrad.ops.promote import common_loop, promote
from stagrad.testing import check_grads
from tests.op_cases.compare import assert_same
from tests.op_cases.points import COMPLEX
from tests.op_cases.programs import run, trace

X = np.array([[0.3, -1.2], [0.8, 2.1]])
Z = X + 1j * X[::-1]


def planted(rule, *, py="xp.sin({0})", multiple=False, **fields):
    """Return the function of an operation that is in no table, with this derivative rule."""
    record = Primitive(
        name="planted",
        kind=Kind.ELEMENTWISE,
        doc="Planted.",
        vjps=rule if isinstance(rule, tuple) else (rule,),
        abstract_eval=fields.pop("abstract_eval", lambda avals, params: avals[0]),
        py=py,
        prepare=promote,
        loop=common_loop,
        **fields,
    )
    return lambda *operands: bind(record, *operands)


def right(ct, out, x):
    return ct * np.cos(x)


def test_right_rules_pass():
    check_grads(planted(right), (X,))
    check_grads(lambda x: planted(right)(x) * x[0], (X,), order=3)
    check_grads(planted(right), (Z,))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda ct, out, x: 1.001 * ct * np.cos(x),
        lambda ct, out, x: -ct * np.cos(x),
        lambda ct, out, x: ct * np.where(x > 2, 0.99, 1.0) * np.cos(x),  # one element of four
        lambda ct, out, x: ct * np.cos(x) + 1e-3,
        lambda ct, out, x: ct,
    ],
)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_wrong_first_derivative_is_caught(wrong, mode):
    with pytest.raises(AssertionError, match=f"the derivative of the function: .*{mode}"):
        check_grads(planted(wrong), (X,), order=1, modes=(mode,))


def test_a_zero_rule_that_is_not_zero_is_caught():
    with pytest.raises(AssertionError, match="differences"):
        check_grads(planted(ZERO), (X,), order=1)


def test_a_right_value_of_a_rule_that_cannot_be_differentiated_on_is_caught():
    def detached(ct, out, x):
        return ct * stop_gradient(np.cos(x))

    check_grads(planted(detached), (X,), order=1)
    with pytest.raises(AssertionError, match="derivative of reverse derivative of the function"):
        check_grads(planted(detached), (X,), order=2)


def test_a_wrong_forward_rule_beside_a_right_one_is_caught():
    function = planted(
        right, jvp=lambda primals, tangents, out: 2 * tangents[0] * np.cos(primals[0])
    )
    check_grads(function, (X,), order=1, modes=("reverse",))
    with pytest.raises(AssertionError, match="forward"):
        check_grads(function, (X,), order=1)


def test_a_missing_conjugate_is_caught():
    check_grads(planted(lambda ct, out, z: conjugate(ct), py="xp.conj({0})"), (Z,))
    with pytest.raises(AssertionError):
        check_grads(planted(lambda ct, out, z: ct, py="xp.conj({0})"), (Z,))
    with pytest.raises(AssertionError):
        check_grads(planted(lambda ct, out, z: conjugate(ct) * np.cos(z)), (Z,))


def test_swapped_operands_are_caught():
    with pytest.raises(AssertionError):
        check_grads(
            planted((lambda ct, out, x, y: ct * x, lambda ct, out, x, y: ct * y), py="{0} * {1}"),
            (X, X + 3),
        )


def test_a_wrong_type_rule_is_caught():
    wrong = planted(right, abstract_eval=lambda avals, params: Aval(avals[0].shape, np.dtype("f4")))
    with pytest.raises(AssertionError, match="its type rule says f32"):
        run(trace(wrong, (X,)), (X,))


def test_trees_and_other_arguments_are_let_through():
    def function(parameters, name, n):
        assert name == "tanh"
        return {"y": np.tanh(parameters["w"] @ parameters["b"]) * n, "n": n}

    check_grads(function, ({"w": X, "b": X[0]}, "tanh", 3))


def test_float32_arguments_are_checked_in_double_precision():
    check_grads(lambda x: np.sin(x) ** 2, (X.astype(np.float32),))


def test_arguments_are_not_changed():
    def writes(x):
        x[0] = 2 * x[0]
        return x * x

    given = X.copy()
    check_grads(writes, (given,))
    np.testing.assert_array_equal(given, X)


def test_modes_and_arguments_are_judged():
    with pytest.raises(ValueError, match=r"modes=.*choose among"):
        check_grads(np.sin, (X,), modes=("backward",))
    with pytest.raises(ValueError, match="no float or complex number"):
        check_grads(np.sin, (3,))


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (np.zeros(2), np.zeros((2, 1))),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.array([0.0]), np.array([-0.0])),
        (np.array([np.nan]), np.array([1.0])),
        (np.array([np.inf]), np.array([-np.inf])),
        (np.array([1.0 + 1e-9]), np.array([1.0])),
        (np.array([complex(1, 0.0)]), np.array([complex(1, -0.0)])),
        ((np.zeros(1),), [np.zeros(1)]),
        (np.array([1]), np.array([2])),
    ],
)
def test_comparison_sees_every_difference(got, want):
    with pytest.raises(AssertionError):
        assert_same(got, want, rtol=1e-12)


def test_comparison_lets_equals_pass():
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0])
    pair = (special, COMPLEX)
    assert_same(pair, tuple(part.copy() for part in pair), rtol=0.0)
    assert_same(np.array([1.0 + 1e-15]), np.array([1.0]), rtol=1e-14)
    assert_same(np.array([0.0]), np.array([-0.0]), rtol=0.0, signs=False)


def test_the_table_rejects_a_name_that_is_taken():
    with pytest.raises(ValueError, match="already defined"):
        elementwise("sin", vjps=(ZERO,), c=None, doc="Sine.")
