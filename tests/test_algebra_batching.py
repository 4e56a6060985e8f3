"""The batchers of contractions, linear algebra, transforms and random words, against loops."""

import itertools
from typing import Any

import numpy as np
import pytest

from stagrad.ir import PRIMITIVES, Node
from stagrad.passes.reverse import reverse
from stagrad.trace.trees import flatten
from tests.op_cases import contraction, convolution, fft, linalg, random, scipy_linalg, spectra
from tests.op_cases.programs import evaluate, trace

FAMILIES = (contraction, convolution, fft, linalg, random, scipy_linalg, spectra)
ROWS = {name: case for family in FAMILIES for case in family.CASES for name in case.covers}
SCALES = (1.0, 2.0, 0.5)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def example(name: str) -> tuple[Node, tuple[np.ndarray, ...]]:
    """Return a node of a primitive in the row that covers it, or in its gradient, and operands."""
    case = ROWS[name]
    traced = trace(case.function, case.operands)
    graph, arguments = traced.graph, [*flatten(case.operands)[0], *traced.captures]
    if not any(node.primitive.name == name for node in graph.nodes):
        places = [place for place, node in enumerate(graph.inputs) if node.aval.dtype.kind in "fc"]
        graph = reverse(graph, places)
        seeds = graph.inputs[len(arguments) :]
        arguments += [np.ones(seed.aval.shape, seed.aval.dtype) for seed in seeds]
    values = evaluate(graph, [np.array(argument) for argument in arguments])
    node = next(node for node in graph.nodes if node.primitive.name == name)
    return node, tuple(np.asarray(values[operand]) for operand in node.inputs)


def stacked(operand: np.ndarray) -> np.ndarray:
    """Return operands of a batch: multiples, which keep what a matrix is (positive, regular)."""
    if operand.dtype.kind not in "fc":
        return np.stack([operand] * len(SCALES))
    return np.stack([(operand * scale).astype(operand.dtype) for scale in SCALES])


def parts(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_batcher_does_to_a_batch_what_the_operation_does_to_each(name: str) -> None:
    node, operands = example(name)
    record = PRIMITIVES[name]
    assert record.batcher is not None
    for batched in itertools.product([False, True], repeat=len(operands)):
        if not any(batched):
            continue
        whole = tuple(
            stacked(operand) if is_batched else operand
            for operand, is_batched in zip(operands, batched, strict=True)
        )
        got = parts(record.batcher(len(SCALES), batched, whole, **node.params))
        for place in range(len(SCALES)):
            element = tuple(
                operand[place] if is_batched else operand
                for operand, is_batched in zip(whole, batched, strict=True)
            )
            for ours, want in zip(got, parts(record.evaluate(element, node.params)), strict=True):
                np.testing.assert_allclose(ours[place], want, rtol=1e-9, atol=1e-11)
