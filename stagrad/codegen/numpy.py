"""The NumPy target: a Schedule as a module that needs only NumPy, and SciPy where it is used."""

import inspect
import re
import textwrap

from stagrad.ir import format_param
from stagrad.ir.kernel import Buffer, Copy, Kernel, LibraryCall, Schedule, Step, View


def emit(schedule: Schedule, name: str) -> str:
    """Return the text of a module defining `name`: the inputs in order, a tuple of outputs back."""
    lines = [_constant(buffer) for buffer in schedule.constants if buffer.aval.shape]
    body = [
        f"{buffer.name} = {_numpy(format_param(buffer.aval.dtype))}({buffer.name})"
        for buffer in schedule.inputs
        if buffer.aval.weak
    ]
    body += [
        f"{buffer.name} = {_scalar(buffer)}"
        for buffer in schedule.constants
        if not buffer.aval.shape
    ]
    for step in schedule.steps:
        body += _step(step)
    returned = "".join(f"{_returned(buffer)}, " for buffer in schedule.outputs).strip()
    body.append(f"return ({returned})")
    arguments = ", ".join(buffer.name for buffer in schedule.inputs)
    text = "\n".join(
        [
            "",
            '@np.errstate(all="ignore")',
            f"def {name}({arguments}):",
            *(f"    {line}" for line in body),
        ]
    )
    helpers = _helpers(schedule)
    whole = "\n\n".join([*helpers, *lines, text]) + "\n"
    return _imports(whole) + "\n\n" + whole


def _imports(text: str) -> str:
    lines = ["import numpy as np"]
    used = [module for module in ("linalg", "special") if re.search(rf"\b(?<!\.){module}\.", text)]
    if used:
        lines.append(f"from scipy import {', '.join(used)}")
    return "\n".join(lines)


def _numpy(text: str) -> str:
    return re.sub(r"\bxp\b", "np", text)


def _constant(buffer: Buffer) -> str:
    return f"{buffer.name} = {_numpy(format_param(buffer.literal))}"


def _scalar(buffer: Buffer) -> str:
    array = buffer.literal.array
    return f"{_numpy(format_param(array.dtype))}({_numpy(format_param(array.item()))})"


def _returned(buffer: Buffer) -> str:
    return buffer.name if buffer.aval.shape else f"{buffer.name}[()]"


def _helpers(schedule: Schedule) -> list[str]:
    found = {}
    for step in schedule.steps:
        if isinstance(step, LibraryCall | View):
            for helper in step.primitive.helpers:
                found[helper.__name__] = _numpy(textwrap.dedent(inspect.getsource(helper))).rstrip()
    return list(found.values())


def _step(step: Step) -> list[str]:
    if isinstance(step, Copy):
        return [f"{step.result.name} = np.array({step.operand.name})"]
    assert not isinstance(step, Kernel)
    operands = step.operands if isinstance(step, LibraryCall) else (step.operand,)
    results = step.results if isinstance(step, LibraryCall) else (step.result,)
    text = _numpy(step.primitive.expression(tuple(item.name for item in operands), step.params))
    comma = "," if step.primitive.multiple and len(results) == 1 else ""
    return [f"{', '.join(item.name for item in results)}{comma} = {text}"]
