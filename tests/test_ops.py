"""Every property that an operation must have, for every row of the table in tests/op_cases."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import stagrad
from stagrad.ir import NOT_DIFFERENTIABLE, PRIMITIVES, ZERO, Graph, Kind, Node, is_inexact
from stagrad.ir.facts import Facts
from stagrad.passes.facts import KnownFacts
from stagrad.passes.reverse import reverse
from stagrad.testing import check_grads
from stagrad.trace.function import Traced
from stagrad.trace.trees import flatten, unflatten
from tests.op_cases import families
from tests.op_cases.case import Case
from tests.op_cases.compare import assert_same
from tests.op_cases.programs import apply_checked, evaluate, run, run_checked, trace

# Rows probe poles, overflow and invalid operations, about which NumPy warns as it should.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

FAMILIES = families()
CASES = [case for cases in FAMILIES.values() for case in cases]
TITLES = {case.name: f"{family}: {case.name}" for family in FAMILIES for case in FAMILIES[family]}


def rows(cases: list[Case]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=lambda case: TITLES[case.name])


def operand_sets(case: Case) -> Iterator[tuple[Any, ...]]:
    """Yield the operands of a row, its edges, and the operands in its further dtypes."""
    yield case.operands
    yield from case.edges
    for dtype in case.dtypes:
        yield cast(case.operands, np.dtype(dtype))


def cast(operands: tuple[Any, ...], dtype: np.dtype) -> tuple[Any, ...]:
    """Convert float and complex leaves to a dtype; complex ones keep their imaginary part."""
    leaves, spec = flatten(operands)
    return unflatten(spec, [_cast_leaf(leaf, dtype) for leaf in leaves])


def _cast_leaf(leaf: Any, dtype: np.dtype) -> Any:
    if not isinstance(leaf, np.ndarray) or leaf.dtype.kind not in "fc":
        return leaf
    if leaf.dtype.kind == "c" and dtype.kind == "f":
        dtype = np.result_type(dtype, np.complex64)
    return leaf.astype(dtype)


def fresh(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return copies, so that a function that writes into its arguments harms nobody."""
    leaves, spec = flatten(operands)
    return unflatten(spec, [leaf.copy() if hasattr(leaf, "copy") else leaf for leaf in leaves])


def plainly(case: Case, operands: tuple[Any, ...]) -> Any:
    with np.errstate(all="ignore"):
        return case.function(*fresh(operands))


def assert_as_numpy(case: Case, got: Any, want: Any) -> None:
    signs = "any zero sign" not in case.tags
    assert_same(got, want, rtol=case.rtol, atol=case.atol, signs=signs)


@rows(CASES)
def test_types_and_values_are_those_of_numpy(case: Case) -> None:
    for operands in operand_sets(case):
        traced = trace(case.function, operands)
        assert_as_numpy(case, run(traced, fresh(operands)), plainly(case, operands))


@rows(CASES)
def test_compiled_source_gives_the_values_of_numpy(case: Case) -> None:
    compiled = stagrad.compile(case.function)
    for operands in operand_sets(case):
        assert_as_numpy(case, compiled(*fresh(operands)), plainly(case, operands))


@rows([case for case in CASES if case.order])
def test_derivatives(case: Case) -> None:
    function, arguments = differentiated(case)
    modes = ("reverse",) if "reverse only" in case.tags else ("forward", "reverse")
    check_grads(function, arguments, order=case.order, modes=modes, rtol=case.grad_rtol)


def differentiated(case: Case, dtype: str = "float64") -> tuple[Any, tuple[Any, ...]]:
    """Return the row's function of its differentiated operands alone, and those operands."""
    operands = fresh(cast(case.operands, np.dtype(dtype)) if dtype != "float64" else case.operands)
    if case.wrt is None:
        places = [
            place
            for place, operand in enumerate(operands)
            if any(np.asarray(leaf).dtype.kind in "fc" for leaf in flatten(operand)[0])
        ]
    else:
        places = list(case.wrt)

    def function(*chosen: Any) -> Any:
        merged = list(operands)
        for place, operand in zip(places, chosen, strict=True):
            merged[place] = operand
        return case.function(*merged)

    return function, tuple(operands[place] for place in places)


@rows([case for case in CASES if case.order and "float64 only" not in case.tags])
def test_float32_gradients_stay_float32(case: Case) -> None:
    """No value of double precision appears in a float32 program unless NumPy itself makes one."""
    function, arguments = differentiated(case, "float32")
    traced = trace(function, arguments)
    graph = traced.graph
    inexact = inexact_arguments(traced)
    adjoint = reverse(graph, inexact)
    before = set(graph.nodes)
    wide = [
        node
        for node in adjoint.nodes
        if node not in before and any(_is_double(aval.dtype) for aval in node.avals)
    ]
    if not any(_is_double(aval.dtype) for node in graph.nodes for aval in node.avals):
        assert not wide
    leaves = [*flatten(arguments)[0], *traced.captures]
    seeds = [
        np.ones(node.aval.shape, node.aval.dtype) for node in graph.outputs if is_inexact(node.aval)
    ]
    results = run_checked(adjoint, [*leaves, *seeds])
    for place, gradient in zip(inexact, results[len(graph.outputs) :], strict=True):
        assert gradient.dtype == graph.inputs[place].aval.dtype
        assert gradient.shape == graph.inputs[place].aval.shape


def inexact_arguments(traced: Traced) -> list[int]:
    """Return the positions of the arguments, not of the captures, that carry derivatives."""
    inputs = traced.graph.inputs[: len(traced.graph.inputs) - len(traced.captures)]
    return [place for place, node in enumerate(inputs) if is_inexact(node.aval)]


def _is_double(dtype: np.dtype) -> bool:
    return dtype in (np.float64, np.complex128)


def rules(node: Node) -> tuple[Any, ...]:
    """Return one rule per operand; an operation with any number of operands states no ZERO."""
    return node.primitive.vjps if isinstance(node.primitive.vjps, tuple) else ()


@rows([case for case in CASES if "zero by decree" not in case.tags])
def test_a_zero_rule_stands_where_nothing_changes(case: Case) -> None:
    """Small changes of an operand whose rule is ZERO leave the result as it is, bit for bit."""
    traced = trace(case.function, case.operands)
    values = evaluate(traced.graph, [*flatten(fresh(case.operands))[0], *traced.captures])
    rng = np.random.default_rng(0)
    for node in traced.graph.nodes:
        if node.primitive.name not in case.covers:
            continue
        operands = tuple(values[operand] for operand in node.inputs)
        for place, rule in enumerate(rules(node)):
            if rule is not ZERO or operands[place].dtype.kind not in "fc":
                continue
            step = 1e-7 * rng.uniform(-1, 1, operands[place].shape)
            moved = (*operands[:place], operands[place] + step, *operands[place + 1 :])
            with np.errstate(all="ignore"):
                assert_same(apply_checked(node, moved), values[node], rtol=0.0)


@rows([case for case in CASES if case.order])
def test_facts_hold_for_the_values_of_every_node(case: Case) -> None:
    """What lets masks be left out is true of the numbers, forward and backward."""
    function, arguments = differentiated(case)
    traced = trace(function, arguments)
    graph = reverse(traced.graph, inexact_arguments(traced))
    seeds = (np.ones(node.aval.shape, node.aval.dtype) for node in graph.inputs)
    leaves = [*flatten(arguments)[0], *traced.captures]
    values = evaluate(graph, [*leaves, *list(seeds)[len(leaves) :]])
    known = KnownFacts()
    for node in graph.nodes:
        if not node.primitive.multiple:
            assert_facts(known.of(node), values[node], node.primitive.name)


def assert_facts(facts: Facts, value: Any, name: str) -> None:
    assert not facts.finite or np.isfinite(value).all(), f"{name} is not finite"
    assert not facts.nonnegative or not (value < 0).any(), f"{name} is negative"
    assert not facts.nonpositive or not (value > 0).any(), f"{name} is positive"
    assert not facts.nonzero or not (value == 0).any(), f"{name} is zero"


def test_no_two_rows_have_one_name() -> None:
    counts = Counter(case.name for case in CASES)
    assert not [name for name, count in counts.items() if count > 1]


def test_every_primitive_has_a_row() -> None:
    covered = {name for case in CASES for name in case.covers}
    leaves = {name for name, record in PRIMITIVES.items() if record.kind is Kind.LEAF}
    assert not covered - set(PRIMITIVES), "rows cover what is no primitive"
    assert not set(PRIMITIVES) - covered - leaves, "primitives without a row"


@rows([case for case in CASES if case.covers])
def test_a_row_reaches_the_primitives_it_covers(case: Case) -> None:
    if case.order:
        traced = trace(*differentiated(case))
        graph = reverse(traced.graph, inexact_arguments(traced))
    else:
        graph = trace(case.function, case.operands).graph
    assert set(case.covers) <= set(names(graph))


def names(graph: Graph) -> Iterator[str]:
    """Yield the names of the primitives of a graph and of the graphs inside it."""
    for node in graph.nodes:
        yield node.primitive.name
        for value in node.params.values():
            if isinstance(value, Graph):
                yield from names(value)


@pytest.mark.parametrize("record", PRIMITIVES.values(), ids=lambda record: record.name)
def test_every_record_is_complete(record: Any) -> None:
    assert record.doc.endswith(".")
    assert set(record.dtypes) <= set("biufc")
    if isinstance(record.vjps, tuple):
        assert all(rule in (ZERO, NOT_DIFFERENTIABLE) or callable(rule) for rule in record.vjps)
    else:
        assert callable(record.vjps)
