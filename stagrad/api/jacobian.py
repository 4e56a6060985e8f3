"""The programs of Jacobians: one pass for each row or column, all of them in one batch."""

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stagrad.api.differentiate import placed, slots, wanted_inputs, with_constant_outputs
from stagrad.api.function import CompiledFunction, Run
from stagrad.api.lowering import lower_program
from stagrad.api.outputs import Outputs
from stagrad.api.program import Program
from stagrad.api.signature import Parameters, Signature
from stagrad.ir import Aval, Graph, aval_of
from stagrad.ops.arithmetic import equal
from stagrad.ops.movement import astype, constant, reshape, transpose, zeros
from stagrad.ops.slicing import slice as slice_
from stagrad.ops.slicing import span, whole
from stagrad.passes.batch import batch, batched_nodes
from stagrad.passes.forward import forward
from stagrad.passes.masks import settle_masks
from stagrad.passes.recognize import recognize
from stagrad.passes.reverse import reverse
from stagrad.passes.split import split
from stagrad.trace import StaticLeaf, Trace, Traced, replay, unflatten

MODES = ("auto", "forward", "reverse")

CHUNK_BYTES = 1 << 24
"""Largest array of many passes together; where one would be larger, the passes come in chunks.

Passes together are one program, which knows that their seeds are the identity matrix.
"""


class JacobianFunction(CompiledFunction):
    """What `jacobian` returns: compiled at its first call with given shapes and dtypes."""

    def __init__(self, function: Callable[..., Any], argnums: Any, mode: str) -> None:
        super().__init__(
            function, self._program_of, parameters=Parameters(function), prefix="jacobian"
        )
        self._argnums = argnums
        self._mode = mode

    def _bind(self, instance: Any) -> "JacobianFunction":
        return JacobianFunction(self._function.__get__(instance), self._argnums, self._mode)

    def _program_of(self, traced: Traced, signature: Signature, parameters: Parameters) -> Program:
        tree = self._arranged(with_constant_outputs(traced), signature)
        sweep = self._sweep(traced, signature)
        with Trace(located=False) as trace:
            inputs = [trace.input(node.aval, node.name) for node in sweep.traced.graph.inputs]
            numbers = constant(np.arange(sweep.passes), like=trace.lift(0))
            passes = batch(sweep.graph, sweep.passes, sweep.seed_places)
            outputs = replay(trace, passes, [*inputs, *sweep.unit_seeds(numbers)])
            blocks = sweep.blocks(outputs[len(sweep.traced.graph.outputs) :], like=numbers)
            graph = Graph([value.node for value in inputs], [block.node for block in blocks])
        return Program(
            graph,
            traced.captures,
            placed(tree),
            traced=traced.graph,
            made_by="batch",
        )

    def _sweep(self, traced: Traced, signature: Signature) -> "_Sweep":
        wanted = wanted_inputs(signature, self._parameters, self._argnums, "jacobian")
        return _Sweep.of(with_constant_outputs(traced), wanted.positions, self._mode)

    def _arranged(self, traced: Traced, signature: Signature) -> Any:
        """Return the tree of the result, its leaves numbered in the order of the blocks."""
        wanted = wanted_inputs(signature, self._parameters, self._argnums, "jacobian")
        count = len(wanted.positions)
        rows = []
        for number, leaf in enumerate(traced.output_leaves):
            if isinstance(leaf, StaticLeaf) and not isinstance(leaf.value, int | np.generic):
                raise TypeError(
                    f"jacobian: {self._parameters.function_name} returns {leaf.value!r}; every "
                    "result must be an array or a number"
                )
            rows.append(wanted.arrange(slots(range(number * count, (number + 1) * count))))
        return unflatten(traced.output_spec, rows)

    def _executable(self, program: Program, traced: Traced, signature: Signature) -> Run:
        if any(node.avals[0].nbytes > CHUNK_BYTES for node in program.graph.nodes):
            chunked = _Chunked(self._sweep(traced, signature), self.label)
            if chunked.length < chunked.sweep.passes:
                return chunked
        return super()._executable(program, traced, signature)


@dataclass(frozen=True)
class _Sweep:
    """The derivative program of one pass, and how all passes make up the Jacobian.

    - graph: made of the traced function's graph by `forward` or `reverse`.
    - inputs, outputs: avals of what is differentiated, and of the results that have a derivative.
    - leaves: the aval of every result, and its place among `outputs`, None without a derivative.
    """

    traced: Traced
    graph: Graph
    inputs: tuple[Aval, ...]
    outputs: tuple[Aval, ...]
    leaves: tuple[tuple[Aval, int | None], ...]
    is_forward: bool

    @classmethod
    def of(cls, traced: Traced, wrt: Sequence[int], mode: str) -> "_Sweep":
        """Return the sweep of a traced function with respect to some of its inputs."""
        results = Outputs(traced)
        inputs = tuple(traced.graph.inputs[position].aval for position in wrt)
        outputs = tuple(results.avals[place] for place in results.places)
        leaves = tuple(
            (results.avals[leaf], results.places.index(leaf) if leaf in results.places else None)
            if isinstance(leaf, int)
            else (aval_of(leaf.value), None)
            for leaf in results.leaves
        )
        is_forward = _chosen(mode, inputs, outputs) == "forward"
        differentiate = forward if is_forward else reverse
        graph = differentiate(recognize(traced.graph), wrt, results.places)
        return cls(traced, graph, inputs, outputs, leaves, is_forward)

    @property
    def seeds(self) -> tuple[Aval, ...]:
        """Avals of the seeds; there is one pass for each element of each."""
        return self.inputs if self.is_forward else self.outputs

    @property
    def results(self) -> tuple[Aval, ...]:
        """Avals of what one pass computes."""
        return self.outputs if self.is_forward else self.inputs

    @property
    def passes(self) -> int:
        """How many passes there are."""
        return sum(aval.size for aval in self.seeds)

    @property
    def seed_places(self) -> range:
        """The positions of the seeds among the inputs of the graph."""
        return range(len(self.traced.graph.inputs), len(self.graph.inputs))

    @property
    def _spans(self) -> list[tuple[int, int]]:
        """The passes that belong to each seed, as first and last number."""
        ends = list(itertools.accumulate(aval.size for aval in self.seeds))
        return list(zip([0, *ends], ends, strict=False))

    def unit_seeds(self, numbers: Any) -> list[Any]:
        """Return the seeds of some passes, one of whose elements is one and the others zero."""
        count = aval_of(numbers).size
        seeds = []
        for aval, part in zip(self.seeds, self._spans, strict=True):
            own = constant(np.arange(*part).reshape(aval.shape), like=numbers)
            wanted = reshape(numbers, (count, *(1,) * aval.ndim))
            seeds.append(astype(equal(wanted, own), aval.dtype))
        return seeds

    def blocks(self, results: Sequence[Any], *, like: Any = None) -> list[Any]:
        """Return the parts of the Jacobian, for each result one for each input, from all passes."""
        return [
            zeros((*aval.shape, *operand.shape), operand.dtype, like=like)
            if place is None
            else self._block(results, place, number)
            for aval, place in self.leaves
            for number, operand in enumerate(self.inputs)
        ]

    def _block(self, results: Sequence[Any], place: int, number: int) -> Any:
        seed, result = (number, place) if self.is_forward else (place, number)
        seed_shape, shape = self.seeds[seed].shape, self.results[result].shape
        start, stop = self._spans[seed]
        rows = slice_(results[result], (span(start, stop, 1, self.passes), *whole(shape)))
        block = reshape(rows, (*seed_shape, *shape))
        if not self.is_forward:
            return block
        axes = range(len(seed_shape) + len(shape))
        return transpose(block, (*axes[len(seed_shape) :], *axes[: len(seed_shape)]))


def _chosen(mode: str, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> str:
    if mode != "auto":
        return mode
    if any(aval.dtype.kind == "c" for aval in (*inputs, *outputs)):
        return "reverse"
    fewer_inputs = sum(aval.size for aval in inputs) < sum(aval.size for aval in outputs)
    return "forward" if fewer_inputs else "reverse"


class _Chunked:
    """Computes a Jacobian with so many passes at a time that their arrays stay small."""

    def __init__(self, sweep: _Sweep, label: str) -> None:
        self.sweep = sweep
        self._label = label
        joint = settle_masks(sweep.graph)
        self._halves = halves = split(joint, len(sweep.seeds), len(sweep.results))
        self._places = range(halves.residuals, len(halves.backward.inputs))
        widest = max(
            sum(aval.nbytes for aval in node.avals)
            for node in batched_nodes(halves.backward, self._places)
        )
        self.length = max(1, CHUNK_BYTES // max(1, widest))

    @functools.cached_property
    def _once(self) -> Run:
        return self._compiled(self._halves.forward)

    @functools.cached_property
    def _passes(self) -> Run:
        return self._compiled(batch(self._halves.backward, self.length, self._places))

    def _compiled(self, graph: Graph) -> Run:
        return lower_program(Program(graph, (), placed(())), self._label).compile()

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        """Return the blocks of the Jacobian."""
        values = self._once(*inputs)
        residuals = values[len(values) - self._halves.residuals :]
        passes = self.sweep.passes
        results = [np.empty((passes, *aval.shape), aval.dtype) for aval in self.sweep.results]
        for start in range(0, passes, self.length):
            # The last chunk may reach beyond the passes there are: those seeds are zero.
            seeds = self.sweep.unit_seeds(np.arange(start, start + self.length))
            parts = self._passes(*residuals, *seeds)
            for result, part in zip(results, parts, strict=True):
                result[start : start + self.length] = part[: passes - start]
        return tuple(np.require(block, requirements="W") for block in self.sweep.blocks(results))
