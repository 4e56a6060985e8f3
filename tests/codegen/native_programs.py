"""Many C programs in one translation unit: one by one, they would take the compiler minutes."""

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stagrad.codegen import emit_c
from stagrad.ir import Graph
from stagrad.ir.native import NativeProgram
from stagrad.passes import lower
from stagrad.runtime.native import load_native

INCLUDE = '#include "stagrad.h"\n'
_NAMES = (r"static void (\w+)\(", r"declare reduction\((\w+) ")


def load_together(graphs: Sequence[Graph]) -> list[Callable[..., Sequence[Any]]]:
    """Return the graphs' C programs, loaded from one object."""
    schedules = [lower(graph, native=True).schedule for graph in graphs]
    programs = [emit_c(item, f"program_{place}") for place, item in enumerate(schedules)]
    text = INCLUDE + "\n".join(map(_apart, programs))
    return [load_native(dataclasses.replace(program, text=text)) for program in programs]


def _apart(program: NativeProgram) -> str:
    """Return a program's text with names of its own for its kernels."""
    text = program.text.removeprefix(INCLUDE)
    names = {name for pattern in _NAMES for name in re.findall(pattern, text)}
    for name in names:
        text = re.sub(rf"\b{name}\b", f"{program.name}_{name}", text)
    return text


def without_comments(text: str) -> str:
    """Return C text as the key of its compiled object sees it."""
    return re.sub(r"[ \t]*/\*.*?\*/", "", text, flags=re.DOTALL)


def copies(arguments: Sequence[Any]) -> list[Any]:
    """Return arguments that a program may change without anybody noticing."""
    return [np.array(item) if isinstance(item, np.ndarray) else item for item in arguments]
