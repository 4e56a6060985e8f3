"""Lowering: a program through every stage, with each stage open to inspection."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from stagrad.api.dump import Dump, start_dump
from stagrad.api.program import Program
from stagrad.codegen import emit_numpy
from stagrad.config import VERIFY
from stagrad.ir import Graph
from stagrad.ir.kernel import Schedule
from stagrad.ir.kernel_info import KernelInfo, kernel_infos
from stagrad.passes import PIPELINE, Lowering, lower
from stagrad.passes.recognize import recognize
from stagrad.passes.reverse import reverse
from stagrad.passes.schedule import schedule
from stagrad.runtime import Subject, load, verified


class Lowered:
    """A function lowered for given avals; nothing has run yet.

    - graph: the graph as traced and differentiated, before any optimisation.
    - stages: name → graph as traced (`trace`) and after each pass, `recognize` and `reverse` first.
    - schedule: kernels, library calls and the memory plan.
    - kernels: what each of them costs.
    - source: the emitted module's text.
    """

    def __init__(self, program: Program, label: str, *, verify: bool) -> None:
        self.program = program
        self.label = label
        self._verify = verify

    @property
    def graph(self) -> Graph:
        """The graph as traced and differentiated, before any optimisation."""
        return self.program.graph

    @functools.cached_property
    def _dump(self) -> Dump | None:
        return start_dump(self.label)

    @functools.cached_property
    def _lowering(self) -> Lowering:
        dump = self._dump
        if dump is None:
            return lower(self.graph)
        for name, graph in self._made():
            dump.graph(name, graph)
        lowering = lower(self.graph, observer=dump.graph)
        dump.text("schedule", str(lowering.schedule))
        return lowering

    @property
    def stages(self) -> Mapping[str, Graph]:
        """The graph after each pass, by the pass's name, in order; the first is `trace`."""
        return dict(self._made()) | self._lowering.stages

    def _made(self) -> Iterator[tuple[str, Graph]]:
        """Yield what the graph was made of, and itself, each with the name of its maker."""
        traced = self.program.traced
        if traced is not None:
            yield "trace", traced
            if self.program.made_by != "recognize":
                yield "recognize", recognize(traced)
        yield self.program.made_by, self.program.graph

    @property
    def schedule(self) -> Schedule:
        """Kernels, library calls and the memory plan."""
        return self._lowering.schedule

    @property
    def kernels(self) -> tuple[KernelInfo, ...]:
        """What each step costs: iteration space, bytes, scalar operations, source lines."""
        return kernel_infos(self.schedule)

    @functools.cached_property
    def source(self) -> str:
        """The text of the emitted module."""
        text = emit_numpy(self.schedule, self.label)
        if self._dump is not None:
            self._dump.text("source", text, ".py")
        return text

    def compile(self) -> Callable[..., Sequence[Any]]:
        """Return the executable: the graph's inputs in order, a tuple of its outputs back."""
        run = load(self.source, self.label)
        return verified(self._subject(run)) if self._verify or VERIFY.value() else run

    def _subject(self, run: Callable[..., Sequence[Any]]) -> Subject:
        """Return the executable with what is needed to check its calls."""
        traced = self.program.traced
        return Subject(
            graph=self.graph,
            run=run,
            passes=dict(PIPELINE),
            build=lambda graph: load(emit_numpy(schedule(graph), self.label), self.label),
            primal=None if traced is None else recognize(traced),
            differentiate=reverse,
        )


def lower_program(program: Program, label: str, *, verify: bool = False) -> Lowered:
    """Return the lowering of a program."""
    return Lowered(program, label, verify=verify)
