"""Affine positions against NumPy's own indexing."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stagrad.codegen.expression import Text
from stagrad.codegen.values import Array, is_aligned, loaded
from stagrad.ir import Along, Graph
from stagrad.passes.access import accesses
from tests.passes.programs import graph_of


def read(array: np.ndarray, index: Any, space: tuple[int, ...]) -> np.ndarray:
    """Return what an index reads at every point of a space."""
    result = np.empty(space, array.dtype)
    for point in np.ndindex(space):
        place = tuple(
            entry.start + entry.step * point[entry.axis] if isinstance(entry, Along) else entry
            for entry in index
        )
        result[point] = array[place]
    return result


@st.composite
def views(draw: st.DrawFn) -> Any:
    """Draw a chain of slices, transposes, new axes and broadcasts as a function of an array."""
    steps = []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["slice", "transpose", "new axis", "broadcast"]))
        steps.append((kind, draw(st.integers(0, 1000))))

    def apply(x: Any) -> Any:
        for kind, seed in steps:
            generator = np.random.default_rng(seed)
            if kind == "slice" and x.ndim:
                entries: list[Any] = [slice(None)] * x.ndim
                axis = int(generator.integers(x.ndim))
                entries[axis] = [slice(None, None, -1), slice(1, None), 0, slice(None, None, 2)][
                    int(generator.integers(4))
                ]
                if x.shape[axis] > 1:
                    x = x[tuple(entries)]
            elif kind == "transpose":
                x = np.transpose(x, tuple(int(axis) for axis in generator.permutation(x.ndim)))
            elif kind == "new axis":
                x = np.expand_dims(x, int(generator.integers(x.ndim + 1)))
            else:
                x = np.broadcast_to(x, (2, *x.shape))
        return x

    return apply


@given(views(), st.sampled_from([(3,), (2, 3), (4, 2, 3)]))
def test_a_chain_of_views_is_read_through(view: Any, shape: tuple[int, ...]) -> None:
    aval = f"f64[{','.join(map(str, shape))}]"
    graph: Graph = graph_of(lambda x: view(x), aval)
    access = accesses(graph)[graph.outputs[0]]
    assert access.base is graph.inputs[0]
    x = np.arange(float(np.prod(shape))).reshape(shape)
    np.testing.assert_array_equal(read(x, access.index, view(x).shape), view(x))


@given(views(), st.sampled_from([(3,), (2, 3), (4, 2, 3)]))
def test_the_text_of_a_load_reads_the_same(view: Any, shape: tuple[int, ...]) -> None:
    x = np.arange(float(np.prod(shape))).reshape(shape)
    aval = f"f64[{','.join(map(str, shape))}]"
    graph = graph_of(lambda x: view(x), aval)
    space = graph.outputs[0].aval.shape
    index = accesses(graph)[graph.outputs[0]].index
    array: Array = loaded(Text("x"), index, shape, space).aligned(len(space))
    assert is_aligned(array.dims, len(space))
    value = eval(array.text.text, {"x": x, "np": np})
    np.testing.assert_array_equal(np.broadcast_to(value, space), view(x))
