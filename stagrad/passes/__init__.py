"""Graph to graph, and graph to schedule: one pass per file, the order in one tuple."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stagrad.ir import Graph
from stagrad.ir.kernel import Schedule
from stagrad.passes.accumulate import accumulate
from stagrad.passes.fold import fold
from stagrad.passes.masks import settle_masks
from stagrad.passes.runner import Observer, Pass, Pipeline, run
from stagrad.passes.schedule import schedule
from stagrad.passes.simplify import simplify

PIPELINE: Pipeline = (
    ("masks", settle_masks),  # products with partial derivatives that may be infinite
    ("fold", fold),  # constants known while compiling
    ("simplify", simplify),  # redundant arithmetic, casts and movement
    ("accumulate", accumulate),  # cotangents of parts, gathered in one array
)
"""What `lower` does to a graph before scheduling it. `recognize` ran earlier, before `reverse`."""


@dataclass(frozen=True, slots=True)
class Lowering:
    """A graph on its way to a target: the graph after each pass, and the schedule."""

    graph: Graph
    stages: dict[str, Graph]
    schedule: Schedule


def lower(
    graph: Graph,
    *,
    options: Mapping[str, Any] | None = None,
    observer: Observer | None = None,
) -> Lowering:
    """Optimise a graph and lower it to a schedule.

    `observer` is told the name and graph of each stage.
    """
    graph, stages = run(graph, PIPELINE, observer=observer)
    return Lowering(graph, stages, schedule(graph))


__all__ = ["PIPELINE", "Lowering", "Observer", "Pass", "lower", "run"]
