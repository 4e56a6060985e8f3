"""The NumPy target: a Schedule as a module that needs only NumPy, and SciPy where it is used."""

import inspect
import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from stagrad.codegen.blocks import BlockFunction, in_blocks
from stagrad.codegen.body import Body, heading
from stagrad.codegen.expression import (
    ATOM,
    Text,
    apply,
    dtype_text,
    literal_text,
    numpy_text,
    scalar_text,
    slots,
)
from stagrad.codegen.kernel_lines import KernelLines, names_read
from stagrad.codegen.values import Array, loaded
from stagrad.ir import Along, Node, Primitive, format_param
from stagrad.ir.kernel import (
    Buffer,
    Copy,
    Fill,
    Kernel,
    LibraryCall,
    Load,
    Reduce,
    Scalar,
    Schedule,
    Step,
    Store,
    View,
    reads,
    writes,
)
from stagrad.ir.naming import Names

RELEASED_BYTES = 1 << 20
"""Arrays of this size are deleted after their last use; smaller ones live until the return."""


def emit(schedule: Schedule, name: str) -> str:
    """Return the text of a module defining `name`: the inputs in order, a tuple of outputs back."""
    return _Module(schedule, name).text()


class _Module:
    def __init__(self, schedule: Schedule, name: str) -> None:
        self.schedule = schedule
        self.name = name
        self.body = Body(Counter(_names_read(schedule)))
        self.names = Names(_all_names(schedule))
        self.functions: list[str] = []
        self.repeated: dict[str, Text] = {}
        self.sharers = _sharers(schedule)

    def text(self) -> str:
        """Return the whole module."""
        schedule = self.schedule
        for buffer in schedule.inputs:
            if buffer.aval.weak:
                text = Text(f"{dtype_text(buffer.aval.dtype)}({buffer.name})")
                self.body.assign(buffer.name, text, None, inline=False)
        for step, released in zip(schedule.steps, schedule.releases, strict=True):
            self._step(step)
            self._release(released)
        outputs = ", ".join(self._returned(buffer) for buffer in schedule.outputs)
        comma = "," if len(schedule.outputs) == 1 else ""
        self.body.statement(f"return ({outputs}{comma})", None)
        function = "\n".join(
            [
                '@np.errstate(all="ignore")',
                heading(self.name, [buffer.name for buffer in schedule.inputs]),
                *_signature(schedule),
                *self.body.render(),
            ]
        )
        helpers = _helpers(schedule, "\n".join([*self.functions, function]))
        if self.functions:
            helpers.append(_source(in_blocks))
        parts = [*helpers, *self._constants(), *self.functions, function]
        code = "\n\n\n".join(parts) + "\n"
        return f"{_imports(code)}\n\n\n{code}"

    def _constants(self) -> list[str]:
        lines = [
            f"{buffer.name} = {numpy_text(format_param(buffer.literal))}"
            for buffer in self.schedule.constants
            if buffer.aval.shape
        ]
        return ["\n".join(lines)] if lines else []

    def _step(self, step: Step) -> None:
        if isinstance(step, Kernel) and step.chunks is not None:
            function = BlockFunction(step, self.names)
            self.functions.append(function.text())
            function.call(self.body)
        elif isinstance(step, Kernel):
            KernelLines(step, self.body, self._load(step)).write()
        elif isinstance(step, LibraryCall) and step.in_place:
            self._update(step)
        elif isinstance(step, LibraryCall):
            self._call(step)
        elif isinstance(step, View):
            operand = self._operand(step.operand, step.node)
            if _repeats(step):
                self.repeated[step.result.name] = operand
            text = apply(step.primitive, (operand,), step.params)
            self.body.assign(step.result.name, text, step.node)
        elif isinstance(step, Copy):
            copied = self._operand(step.operand, step.result.node).text
            text = Text(f"np.array({copied})")
            self.body.assign(step.result.name, text, step.result.node, inline=False)
        else:
            self.body.assign(step.result.name, _filled(step), step.result.node, inline=False)

    def _load(self, kernel: Kernel) -> Callable[[Load, Node], Array]:
        def load(item: Load, reader: Node) -> Array:
            buffer = item.buffer
            text = self.body.read(buffer.name, reader)
            return loaded(text, item.index, buffer.aval.shape, kernel.space)

        return load

    def _operand(self, buffer: Buffer, reader: Node, *, whole: bool = False) -> Text:
        if buffer.literal_scalar:
            return Text(scalar_text(buffer.literal.array))
        return self.body.read(buffer.name, reader, whole=whole)

    def _call(self, step: LibraryCall) -> None:
        uses = slots(step.primitive, len(step.operands), step.params).uses
        operands = tuple(
            self._operand(buffer, step.node, whole=count != 1)
            for buffer, count in zip(step.operands, uses, strict=True)
        )
        dtypes = tuple(buffer.aval.dtype for buffer in step.operands)
        text = apply(step.primitive, operands, step.params, dtypes)
        if step.primitive.multiple:
            names = ", ".join(buffer.name for buffer in step.results)
            comma = "," if len(step.results) == 1 else ""
            self.body.statement(f"{names}{comma} = {text.text}", step.node)
        else:
            self.body.assign(step.results[0].name, text, step.node)

    def _update(self, step: LibraryCall) -> None:
        target, *others = step.operands
        texts = [self._operand(target, step.node, whole=True).text]
        texts += [self._operand(buffer, step.node).text for buffer in others]
        self.body.flush()
        text = step.primitive.update_statement(tuple(texts), step.params)
        if text.startswith(f"{target.name}["):
            # An assignment broadcasts its value, which comes first; its indices decide on shapes.
            texts[1] = self.repeated.get(others[0].name, Text(texts[1])).text
            text = step.primitive.update_statement(tuple(texts), step.params)
        self.body.statement(numpy_text(text), step.node)

    def _release(self, released: tuple[Buffer, ...]) -> None:
        large = [buffer for buffer in released if buffer.aval.nbytes >= RELEASED_BYTES]
        if large:
            self.body.release(name for root in large for name in self.sharers[root])

    def _returned(self, buffer: Buffer) -> str:
        text = self.body.read(buffer.name, None)
        return text.text if buffer.aval.shape else f"{text.within(ATOM - 1)}[()]"


def _names_read(schedule: Schedule) -> Iterator[str]:
    """Yield the name of every value that the function's text mentions, as often as it does."""
    for step in schedule.steps:
        if isinstance(step, Kernel) and step.chunks is None:
            yield from names_read(step)
        elif isinstance(step, LibraryCall):
            uses = slots(step.primitive, len(step.operands), step.params).uses
            for buffer, count in zip(step.operands, uses, strict=True):
                yield from [buffer.name] * count
        else:
            yield from (buffer.name for buffer in reads(step))
    yield from (buffer.name for buffer in schedule.outputs)


def _all_names(schedule: Schedule) -> Iterator[str]:
    """Yield every name of the schedule."""
    for buffer in (*schedule.inputs, *schedule.constants, *schedule.outputs):
        yield buffer.name
    for step in schedule.steps:
        yield from (buffer.name for buffer in writes(step))
        if isinstance(step, Kernel):
            yield from (item.name for item in step.statements if not isinstance(item, Store))


def _sharers(schedule: Schedule) -> dict[Buffer, list[str]]:
    """Return the names of all buffers that share each buffer's memory, its own first."""
    sharers: dict[Buffer, list[str]] = defaultdict(list)
    for step in schedule.steps:
        for buffer in writes(step):
            sharers[schedule.roots.get(buffer, buffer)].append(buffer.name)
    return sharers


def _repeats(step: View) -> bool:
    """Say whether a view is what NumPy's broadcasting of the operand would be anyway."""
    access = step.primitive.access
    index = None if access is None else access(step.operand.aval, step.params)
    if index is None:
        return False
    given, wanted = step.operand.aval.shape, step.result.aval.shape
    added = len(wanted) - len(given)
    return added >= 0 and all(
        extent == 1 or (entry == Along(added + axis) and extent == wanted[added + axis])
        for axis, (entry, extent) in enumerate(zip(index, given, strict=True))
    )


def _signature(schedule: Schedule) -> list[str]:
    """Return the docstring: what goes in and what comes out."""
    inputs = [f"{buffer.name}: {buffer.aval}" for buffer in schedule.inputs]
    outputs = [str(buffer.aval) for buffer in schedule.outputs]
    text = f'"""{", ".join(inputs)} -> {", ".join(outputs)}"""'
    return textwrap.wrap(
        text, 96, initial_indent="    ", subsequent_indent="    ", break_long_words=False
    )


def _filled(step: Fill) -> Text:
    aval = step.result.aval
    array = step.literal.array
    dtype = dtype_text(aval.dtype)
    if not array.any() and not array.view(f"V{array.itemsize}").tobytes().strip(b"\0"):
        return Text(f"np.zeros({aval.shape}, {dtype})")
    return Text(f"np.full({aval.shape}, {literal_text(array).text}, {dtype})")


def _imports(code: str) -> str:
    lines = ["import numpy as np"]
    used = [module for module in ("linalg", "special") if re.search(rf"(?<![.\w]){module}\.", code)]
    if used:
        lines.append(f"from scipy import {', '.join(used)}")
    return "\n".join(lines)


def _helpers(schedule: Schedule, code: str) -> list[str]:
    """Return the source of the plain functions that the code calls, and of those they call."""
    sources: dict[str, str] = {}
    for step in schedule.steps:
        for primitive in _primitives(step):
            for helper in primitive.helpers:
                if helper.__name__ not in sources:
                    sources[helper.__name__] = _source(helper)
    called: set[str] = set()
    waiting = [code]
    while waiting:
        text = waiting.pop()
        new = {name for name in sources.keys() - called if re.search(rf"\b{name}\(", text)}
        called |= new
        waiting += [sources[name] for name in new]
    return [source for name, source in sources.items() if name in called]


def _primitives(step: Step) -> list[Primitive]:
    if isinstance(step, Kernel):
        return [item.primitive for item in step.statements if isinstance(item, Scalar | Reduce)]
    return [step.primitive] if isinstance(step, LibraryCall | View) else []


def _source(function: Callable[..., object]) -> str:
    text = textwrap.dedent(inspect.getsource(function)).rstrip()
    return numpy_text(re.sub(r"  # type: ignore.*", "", text))
