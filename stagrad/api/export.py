"""Exporting: a function or its gradient as a file that needs no stagrad, in Python or C."""

import base64
import inspect
import os
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from stagrad.api import export_checks, transforms
from stagrad.api.export_c import export_c
from stagrad.api.export_trees import (
    containers_with_fields,
    described,
    dtype_text,
    fields_of,
    output_text,
    take_arguments,
    tree_text,
)
from stagrad.api.function import CompiledFunction
from stagrad.api.lowering import lower_program
from stagrad.api.program import Program
from stagrad.api.signature import Signature
from stagrad.errors import UnsupportedError
from stagrad.ir.naming import Names
from stagrad.trace.draws import Draw

_SPELLED = 16
"""Captured arrays of more elements than this are written as base64 of their bytes."""


def export(
    function: Callable[..., Any],
    *example_args: Any,
    path: str | os.PathLike[str],
    grad: Any = None,
    blas: bool = False,
    **example_kwargs: Any,
) -> Path:
    """Write a function, or its gradient, as a Python or C file that needs no stagrad.

    A Python file needs NumPy (and SciPy if used), a C file the C library.

    - function: a NumPy function, or one made by `compile`, `grad`, `value_and_grad` and their kin.
    - example_args, example_kwargs: arguments, or avals. The file is made for their shapes, dtypes
      and static values, and refuses others with an error that names the argument.
    - path: the file to write; one named .c is C, any other Python.
    - grad: argnums as for `stagrad.grad`, to export the gradient; by default the function itself.
    - blas: C only: products call BLAS (`dgemm_`, …) instead of loops of their own.

    The exported Python function takes the arguments by their names, containers included: dicts,
    tuples and lists, and any object with the attributes of a named tuple or dataclass. It returns
    the same containers; named tuples and dataclasses come back as named tuples defined in the file.
    Captured arrays are written into the file as they are now. Returns the path.

    Beside `f.c` stand `f.h`, which declares the C function and says what its pointers are, and, if
    the arguments are numbers and arrays, `f_test.c`: it calls the function with them and prints
    "ok" where the results agree with NumPy's. The emitted C needs a compiler that knows gnu11.

    Raises UnsupportedError for containers and results that a file cannot hold, and in C for
    operations that only Python can run, naming the line; ValueError for `blas` and a Python file.

    >>> import numpy as np, runpy, stagrad, tempfile
    >>> def loss(x):
    ...     return np.sum(x**3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = stagrad.export(loss, np.ones(2), path=f"{folder}/loss_grad.py", grad=0)
    ...     runpy.run_path(str(path))["grad_loss"](np.array([1.0, 2.0]))
    array([ 3., 12.])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = stagrad.export(loss, np.ones(2), path=f"{folder}/loss_grad.c", grad=0)
    ...     "const double *x," in path.with_suffix(".h").read_text()
    True
    """
    target: CompiledFunction = function  # type: ignore[assignment]
    if grad is not None:
        target = transforms.grad(function, grad)
    elif not isinstance(function, CompiledFunction):
        target = transforms.compile(function)
    program, signature = target.program(example_args, example_kwargs)
    if any(isinstance(value, Draw) for value in program.captures):
        raise UnsupportedError(
            f"export: {target.parameters.function_name} draws random numbers from a generator, "
            "which a file of its own has none of. Pass the numbers as an argument, or "
            "draw them with stagrad.random and a key that is one"
        )
    path = Path(path)
    if path.suffix == ".c":
        origin = _origin(function, grad)
        return export_c(target, program, signature, path, origin, blas=blas)
    if blas:
        raise ValueError(f"export: blas=True is for C files, named .c, and not for {path.name}")
    text = _File(target, program, signature).text(_origin(function, grad))
    path.write_text(text, encoding="utf-8")
    return path


def _origin(function: Callable[..., Any], argnums: Any) -> str:
    """Return what was exported, in words: loss (model.py:3)."""
    plain = inspect.unwrap(function)
    words = str(getattr(plain, "__name__", type(plain).__name__))
    code = getattr(plain, "__code__", None)
    if code is not None:
        words += f" ({Path(code.co_filename).name}:{code.co_firstlineno})"
    return words if argnums is None else f"{words} with grad={argnums!r}"


class _File:
    """The parts of an exported file: the program, captured arrays, checks and the function."""

    def __init__(self, target: CompiledFunction, program: Program, signature: Signature) -> None:
        self.program = program
        self.names = Names(_checks())
        self.inner = self.names.take(f"_{target.label}")
        self.code = lower_program(program, self.inner, backend="numpy").source
        clash = re.search(rf"^(def )?{target.label}\b", self.code, re.MULTILINE)
        self.name = self.names.take(f"{target.label}_exported" if clash else target.label)
        known = target.parameters.names
        self.taker, self.parameters = take_arguments(signature, known, self.names)
        self.outputs = self.names.take("outputs")
        self.captured = [self.names.generated("data") for _ in program.captures]

    def text(self, origin: str) -> str:
        """Return the whole file."""
        imports, _, code = self.code.partition("\n\n\n")
        function = self._function()
        parts = [code.rstrip("\n"), *self._definitions(), *_used_checks(function), function]
        more = []
        if self.captured:
            more.append("import base64")
        if any(True for _ in containers_with_fields(self.program.result.spec)):
            more.append("from collections import namedtuple")
        heading = "\n".join([*more, *([""] if more else []), imports])
        return "\n\n\n".join([f"{self._heading(origin, imports)}\n\n{heading}", *parts]) + "\n"

    def _heading(self, origin: str, imports: str) -> str:
        outputs = self.program.graph.outputs
        returned = tree_text(
            self.program.result.spec,
            iter(self.program.result.leaves),
            lambda leaf: (
                described(outputs[leaf].aval) if isinstance(leaf, int) else repr(leaf.value)
            ),
        )
        needed = "NumPy and SciPy" if "scipy" in imports else "NumPy"
        lines = [
            f'"""{self.name}: exported by stagrad from {origin}; needs {needed}.',
            "",
            "Arguments:",
            *(f"    {line}" for line in self.taker.told or ["none"]),
            "Returns:",
            f"    {returned}",
            '"""',
        ]
        return "\n".join(line.replace("\\", "\\\\") for line in lines)

    def _definitions(self) -> list[str]:
        """Return the captured arrays, and the named tuples that results are made of."""
        lines = [
            f"{name} = {_array_text(np.asarray(value))}"
            for name, value in zip(self.captured, self.program.captures, strict=True)
        ]
        for spec in containers_with_fields(self.program.result.spec):
            kind = str(getattr(spec.type, "__name__", ""))
            line = f'{kind} = namedtuple("{kind}", {fields_of(spec)})'
            if line not in lines:
                lines.append(line)
        return ["\n".join(lines)] if lines else []

    def _function(self) -> str:
        operands = ", ".join([*self.taker.arrays, *self.captured])
        lines = ['"""Run the program; the top of the file says with what, and what comes back."""']
        lines += [*self.taker.lines, f"{self.outputs} = {self.inner}({operands})"]
        lines += [
            f"{self.taker.arrays[position]}[...] = {self.outputs}[{output}]"
            for position, output in self.program.written
        ]
        result = self.program.result
        returned = tree_text(
            result.spec, iter(result.leaves), lambda leaf: output_text(leaf, self.outputs)
        )
        lines.append(f"return {returned}")
        head = f"def {self.name}({', '.join(self.parameters)}):"
        return "\n".join([head, *(f"    {line}" for line in lines)])


def _array_text(array: np.ndarray) -> str:
    """Return the expression of a captured array, exact to the bit."""
    dtype = dtype_text(array.dtype)
    if 0 < array.size <= _SPELLED and np.isfinite(array).all():
        listed = np.array2string(array, separator=", ", floatmode="unique", threshold=_SPELLED)
        return f"np.array({listed}, {dtype})".replace("\n", "")
    little = array.astype(array.dtype.newbyteorder("<"))
    data = textwrap.wrap(base64.b64encode(little.tobytes()).decode(), 88)
    quoted = "\n".join(f'    "{line}"' for line in data) or '    ""'
    read = f"np.frombuffer(base64.b64decode(\n{quoted}\n), {little.dtype.str!r})"
    return f"{read}.astype({dtype}).reshape({array.shape})"


def _checks() -> dict[str, Callable[..., Any]]:
    """Return the functions that exported files check arguments with."""
    return {name: value for name, value in vars(export_checks).items() if inspect.isfunction(value)}


def _used_checks(text: str) -> list[str]:
    return [
        inspect.getsource(function).rstrip()
        for name, function in _checks().items()
        if f"{name}(" in text
    ]
