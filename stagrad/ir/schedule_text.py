"""The text form of a schedule, for people to read."""

from collections.abc import Iterator

from stagrad.ir.index import index_text
from stagrad.ir.kernel import (
    Buffer,
    Copy,
    Fill,
    Immediate,
    Kernel,
    LibraryCall,
    Load,
    Reduce,
    Scalar,
    Schedule,
    Statement,
    Step,
)
from stagrad.ir.primitive import Params, format_param


def schedule_text(schedule: Schedule) -> str:
    """Return the text of a schedule, one step or statement a line.

    In a kernel, `i0`, `i1`, … are positions on the iteration axes.

    >>> import numpy as np, stagrad
    >>> print(stagrad.compile(lambda x: np.sin(x[1:]) * 2.0).lower(stagrad.aval("f64[3]")).schedule)
    schedule(x: f64[3]) {
      k0: over i0 < 2 {
        x = load x[i0 + 1]
        v0 = sin(x)
        c0 = 2.0
        v1 = multiply(v0, c0)
        store v1[i0] = v1
      }
      return v1: f64[2]
    }
    """
    return "\n".join(_lines(schedule))


def _lines(schedule: Schedule) -> Iterator[str]:
    inputs = ", ".join(map(_declared, schedule.inputs))
    yield f"schedule({inputs}) {{"
    for buffer in schedule.constants:
        yield f"  {_declared(buffer)} = constant"
    for step, released in zip(schedule.steps, schedule.releases, strict=True):
        yield from _step(step)
        if released:
            yield f"  free {', '.join(buffer.name for buffer in released)}"
    outputs = ", ".join(map(_declared, schedule.outputs))
    if schedule.workspace:
        yield f"  workspace of {schedule.workspace} bytes"
    yield f"  return {outputs}"
    yield "}"


def _declared(buffer: Buffer) -> str:
    return f"{buffer.name}: {buffer.aval}"


def _step(step: Step) -> Iterator[str]:
    if isinstance(step, Kernel):
        yield f"  {step.name}: {_space(step)} {{"
        for item in step.statements:
            yield f"    {_statement(item)}"
        yield "  }"
    elif isinstance(step, LibraryCall):
        results = ", ".join(map(_declared, step.results))
        place = " in place" if step.in_place else ""
        yield f"  {results} = {_call(step.primitive.name, step.operands, step.params)}{place}"
    elif isinstance(step, Copy):
        yield f"  {_declared(step.result)} = copy of {step.operand.name}"
    elif isinstance(step, Fill):
        number = format_param(step.literal.array.item())
        yield f"  {_declared(step.result)} = filled with {number}"
    else:
        call = _call(step.primitive.name, (step.operand,), step.params)
        yield f"  {_declared(step.result)} = view {call}"


def _space(kernel: Kernel) -> str:
    limits = ", ".join(f"i{axis} < {extent}" for axis, extent in enumerate(kernel.space))
    text = f"over {limits}" if limits else "once"
    if kernel.cols:
        text += f", sweeping {', '.join(f'i{axis}' for axis in kernel.cols)}"
    if kernel.chunks is not None:
        text += f", in chunks of {kernel.chunks.length} along i{kernel.chunks.axis}"
    return text


def _statement(item: Statement) -> str:
    if isinstance(item, Load):
        return f"{item.name} = load {item.buffer.name}{index_text(item.index)}"
    if isinstance(item, Immediate):
        return f"{item.name} = {format_param(item.literal.array.item())}"
    if isinstance(item, Scalar):
        return f"{item.name} = {_call(item.primitive.name, item.operands, item.params)}"
    if isinstance(item, Reduce):
        axes = ", ".join(f"i{axis}" for axis in item.over)
        return f"{item.name} = {item.primitive.name} of {item.operand.name} over {axes}"
    return f"store {item.buffer.name}{index_text(item.index)} = {item.value.name}"


def _call(name: str, operands: tuple[Buffer | Statement, ...], params: Params) -> str:
    arguments = [getattr(operand, "name", "") for operand in operands]
    arguments += [f"{key}={format_param(value)}" for key, value in sorted(params.items())]
    return f"{name}({', '.join(arguments)})"
