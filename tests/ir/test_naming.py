"""Names in emitted text: the user's where there are any, each given once."""

import keyword
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import stagrad
from stagrad.ir.naming import RESERVED, Names


@given(st.lists(st.one_of(st.text(max_size=6), st.sampled_from(sorted(RESERVED)))))
def test_names_are_identifiers_each_given_once(wanted: list[str]) -> None:
    names = Names()
    given_out = [names.take(name) for name in wanted] + [names.generated("v") for _ in range(3)]
    assert len(set(given_out)) == len(given_out)
    assert all(name.isidentifier() and not keyword.iskeyword(name) for name in given_out)
    assert not RESERVED.intersection(given_out)


def test_a_free_name_is_kept() -> None:
    assert [Names().take(name) for name in ("loss", "x0", "_tmp", "λ")] == [
        "loss",
        "x0",
        "_tmp",
        "λ",
    ]


def test_the_last_part_of_a_composition_bears_the_name() -> None:
    def function(x: Any) -> Any:
        spread = np.std(x)
        return spread * x

    source = stagrad.compile(function).lower(np.ones(5)).source
    assert "spread = " in source
    assert "spread_1" not in source


def test_a_variable_assigned_twice_has_two_names() -> None:
    def function(x: Any) -> Any:
        y = np.sin(x)
        y = np.cumsum(y)
        return y * y

    source = stagrad.compile(function).lower(np.ones(5)).source
    assert "y = np.sin(x)" in source
    assert "y_1 = np.cumsum(y" in source


def test_names_that_the_module_needs_are_left_to_it() -> None:
    def function(np_: Any, in_blocks: Any, special: Any, linalg: Any, sum: Any) -> Any:
        stable_expit = 1 / (1 + np.exp(-np_))
        return stable_expit * in_blocks + special * linalg + sum

    arguments = [np.full(3, float(place)) for place in range(5)]
    compiled = stagrad.compile(function)
    np.testing.assert_allclose(compiled(*arguments), function(*arguments))
