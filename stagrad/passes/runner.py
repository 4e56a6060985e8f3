"""Running passes one after another, and lowering a graph all the way to a schedule."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stagrad.ir import Graph
from stagrad.ir.kernel import Schedule
from stagrad.passes.schedule import schedule

Pass = Callable[[Graph], Graph]


@dataclass(frozen=True, slots=True)
class Lowering:
    """A graph on its way to a target: the graph after each pass, and the schedule."""

    graph: Graph
    stages: dict[str, Graph]
    schedule: Schedule


def run(
    graph: Graph,
    pipeline: Sequence[tuple[str, Pass]],
    *,
    verify: bool = True,
    observer: Callable[[str, Graph], None] | None = None,
) -> tuple[Graph, dict[str, Graph]]:
    """Return the graph after all passes, and after each by the pass's name."""
    stages = {}
    for name, function in pipeline:
        graph = function(graph)
        stages[name] = graph
        if observer is not None:
            observer(name, graph)
    return graph, stages


def lower(graph: Graph, *, options: Mapping[str, Any] | None = None) -> Lowering:
    """Optimise a graph and lower it to a schedule."""
    graph, stages = run(graph, ())
    return Lowering(graph, stages, schedule(graph))
