"""Graph to graph, and graph to schedule: one pass per file, the order in one tuple."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stagrad.ir import Graph
from stagrad.ir.kernel import Schedule
from stagrad.passes.accumulate import accumulate
from stagrad.passes.fold import fold
from stagrad.passes.masks import settle_masks
from stagrad.passes.native import native_schedule, unknown_dtype
from stagrad.passes.rematerialize import rematerialize
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

REMATERIALIZE: Pipeline = (("rematerialize", rematerialize),)
"""Run after the others where asked for: less memory for more work."""


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
    native: bool = False,
) -> Lowering:
    """Optimise a graph and lower it to a schedule, with `native` to one for compiled targets.

    `options` may hold `rematerialize`: whether cheap forward values are computed again in the
    backward half rather than kept. `observer` is told the name and graph of each stage.
    """
    asked = options is not None and options.get("rematerialize", False)
    graph, stages = run(graph, (*PIPELINE, *(REMATERIALIZE if asked else ())), observer=observer)
    return Lowering(graph, stages, native_schedule(graph) if native else schedule(graph))


__all__ = [
    "PIPELINE",
    "REMATERIALIZE",
    "Lowering",
    "Observer",
    "Pass",
    "lower",
    "native_schedule",
    "run",
    "unknown_dtype",
]
