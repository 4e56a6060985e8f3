"""A Schedule as a C translation unit."""

import re

import numpy as np

from stagrad.codegen.c.kernel import INDENT, KernelFunction, meaning
from stagrad.codegen.c.slots import Slots, is_fixed
from stagrad.ir import Aval
from stagrad.ir.index import element_steps, identity
from stagrad.ir.kernel import (
    Buffer,
    Copy,
    Fill,
    Kernel,
    LibraryCall,
    Schedule,
    Step,
    View,
    reads,
    writes,
)
from stagrad.ir.native import Callback, NativeCall, NativeProgram

LONG = 1 << 16
"""Bytes read and written by programs that let other Python threads run meanwhile."""

INLINED_STEPS = 24
"""Steps of a program whose kernels may become part of its function: compilers slow down on more."""


def emit(schedule: Schedule, name: str, *, timed: bool = False) -> NativeProgram:
    """Return the program that computes a schedule, its C function bearing the name.

    With `timed`, one more output holds the time, in seconds, before each of `timed_steps` and after
    the last.
    """
    return _Module(schedule, name, timed).program()


def timed_steps(schedule: Schedule) -> tuple[Kernel | LibraryCall, ...]:
    """Return the steps of a schedule for a compiled target that do work."""
    return tuple(step for step in schedule.steps if isinstance(step, Kernel | LibraryCall))


class _Module:
    def __init__(self, schedule: Schedule, name: str, timed: bool) -> None:
        self.schedule = schedule
        self.name = name
        self.timed = timed
        self.started = 0
        self.apart = len(schedule.steps) > INLINED_STEPS
        self.slots = Slots()
        self.functions: list[str] = []
        self.kernels: dict[str, str] = {}
        self.lines: list[str] = []
        self.callbacks: list[Callback] = []
        self.declared: set[Buffer] = set()
        self.symbols: dict[str, int] = {}

    def program(self) -> NativeProgram:
        """Return the whole program."""
        schedule = self.schedule
        given = (*schedule.inputs, *schedule.constants, *schedule.outputs)
        for place, buffer in enumerate(given):
            self._declare(self._root(buffer), f"arrays[{place}]")
        outputs = tuple(buffer.aval for buffer in schedule.outputs)
        if self.timed:
            self.lines.append(f"double *const times = (double *)arrays[{len(given)}];")
            outputs = (*outputs, Aval((len(timed_steps(schedule)) + 1,), np.dtype(np.float64)))
        for step in schedule.steps:
            self._step(step)
        self._note_time()
        moved = [item for step in schedule.steps for item in (*reads(step), *writes(step))]
        return NativeProgram(
            name=self.name,
            text=self._text(),
            inputs=tuple(buffer.aval for buffer in schedule.inputs),
            outputs=outputs,
            constants=tuple(buffer.literal for buffer in schedule.constants),
            sizes=tuple(self.slots.sizes),
            numbers=tuple(self.slots.numbers),
            workspace=schedule.workspace,
            symbols=tuple(self.symbols),
            callbacks=tuple(self.callbacks),
            long=sum(buffer.aval.nbytes for buffer in moved) >= LONG,
        )

    def _text(self) -> str:
        schedule = self.schedule
        inputs = ", ".join(f"{buffer.name}: {buffer.aval}" for buffer in schedule.inputs)
        outputs = ", ".join(str(buffer.aval) for buffer in schedule.outputs)
        function = [
            f"/* {inputs} -> {outputs} */",
            *(["SG_STRAIGHT"] if self.apart else []),
            f"int {self.name}(const sg_runtime *rt, char *const *arrays, char *workspace,",
            f"{INDENT}const int64_t *n, const double *c)",
            "{",
            f"{INDENT}(void)rt, (void)workspace, (void)n, (void)c;",
            *(f"{INDENT}{line}" for line in _without_unused(self.lines)),
            f"{INDENT}return 0;",
            "}",
        ]
        clock = ['#include "stagrad_time.h"'] if self.timed else []
        parts = ['#include "stagrad.h"', *clock, *self.functions, "\n".join(function)]
        return "\n\n".join(parts) + "\n"

    def _root(self, buffer: Buffer) -> Buffer:
        return self.schedule.roots.get(buffer, buffer)

    def _declare(self, buffer: Buffer, place: str) -> None:
        """Name the memory of a buffer."""
        self.declared.add(buffer)
        self.lines.append(f"char *const {buffer.name} = {place}; /* {buffer.aval} */")

    def _step(self, step: Step) -> None:
        if isinstance(step, View):
            self.lines.append(f"char *const {step.result.name} = {step.operand.name};")
            return
        for buffer in writes(step):
            root = self._root(buffer)
            if root not in self.declared:
                offset = self.slots.size(self.schedule.offsets[root])
                self._declare(root, f"workspace + n[{offset}]")
        self._note_time()
        if isinstance(step, Kernel):
            self._kernel(step)
        elif isinstance(step, LibraryCall):
            self._call(step)
        else:
            assert not isinstance(step, Copy | Fill), "compiled targets copy and fill by kernels"

    def _note_time(self) -> None:
        if self.timed:
            self.lines.append(f"times[{self.started}] = sg_now();")
            self.started += 1

    def _kernel(self, step: Kernel) -> None:
        function = KernelFunction(step, self.slots, self._shared(step), apart=self.apart)
        text = function.text()
        name = self.kernels.setdefault(meaning(text), step.name)
        if name == step.name:
            self.functions.append(text)
        self.lines.append(function.call(name))

    def _shared(self, step: Kernel) -> set[Buffer]:
        """Return the buffers of a kernel whose memory it both reads and writes."""
        read = {self._memory(buffer): buffer for buffer in reads(step)}
        written = {self._memory(buffer): buffer for buffer in writes(step)}
        both = read.keys() & written.keys()
        return {buffer for buffer in (*reads(step), *writes(step)) if self._memory(buffer) in both}

    def _memory(self, buffer: Buffer) -> object:
        root = self._root(buffer)
        return self.schedule.offsets.get(root, root)

    def _native_call(self, step: LibraryCall, pointers: list[str]) -> NativeCall:
        indices = step.indices or tuple(identity(item.aval.ndim) for item in step.operands)
        avals, strides = [], []
        for place, (buffer, index) in enumerate(zip(step.operands, indices, strict=True)):
            shape = step.node.inputs[place].aval.shape if step.indices else buffer.aval.shape
            offset, steps = element_steps(index, buffer.aval.shape, len(shape))
            avals.append(Aval(shape, buffer.aval.dtype))
            strides.append(steps)
            if offset:
                moved = self._open_size(offset * buffer.aval.dtype.itemsize)
                pointers[place] = f"{pointers[place]} + {moved}"
        for buffer in step.results:
            shape = buffer.aval.shape
            strides.append(element_steps(identity(len(shape)), shape, len(shape))[1])
        return NativeCall(
            operands=tuple(avals),
            results=tuple(buffer.aval for buffer in step.results),
            params=step.params,
            pointers=tuple(pointers),
            strides=tuple(strides),
            size=self._open_size,
            symbol=self._symbol,
            fallback=lambda: self._callback(step, pointers, fallback=True),
        )

    def _symbol(self, name: str) -> str:
        """Return the text of the address of a BLAS or LAPACK function."""
        place = self.symbols.setdefault(name, len(self.symbols))
        return f"rt->symbols[{place}]"

    def _open_size(self, value: int) -> str:
        """Return the text of an integer, which small ones are part of."""
        return str(value) if is_fixed(value) else f"n[{self.slots.size(value)}]"

    def _call(self, step: LibraryCall) -> None:
        results = () if step.in_place else step.results
        pointers = [buffer.name for buffer in (*step.operands, *results)]
        self.lines.append(f"/* {step.primitive.name} */")
        if step.primitive.native is not None:
            text = step.primitive.native(self._native_call(step, pointers))
            if text is not None:
                self.lines += text.splitlines()
                return
        self.lines.append(self._callback(step, pointers))

    def _callback(self, step: LibraryCall, pointers: list[str], fallback: bool = False) -> str:
        """Return the statement that runs a step in Python."""
        number = len(self.callbacks)
        self.callbacks.append(
            Callback(
                step.primitive,
                tuple(buffer.aval for buffer in step.operands),
                tuple(buffer.aval for buffer in step.results),
                step.params,
                step.in_place,
                fallback,
            )
        )
        return f"SG_PYTHON({number}, {', '.join(pointers)})"


_DECLARATION = re.compile(r"char \*const (\w+) =")
_COMMENT = re.compile(r"/\*.*?\*/")


def _without_unused(lines: list[str]) -> list[str]:
    """Return the lines without the declarations of pointers that no later line uses."""
    kept: list[str] = []
    used: set[str] = set()
    for line in reversed(lines):
        declared = _DECLARATION.match(line)
        if declared is None or declared[1] in used:
            kept.append(line)
            used.update(re.findall(r"\w+", _COMMENT.sub("", line)))
    return kept[::-1]
