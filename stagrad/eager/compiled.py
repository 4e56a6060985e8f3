"""The node that a compiled function leaves on the tape."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import optree

from stagrad.eager import tape
from stagrad.eager.node import Edge, Node, freed_error, take_order
from stagrad.eager.tape import Version, as_cotangent, fit, make_tensor
from stagrad.ops.complex import conjugate

Run = Callable[[Any, Sequence[Any], bool], Sequence[Any]]


class CompiledNode(Node):
    """A call of a compiled function.

    - run_compiled: from the cotangents of the results, the operands, and whether to record, to the
      cotangents of all operands.
    - output_spec, likes: the structure of the result, and its leaves.
    """

    label = "CompiledBackward0"
    output_spec: Any
    likes: Sequence[np.ndarray]

    def __init__(
        self, run_compiled: Run, operands: Sequence[Any], edges: Sequence[Edge | None]
    ) -> None:
        self._run: Run | None = run_compiled
        self._places = [place for place, edge in enumerate(edges) if edge is not None]
        self._all_edges = edges
        self.edges = [edge for edge in edges if edge is not None]
        self._held = [
            operand._array if isinstance(operand, tape.tensor_type) else operand
            for operand in operands
        ]
        self._versions: list[tuple[Version, int]] = [
            (operand._counter, operand._counter[0])
            for operand in operands
            if isinstance(operand, tape.tensor_type)
        ]
        self.order = take_order()

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each operand the node that made it and which of its results it is."""
        return tuple((None, 0) if edge is None else edge for edge in self._all_edges)

    def free(self) -> None:
        """Forget the operands and what the forward half had kept."""
        self._run = None
        self._held = []
        self._versions = []

    def run(self, cotangent: Any, record: bool) -> Sequence[Any]:
        """Run the compiled backward function."""
        if self._run is None:
            raise freed_error(self)
        for version, count in self._versions:
            if version[0] != count:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an "
                    f"inplace operation: an argument of the function behind {self.label} is at "
                    f"version {version[0]}; expected version {count} instead."
                )
        parts = cotangent if self.outputs != 1 else [cotangent]
        seeds = [
            np.zeros(like.shape, like.dtype) if part is None else _turned(part, record)
            for part, like in zip(parts, self.likes, strict=True)
        ]
        held = self._held
        if record:
            held = [
                value if edge is None else make_tensor(value, edge)
                for value, edge in zip(held, self._all_edges, strict=True)
            ]
        tree = optree.tree_unflatten(self.output_spec, seeds)
        found = self._run(tree, held, record)
        results = []
        for place in self._places:
            gradient, like = found[place], self._held[place]
            if gradient is not None:
                gradient = fit(_turned(gradient, record), like.shape, like.dtype)
            results.append(gradient)
        return results


def _turned(value: Any, record: bool) -> Any:
    """Pass between the tape, where cotangents pair bilinearly, and compiled functions."""
    value = as_cotangent(value) if record else np.asarray(value)
    return conjugate(value) if value.dtype.kind == "c" else value
