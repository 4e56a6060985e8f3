"""Compilation that checks itself: results against the interpreter, derivatives against differences.

Every pass maps a graph that can run to a graph that can run. Where a compiled program and the
op-by-op interpreter disagree, the passes are run one by one, and then the nodes, until the first
wrong one is found and can be told as a line of the user's program.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stagrad.errors import DerivativeError, VerifyError
from stagrad.ir import Graph, Node, constant_p, input_p, interpret, is_inexact, project_p
from stagrad.runtime.compare import accuracy, difference, numbers

Run = Callable[..., Sequence[Any]]


@dataclass(frozen=True)
class Subject:
    """A compiled program, with what made it.

    - graph: what `run` computes.
    - run: the executable.
    - passes: what turned `graph` into what was emitted, by name, in order.
    - build: makes an executable of a graph that the passes have been through.
    - primal: the function before differentiation, whose inputs come first in `graph`; None where
      no derivative is to be checked.
    - differentiate: makes of a graph the one that also returns the cotangents of its inputs at
      `wrt`, given one cotangent for each float or complex output after the inputs.
    """

    graph: Graph
    run: Run
    passes: Mapping[str, Callable[[Graph], Graph]]
    build: Callable[[Graph], Run]
    primal: Graph | None = None
    differentiate: Callable[[Graph, Sequence[int]], Graph] | None = None
    seed: int = field(default=0)


def verified(subject: Subject) -> Run:
    """Return the executable with every call checked.

    A call raises VerifyError when a result differs from the interpreter's by more than rounding, or
    a derivative from differences of the function: it names the pass, the operation and the line.
    """

    def run(*arguments: Any) -> Sequence[Any]:
        results = subject.run(*arguments)
        with np.errstate(all="ignore"):
            verify_results(subject, arguments, results)
            verify_derivative(subject, arguments)
        return results

    return run


def verify_results(subject: Subject, arguments: Sequence[Any], results: Sequence[Any]) -> None:
    """Raise VerifyError when results are not those of the interpreter."""
    wanted = interpret(subject.graph, arguments)
    nearby = interpret(subject.graph, _rounded(subject.graph, arguments, subject.seed))
    for place, (got, want, near) in enumerate(zip(results, wanted, nearby, strict=True)):
        complaint = difference(got, want, near)
        if complaint:
            cause = _first_wrong(subject, arguments)
            raise VerifyError(
                f"result {place} of the compiled program is wrong: {complaint}{cause}"
            )


def _rounded(graph: Graph, arguments: Sequence[Any], seed: int) -> list[Any]:
    """Return arguments that differ by a rounding: how far results move with them is no error."""
    generator = np.random.default_rng(seed)
    return [
        np.asarray(value)
        * (1 + accuracy(node.aval.dtype) * generator.uniform(-1, 1, node.aval.shape)).astype(
            node.aval.dtype
        )
        if is_inexact(node.aval)
        else value
        for node, value in zip(graph.inputs, arguments, strict=True)
    ]


def _first_wrong(subject: Subject, arguments: Sequence[Any]) -> str:
    """Name the first pass that changes results, and the first node that it changes."""
    graph = subject.graph
    for name, function in subject.passes.items():
        before, graph = graph, function(graph)
        if not _agree(before, interpret(graph, arguments), arguments):

            def run(part: Graph, function: Callable[[Graph], Graph] = function) -> Sequence[Any]:
                return interpret(function(part), arguments)

            return f"\nThe pass {name} changes it{_first_wrong_node(before, run, arguments)}"

    def run_emitted(part: Graph) -> Sequence[Any]:
        return subject.build(part)(*arguments)

    return f"\nThe emitted source changes it{_first_wrong_node(graph, run_emitted, arguments)}"


def _agree(graph: Graph, results: Sequence[Any], arguments: Sequence[Any]) -> bool:
    wanted = interpret(graph, arguments)
    return not any(difference(*pair) for pair in zip(results, wanted, wanted, strict=True))


def _first_wrong_node(
    graph: Graph, run: Callable[[Graph], Sequence[Any]], arguments: Sequence[Any]
) -> str:
    """Name the first node that comes out wrong, computed with all others or else by itself."""
    nodes = [node for node in graph.nodes if _is_checkable(node)]
    together = Graph(graph.inputs, nodes)
    wanted = interpret(together, arguments)
    for node, got, want in zip(nodes, run(together), wanted, strict=True):
        if difference(got, want, want):
            return f", first in {_described(node)}: {difference(got, want, want)}"
    for node, want in zip(nodes, wanted, strict=True):
        (got,) = run(Graph(graph.inputs, [node]))
        if difference(got, want, want):
            return f", first in {_described(node)}: {difference(got, want, want)}"
    return ", but no value by itself"


def _is_checkable(node: Node) -> bool:
    return not node.primitive.multiple and node.primitive not in (input_p, constant_p)


def _described(node: Node) -> str:
    primitive = node.inputs[0].primitive if node.primitive is project_p else node.primitive
    name = f" ({node.name})" if node.name else ""
    where = f" at {node.origin}" if node.origin else ""
    return f"{primitive.name}{name}: {node.aval}{where}"


def verify_derivative(subject: Subject, arguments: Sequence[Any]) -> None:
    """Raise VerifyError when cotangents disagree with differences of the function along a line.

    Where the function has a kink, or its differences are lost in rounding, nothing is said.
    """
    primal = subject.primal
    if primal is None or subject.differentiate is None:
        return
    arguments = list(arguments[: len(primal.inputs)])
    line = _Line(primal, arguments, subject.seed)
    if not line.is_wrong(primal, subject.differentiate):
        return
    for node in primal.nodes:
        if _is_checkable(node) and is_inexact(node.aval):
            part = Graph(primal.inputs, [node])
            if line.is_wrong(part, subject.differentiate):
                raise VerifyError(
                    f"the derivative is wrong, first that of {_described(node)}: "
                    f"{line.complaint(part, subject.differentiate)}"
                )
    raise VerifyError(f"the derivative is wrong: {line.complaint(primal, subject.differentiate)}")


class _Line:
    """A line through the arguments, in a random direction of the float and complex ones."""

    def __init__(self, graph: Graph, arguments: Sequence[Any], seed: int) -> None:
        self.arguments = list(arguments)
        self.wrt = [place for place, node in enumerate(graph.inputs) if is_inexact(node.aval)]
        self._generator = np.random.default_rng(seed)
        self.direction = {place: self._draw(graph, place) for place in self.wrt}

    def _draw(self, graph: Graph, place: int) -> np.ndarray:
        """Return a direction; one of Hermitian matrices where the argument is Hermitian.

        A function of Hermitian matrices may read one triangle, and its gradient is Hermitian.
        """
        aval = graph.inputs[place].aval
        direction = numbers(self._generator, aval)
        if aval.ndim >= 2 and aval.shape[-1] == aval.shape[-2]:
            value = np.asarray(self.arguments[place])
            if np.array_equal(value, np.conj(value.swapaxes(-1, -2)), equal_nan=True):
                direction = direction + np.conj(direction.swapaxes(-1, -2))
        return direction

    def is_wrong(
        self, graph: Graph, differentiate: Callable[[Graph, Sequence[int]], Graph]
    ) -> bool:
        """Say whether cotangents and differences certainly disagree."""
        return bool(self.complaint(graph, differentiate))

    def complaint(
        self, graph: Graph, differentiate: Callable[[Graph, Sequence[int]], Graph]
    ) -> str:
        """Return how cotangents and differences disagree; nothing where they may agree."""
        seeds = [
            numbers(np.random.default_rng(place), node.aval) if is_inexact(node.aval) else None
            for place, node in enumerate(graph.outputs)
        ]
        try:
            adjoint = differentiate(graph, self.wrt)
        except DerivativeError:
            return ""
        given = [*self.arguments, *(seed for seed in seeds if seed is not None)]
        cotangents = interpret(adjoint, given)[len(graph.outputs) :]
        slope = sum(
            _pairing(cotangent, self.direction[place])
            for cotangent, place in zip(cotangents, self.wrt, strict=True)
        )
        step = max((accuracy(aval.dtype) for node in graph.nodes for aval in node.avals), default=0)
        step = step ** (1 / 3) or 1.0
        wide, narrow = (self._slopes(graph, seeds, step * factor) for factor in (1.0, 0.5))
        found = (narrow[0] + narrow[1]) / 2
        noise = self._noise(graph, seeds) / step
        tolerance = 30 * (step * (self._slope_size(cotangents) + abs(found) + step) + noise)
        if not np.isfinite([*wide, *narrow, slope]).all() or abs(slope - found) <= tolerance:
            return ""
        if abs(found - (wide[0] + wide[1]) / 2) > tolerance:
            return ""  # the slope depends on the step: a jump, or too much curvature to tell
        if abs(narrow[0] - narrow[1]) > max(tolerance, 0.75 * abs(wide[0] - wide[1])):
            return ""  # the slopes ahead and behind do not approach each other: a kink
        return f"along one line it is {slope:.6g}, differences give {found:.6g}"

    def _slopes(self, graph: Graph, seeds: Sequence[Any], step: float) -> tuple[float, float]:
        """Return the slopes over a step ahead and a step behind."""
        behind, here, ahead = (interpret(graph, self._moved(way * step)) for way in (-1, 0, 1))

        def slope(low: Sequence[Any], high: Sequence[Any]) -> float:
            return sum(
                _pairing(seed, (np.asarray(above) - np.asarray(below)) / step)
                for seed, below, above in zip(seeds, low, high, strict=True)
                if seed is not None
            )

        return slope(here, ahead), slope(behind, here)

    def _noise(self, graph: Graph, seeds: Sequence[Any]) -> float:
        """Return how far the function moves when its arguments are rounded."""
        nearby = interpret(graph, _rounded(graph, self.arguments, seed=1))
        here = interpret(graph, self.arguments)
        return sum(
            abs(_pairing(seed, np.asarray(near) - np.asarray(value)))
            for seed, near, value in zip(seeds, nearby, here, strict=True)
            if seed is not None
        )

    def _slope_size(self, cotangents: Sequence[Any]) -> float:
        """Return the sum of the terms' sizes, against which rounding is measured."""
        return float(
            sum(
                np.sum(np.abs(cotangent) * np.abs(self.direction[place]))
                for cotangent, place in zip(cotangents, self.wrt, strict=True)
            )
        )

    def _moved(self, step: float) -> list[Any]:
        return [
            (np.asarray(value) + step * self.direction[place]).astype(np.asarray(value).dtype)
            if place in self.direction
            else value
            for place, value in enumerate(self.arguments)
        ]


def _pairing(cotangent: Any, tangent: Any) -> float:
    """Return how much a scalar changes: for complex numbers, df/dRe dRe + df/dIm dIm."""
    return float(np.sum(np.conj(cotangent) * tangent).real)
