"""Lowering: a program through every stage, with each stage open to inspection."""

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from stagrad.api.backend import checked_backend, chosen_backend, warn_once
from stagrad.api.dump import Dump, start_dump
from stagrad.api.program import Program
from stagrad.codegen import emit_c, emit_numpy
from stagrad.config import BACKEND, VERIFY
from stagrad.errors import CompilerError
from stagrad.ir import Graph
from stagrad.ir.kernel import Schedule
from stagrad.ir.kernel_info import KernelInfo, kernel_infos
from stagrad.ir.native import NativeProgram
from stagrad.passes import PIPELINE, Lowering, lower, native_schedule
from stagrad.passes.recognize import recognize
from stagrad.passes.reverse import reverse
from stagrad.passes.schedule import schedule
from stagrad.runtime import Subject, load, verified
from stagrad.runtime.native import load_native


class Lowered:
    """A function lowered for given avals; nothing has run yet.

    - graph: the graph as traced and differentiated, before any optimisation.
    - stages: name → graph as traced (`trace`) and after each pass, `recognize` and `reverse` first.
    - schedule: kernels, library calls and the memory plan.
    - kernels: what each of them costs.
    - backend: the target, "c" or "numpy".
    - source: the emitted program's text.
    """

    def __init__(self, program: Program, label: str, *, verify: bool, backend: str) -> None:
        self.program = program
        self.label = label
        self._verify = verify
        self._asked = backend

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
        native = self.backend == "c"
        if dump is None:
            return lower(self.graph, native=native)
        for name, graph in self._made():
            dump.graph(name, graph)
        lowering = lower(self.graph, observer=dump.graph, native=native)
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
    def backend(self) -> str:
        """The target of the program, "c" or "numpy"."""
        return chosen_backend(self._asked, self.graph)

    def to(self, backend: str) -> "Lowered":
        """Return the lowering of the same program for another target: "c", "numpy" or "auto".

        >>> import numpy as np, stagrad
        >>> lowered = stagrad.compile(np.sin).lower(stagrad.aval("f64[3]"))
        >>> "np.sin(x)" in lowered.to("numpy").source
        True
        """
        backend = checked_backend(backend)
        return Lowered(self.program, self.label, verify=self._verify, backend=backend)

    @functools.cached_property
    def source(self) -> str:
        """The text of the emitted program."""
        text = self._native.text if self.backend == "c" else emit_numpy(self.schedule, self.label)
        if self._dump is not None:
            self._dump.text("source", text, ".c" if self.backend == "c" else ".py")
        return text

    @functools.cached_property
    def _native(self) -> NativeProgram:
        return emit_c(self.schedule, c_name(self.label))

    def compile(self) -> Callable[..., Sequence[Any]]:
        """Return the executable: the graph's inputs in order, a tuple of its outputs back."""
        run = self._loaded()
        return verified(self._subject(run)) if self._verify or VERIFY.value() else run

    def _loaded(self) -> Callable[..., Sequence[Any]]:
        text = self.source
        if self.backend != "c":
            return load(text, self.label)
        try:
            return load_native(self._native)
        except CompilerError as error:
            if self._asked == "c" or BACKEND.value() == "c":
                raise
            warn_once(f"the C compiler failed, so stagrad compiles to NumPy: {error}")
            return load(emit_numpy(schedule(self._lowering.graph), self.label), self.label)

    def _build(self, graph: Graph) -> Callable[..., Sequence[Any]]:
        """Return a graph compiled to the same target, without any pass."""
        if self.backend == "c":
            return load_native(emit_c(native_schedule(graph), c_name(self.label)))
        return load(emit_numpy(schedule(graph), self.label), self.label)

    def _subject(self, run: Callable[..., Sequence[Any]]) -> Subject:
        """Return the executable with what is needed to check its calls."""
        traced = self.program.traced
        return Subject(
            graph=self.graph,
            run=run,
            passes=dict(PIPELINE),
            build=self._build,
            primal=None if traced is None else recognize(traced),
            differentiate=reverse,
        )


def c_name(label: str) -> str:
    """Return the name of a program's C function, which no function of C bears."""
    return f"program_{re.sub('[^a-zA-Z0-9_]', '_', label)}"


def lower_program(
    program: Program, label: str, *, verify: bool = False, backend: str = "auto"
) -> Lowered:
    """Return the lowering of a program."""
    return Lowered(program, label, verify=verify, backend=backend)
