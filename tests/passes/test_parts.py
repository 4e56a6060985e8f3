"""Reading parts of arrays that were written in parts, against NumPy's own indexing."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import stagrad
from stagrad.ir import interpret
from stagrad.ops.slicing import add_slice, region_shape, set_slice, slice, span
from stagrad.passes.parts import are_disjoint, within
from stagrad.passes.simplify import simplify
from tests.passes.programs import graph_of

SHAPE = (5, 4)


def entries(extent: int) -> st.SearchStrategy[Any]:
    ranges = st.tuples(
        st.integers(0, extent - 1), st.integers(-1, extent), st.sampled_from([1, 2, 3, -1, -2])
    )
    return st.one_of(
        st.none(), st.integers(0, extent - 1), ranges.map(lambda entry: span(*entry, extent))
    )


regions = st.tuples(*map(entries, SHAPE))


def elements(region: Any, shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    """Return the flat places of the elements of a region."""
    places = np.arange(int(np.prod(shape))).reshape(shape)
    for axis, entry in reversed(list(enumerate(region))):
        if entry is not None:
            chosen = entry if isinstance(entry, int) else list(range(*entry))
            places = np.take(places, np.asarray(chosen, int), axis)
    return places


@given(regions, regions)
def test_disjoint_regions_share_nothing(first: Any, second: Any) -> None:
    if are_disjoint(first, second, SHAPE):
        assert not np.intersect1d(elements(first), elements(second)).size


@given(regions, regions)
def test_a_region_within_another_is_found_there(inner: Any, outer: Any) -> None:
    found = within(inner, outer, SHAPE)
    if found is not None:
        taken = elements(outer)
        positions = elements(found, taken.shape)
        np.testing.assert_array_equal(taken.reshape(-1)[positions], elements(inner))
    if inner == outer:
        assert found is not None or not elements(inner).size


writes = st.lists(st.tuples(st.sampled_from([set_slice, add_slice]), regions), max_size=5)


@given(writes, regions)
def test_reads_give_what_was_written(writes: Any, region: Any) -> None:
    def program(x: Any, y: Any) -> Any:
        for write, place in writes:
            value = slice(y, tuple(_first(e, n) for e, n in zip(place, SHAPE, strict=True)))
            x = write(x, value * 2.0, place)
        return slice(x, region)

    def _first(entry: Any, extent: int) -> Any:
        """A part of `y` of the shape of a region."""
        if entry is None or isinstance(entry, int):
            return entry
        return span(0, len(range(*entry)), 1, extent)

    graph = graph_of(program, "f64[5,4]", "f64[5,4]")
    arguments = [np.arange(20.0).reshape(SHAPE), -np.arange(20.0).reshape(SHAPE)]
    after = simplify(graph)
    np.testing.assert_array_equal(interpret(after, arguments)[0], interpret(graph, arguments)[0])
    assert after.outputs[0].aval.shape == region_shape(region, SHAPE)


def test_a_recurrence_reads_scalars() -> None:
    def recurrence(x: Any) -> Any:
        y = np.zeros(6)
        y[0] = 1.0
        for place in range(1, 6):
            y[place] = y[place - 1] * x[place]
        return y

    graph = stagrad.compile(recurrence).lower(np.ones(6)).stages["simplify"]
    read = {node.inputs[0] for node in graph.nodes if node.primitive.name == "slice"}
    assert read <= set(graph.inputs)


def test_far_writes_are_passed_without_end() -> None:
    def many(x: Any) -> Any:
        y = np.zeros(200)
        for place in range(200):
            y[place] = x[place]
        return y[0] + y[199] + y[100]

    x = np.arange(200.0)
    assert stagrad.compile(many)(x) == 299.0
