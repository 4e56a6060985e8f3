"""Random programs over the table of operations, for hypothesis to draw and to shrink."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from stagrad.errors import StagradError
from stagrad.ir import PRIMITIVES, Aval, Graph, Kind, Primitive, bind
from stagrad.trace import Trace, Tracer

ELEMENTWISE: tuple[Primitive, ...] = tuple(
    record
    for record in PRIMITIVES.values()
    if record.kind is Kind.ELEMENTWISE
    and isinstance(record.vjps, tuple)
    and record.prepare is not None
    and isinstance(record.py, str)
    and re.search(r"special\.|\{(?!args\b)[a-z]", record.py) is None
)
"""The elementwise operations without params, but for SciPy's, whose domains few numbers are in."""

REDUCTIONS = ("sum", "max", "min", "prod", "any", "all", "argmax")
DTYPES = tuple(map(np.dtype, ("f8", "f8", "f4", "i8", "?", "c16")))
EXTENTS = (0, 1, 2, 3, 3, 4)
MAXIMUM_SIZE = 200


@dataclass
class Program:
    """A graph with arrays to run it on."""

    graph: Graph
    arguments: list[np.ndarray]

    def __repr__(self) -> str:
        return f"{self.graph}\non {self.arguments}"


def _shape(draw: st.DrawFn, extents: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(draw(st.lists(st.sampled_from(extents), max_size=3)))


def _array(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    generator = np.random.default_rng(draw(st.integers(0, 2**20)))
    values = generator.normal(size=shape) * 2
    if dtype.kind == "c":
        values = values + 1j * generator.normal(size=shape)
    return np.asarray(values).astype(dtype)


def _elementwise(draw: st.DrawFn, values: list[Tracer]) -> Any:
    record = draw(st.sampled_from(ELEMENTWISE))
    assert isinstance(record.vjps, tuple)
    operands: list[Any] = [draw(st.sampled_from(values)) for _ in record.vjps]
    if len(operands) > 1 and draw(st.booleans()):
        operands[-1] = draw(st.sampled_from([0.5, 2.0, 1.0, -1.0, 3]))
    if record.name == "power" and operands[0].dtype.kind in "iu":
        raise ValueError("NumPy refuses integers to negative powers, which depends on the numbers")
    return bind(record, *operands)


def _reduction(draw: st.DrawFn, values: list[Tracer]) -> Any:
    x = draw(st.sampled_from(values))
    axes = draw(st.sets(st.sampled_from(range(x.ndim)), min_size=1)) if x.ndim else set()
    axis = tuple(sorted(axes)) if draw(st.booleans()) else None
    name = draw(st.sampled_from(REDUCTIONS))
    if name == "argmax":
        axis = axis[0] if axis else None  # type: ignore[assignment]
    return getattr(np, name)(x, axis=axis, keepdims=draw(st.booleans()))


def _centred(draw: st.DrawFn, values: list[Tracer]) -> Any:
    """A value less, or over, what it was reduced to: the shape of a normalisation."""
    x = draw(st.sampled_from(values))
    axis = draw(st.sampled_from([*range(x.ndim), None]))
    reduced = getattr(np, draw(st.sampled_from(["sum", "max", "mean"])))(
        x, axis=axis, keepdims=True
    )
    return x - reduced if draw(st.booleans()) else x / (reduced + 2.0)


def _movement(draw: st.DrawFn, values: list[Tracer]) -> Any:
    x = draw(st.sampled_from(values))
    kind = draw(st.sampled_from(["reshape", "transpose", "broadcast", "flip", "expand", "ravel"]))
    if kind == "reshape":
        return np.reshape(x, draw(st.permutations(x.shape)))
    if kind == "transpose":
        return np.transpose(x, draw(st.permutations(range(x.ndim))))
    if kind == "broadcast":
        return np.broadcast_to(x, (draw(st.integers(0, 3)), *x.shape))
    if kind == "flip":
        return np.flip(x, draw(st.sampled_from([None, *range(x.ndim)])))
    return np.expand_dims(x, draw(st.integers(0, x.ndim))) if kind == "expand" else np.ravel(x)


def _indexing(draw: st.DrawFn, values: list[Tracer]) -> Any:
    x = draw(st.sampled_from(values))
    axis = draw(st.integers(0, max(x.ndim - 1, 0)))
    if not x.ndim or not x.shape[axis]:
        return x * 1
    entries: list[Any] = [slice(None)] * x.ndim
    entries[axis] = draw(
        st.sampled_from(
            [
                0,
                -1,
                slice(1, None),
                slice(None, None, -1),
                slice(None, None, 2),
                np.array([0, 0, -1]),
            ]
        )
    )
    index = tuple(entries)
    if draw(st.booleans()):
        return x[index]
    written = np.copy(x)
    written[index] = draw(st.sampled_from([written[index] * 2, x[index] + x[index], 0]))
    return written


def _library(draw: st.DrawFn, values: list[Tracer]) -> Any:
    x = draw(st.sampled_from(values))
    kind = draw(st.sampled_from(["matmul", "cumsum", "sort", "concatenate", "pad"]))
    if kind == "matmul":
        return x @ np.swapaxes(x, -1, -2) if x.ndim > 1 else np.dot(x, x)
    if kind == "concatenate":
        return np.concatenate([x, x + x], axis=-1)
    if kind == "pad":
        return np.pad(x, 1)
    return getattr(np, kind)(x, axis=-1)


STEPS: tuple[Callable[[st.DrawFn, list[Tracer]], Any], ...] = (
    _elementwise, _elementwise, _elementwise, _reduction, _centred, _movement, _indexing, _library,
)  # fmt: skip


@st.composite
def programs(
    draw: st.DrawFn,
    dtypes: tuple[np.dtype, ...] = DTYPES,
    extents: tuple[int, ...] = EXTENTS,
    maximum_size: int = MAXIMUM_SIZE,
) -> Program:
    """Draw a program of up to a dozen operations on arrays of up to three axes."""
    arguments = [
        _array(draw, _shape(draw, extents), draw(st.sampled_from(dtypes)))
        for _ in range(draw(st.integers(1, 3)))
    ]
    with Trace() as trace:
        inputs = [
            trace.input(Aval(array.shape, array.dtype), f"x{place}")
            for place, array in enumerate(arguments)
        ]
        values = list(inputs)
        for _ in range(draw(st.integers(1, 12))):
            step = draw(st.sampled_from(STEPS))
            try:
                result = step(draw, values)
            except (StagradError, ValueError, TypeError):
                continue  # no operation for these dtypes or shapes
            if isinstance(result, Tracer) and result.size <= maximum_size:
                values.append(result)
        chosen = draw(st.lists(st.sampled_from(values), min_size=1, max_size=3))
        outputs = [values[-1].node, *(value.node for value in chosen)]
    given = [item.node for item in inputs] + [node for node, _ in trace.captures]
    arguments += [np.asarray(value) for _, value in trace.captures]
    return Program(trace.builder.graph(given, outputs), arguments)
