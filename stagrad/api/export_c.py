"""Exporting to C: a function or its gradient as a C file, with a header and a test program."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stagrad.api.export_trees import described, take_arguments, tree_text
from stagrad.api.function import CompiledFunction
from stagrad.api.lowering import c_name, lower_program
from stagrad.api.program import Program
from stagrad.api.signature import Signature
from stagrad.codegen import constant_name, emit_c, standalone_text, stored_type, table
from stagrad.codegen import unbound_symbols as unbound
from stagrad.errors import UnsupportedError
from stagrad.ir import Aval
from stagrad.ir.kernel import LibraryCall, Schedule
from stagrad.ir.naming import C_NAMES, Names
from stagrad.ir.native import NativeProgram
from stagrad.passes import lower, unknown_dtype

_OWN_NAMES = {"serial", "runtime", "sizes", "numbers", "symbols", "memory", "failed", "puts"}
_TOLERANCES = {"f2": 1e-2, "f4": 1e-4, "f8": 1e-9, "c8": 1e-4, "c16": 1e-9}
"""What a program that computes in a dtype may differ by, relative to a result's largest number."""

_COMMAND = "cc -std=gnu11 -O3 -fopenmp-simd -ffp-contract=off -fwrapv -fno-strict-aliasing"


@dataclass(frozen=True)
class _Parameter:
    """An argument of the exported function; `value` is what the example has there."""

    name: str
    told: str
    aval: Aval
    pointer: bool
    changed: bool = False
    value: Any = None

    @property
    def kind(self) -> str:
        """The type of the elements."""
        return "bool" if self.aval.dtype.kind == "b" else stored_type(self.aval.dtype)

    @property
    def declared(self) -> str:
        """The declaration, as in the prototype."""
        if not self.pointer:
            return f"{self.kind} {self.name}"
        return f"{'' if self.changed else 'const '}{self.kind} *{self.name}"

    @property
    def address(self) -> str:
        """The address of the elements."""
        return f"(char *){'' if self.pointer else '&'}{self.name}"


def export_c(
    target: CompiledFunction,
    program: Program,
    signature: Signature,
    path: Path,
    origin: str,
    *,
    blas: bool,
) -> Path:
    """Write a program as `path`, its header and, if the arguments are arrays, its test program.

    Raises UnsupportedError for what only Python can run, naming the operation and the line.
    """
    exported = _File(target, program, signature, path, origin, blas)
    path.write_text(exported.source(), encoding="utf-8")
    path.with_suffix(".h").write_text(exported.header(), encoding="utf-8")
    if not any(isinstance(value, Aval) for value in signature.values):
        test = path.with_name(f"{path.stem}_test.c")
        test.write_text(exported.test(target.label), encoding="utf-8")
    return path


class _File:
    """The parts of an exported program: what its parameters are, and the texts made of them."""

    def __init__(
        self,
        target: CompiledFunction,
        program: Program,
        signature: Signature,
        path: Path,
        origin: str,
        blas: bool,
    ) -> None:
        self.program = program
        self.path = path
        self.blas = blas
        self.native = _native(program, target.label)
        names = Names({*C_NAMES, *_OWN_NAMES, *_defined(self.native.text)})
        self.name = names.take(re.sub(r"[^a-zA-Z0-9_]", "_", target.label))
        taker, _ = take_arguments(signature, target.parameters.names, names)
        places = [place for place, leaf in enumerate(signature.leaves) if isinstance(leaf, Aval)]
        changed = {position for position, _ in program.written}
        self.fixed = [told for place, told in enumerate(taker.told) if place not in places]
        self.inputs = [
            _Parameter(
                taker.arrays[position],
                taker.told[place],
                program.graph.inputs[position].aval,
                pointer=bool(program.graph.inputs[position].aval.ndim) or position in changed,
                changed=position in changed,
                value=signature.values[place],
            )
            for position, place in enumerate(places)
        ]
        self.captured = [names.generated("captured_") for _ in program.captures]
        self._take_outputs(names)
        self.origin = origin

    def _take_outputs(self, names: Names) -> None:
        """Give every array that comes back a parameter; others are kept in the workspace."""
        leaves = [leaf for leaf in self.program.result.leaves if isinstance(leaf, int)]
        wanted = list(dict.fromkeys(leaves))
        self.outputs: dict[int, _Parameter] = {}
        for place, output in enumerate(wanted):
            aval = self.native.outputs[output]
            name = names.take("result" if len(wanted) == 1 else f"result_{place}")
            told = f"{name}: {described(Aval(aval.shape, aval.dtype))}"
            self.outputs[output] = _Parameter(name, told, aval, pointer=True, changed=True)
        self.kept: dict[int, int] = {}
        self.workspace = self.native.workspace
        for output, aval in enumerate(self.native.outputs):
            if output not in self.outputs:
                self.kept[output] = self.workspace
                self.workspace += -(-aval.nbytes // 64) * 64

    @property
    def _size(self) -> str:
        return f"{self.name.upper()}_WORKSPACE"

    @property
    def _command(self) -> str:
        """The compiler and its flags; C's product of complex infinities is not NumPy's."""
        complex_too = any(
            aval.dtype.kind == "c" for node in self.program.graph.nodes for aval in node.avals
        )
        return f"{_COMMAND} -fcx-fortran-rules" if complex_too else _COMMAND

    def _prototype(self, end: str, told: bool) -> str:
        parameters = [*self.inputs, *self.outputs.values()]
        lines = []
        for item in parameters:
            line = f"    {item.declared},"
            note = _comment(item.told.removeprefix(f"{item.name}: "))
            lines.append(f"{line:<40} /* {note} */" if told else line)
        memory = "    void *workspace"
        closed = f"){end}"
        lines.append(f"{memory + closed:<40} /* {self._size} bytes */" if told else memory + closed)
        return "\n".join([f"int {self.name}(", *lines])

    def header(self) -> str:
        """Return the header: the prototype, and what to know before calling it."""
        returned = tree_text(
            self.program.result.spec,
            iter(self.program.result.leaves),
            lambda leaf: self.outputs[leaf].name if isinstance(leaf, int) else repr(leaf.value),
        )
        needs = "the C library's mathematics (-lm)"
        if self.blas and self.native.symbols:
            needs += ", and BLAS with 32-bit integers for products"
        about = [
            f"/* {self.name}: exported by stagrad from {_comment(self.origin)}.",
            "",
            "   Arrays are C-contiguous, of the shapes and types beside them. Results lie apart",
            "   from arguments and from each other. `workspace` is memory from malloc that the",
            "   call may use, or NULL: then it allocates and frees its own. Returns 0, or 1 where",
            "   memory is lacking or an index lies outside of its array. Calls share nothing, so",
            "   threads may make them at the same time.",
            "",
            f"   Python's function returns {_comment(returned)}.",
            *(f"   Exported for {_comment(told)}." for told in self.fixed),
            f"   Needs {needs}. C of 2011 with GNU's extensions:",
            f"   {self._command} -c {self.path.name} */",
        ]
        guard = f"{self.name.upper()}_H"
        return "\n".join(
            [
                *about,
                f"#ifndef {guard}\n#define {guard}\n",
                "#include <complex.h>\n#include <stdbool.h>\n#include <stdint.h>\n",
                f"#define {self._size} {self.workspace} /* bytes */\n",
                self._prototype(";", told=True),
                "\n#endif\n",
            ]
        )

    def source(self) -> str:
        """Return the C file."""
        captures = self.program.captures
        avals = self.native.inputs[len(self.inputs) :]
        tables = [
            table(name, np.asarray(value, aval.dtype))
            for name, value, aval in zip(self.captured, captures, avals, strict=True)
        ]
        parts = [
            f"/* {self.name}: exported by stagrad from {_comment(self.origin)};"
            f" {self.path.stem}.h says how to call it. */",
            f'#include "{self.path.stem}.h"',
            standalone_text(self.native, blas=self.blas),
            *tables,
            "\n".join([self._prototype("", told=False), "{", *self._body(), "}"]),
        ]
        return "\n\n".join(parts) + "\n"

    def _body(self) -> list[str]:
        addresses = [item.address for item in self.inputs]
        addresses += [f"(char *){name}" for name in self.captured]
        addresses += [f"(char *){constant_name(k)}" for k in range(len(self.native.constants))]
        for output in range(len(self.native.outputs)):
            kept = self.kept.get(output)
            addresses.append(self.outputs[output].address if kept is None else f"memory + {kept}")
        lines = []
        if self.workspace:
            lines.append(
                f"char *const memory = workspace != NULL ? workspace : malloc({self._size});"
            )
            lines.append("if (memory == NULL)\n        return 1;")
        else:
            lines.append("char *const memory = workspace;")
        lines.append("char *const arrays[] = {")
        lines += [f"    {address}," for address in addresses or ["NULL"]]
        lines.append("};")
        call = f"{self.native.name}(&runtime, arrays, memory, sizes, numbers)"
        lines.append(f"const int failed = {call};")
        for position, output in self.program.written:
            item = self.inputs[position]
            kept = self.kept.get(output)
            found = self.outputs[output].name if kept is None else f"memory + {kept}"
            if item.aval.nbytes:
                lines.append(f"memcpy({item.name}, {found}, {item.aval.nbytes});")
        if self.workspace:
            lines.append("if (workspace == NULL)\n        free(memory);")
        lines.append("return failed;")
        return [f"    {line}" for line in lines]

    def test(self, label: str) -> str:
        """Return the test program: the example's arguments, and what NumPy makes of them."""
        run = lower_program(self.program, label, backend="numpy").compile()
        given = [np.array(item.value, item.aval.dtype) for item in self.inputs]
        wanted = run(*(np.array(value) for value in given), *self.program.captures)
        computed = (aval.dtype.str[1:] for node in self.program.graph.nodes for aval in node.avals)
        relative = max((_TOLERANCES.get(dtype, 0.0) for dtype in computed), default=0.0)
        tables, checks = [], []
        for item, value in zip(self.inputs, given, strict=True):
            tables.append(table(f"given_{item.name}", value, constant=not item.changed))
        returned = [(item, wanted[output], "found") for output, item in self.outputs.items()]
        for item, _, _ in returned:
            tables.append(f"static {item.kind} found_{item.name}[{max(item.aval.size, 1)}];")
        returned += [
            (self.inputs[k], wanted[output], "given") for k, output in self.program.written
        ]
        for item, value, where in returned:
            array = np.asarray(value, item.aval.dtype)
            tables.append(table(f"wanted_{item.name}", array))
            checks.append(_check(item, array, where, relative))
        arguments = [
            f"({item.kind} *)given_{item.name}" if item.pointer else f"given_{item.name}[0]"
            for item in self.inputs
        ]
        arguments += [f"found_{item.name}" for item in self.outputs.values()]
        call = ",\n        ".join([*arguments, "NULL"])
        main = [
            "int main(void)\n{",
            f'    if ({self.name}(\n        {call}) != 0) {{\n        puts("failed");',
            "        return 1;\n    }",
            *checks,
            '    puts("ok");\n    return 0;\n}',
        ]
        heading = (
            f"/* {self.name} on the arguments it was exported with, against NumPy's results.\n"
            f"   {self._command} {self.path.name} {self.path.stem}_test.c -lm */"
        )
        includes = "\n".join(
            ["#include <math.h>", "#include <stdio.h>", f'#include "{self.path.stem}.h"']
        )
        return "\n\n".join([heading, includes, *tables, _DIFFERS, "\n".join(main)]) + "\n"


_DIFFERS = """\
static int tell(const char *name, int64_t at, double found, double wanted)
{
    printf("%s, element %lld: %.17g, not %.17g\\n", name, (long long)at, found, wanted);
    return 1;
}

static inline int differs(const char *name, int64_t at, double found, double wanted,
                          double tolerance)
{
    if (found == wanted || (isnan(found) && isnan(wanted)) || fabs(found - wanted) <= tolerance)
        return 0;
    return tell(name, at, found, wanted);
}"""


def _check(item: _Parameter, wanted: np.ndarray, where: str, relative: float) -> str:
    """Return the lines that compare a result with what it should be."""
    count, part, finite = wanted.size, "", np.abs(wanted[np.isfinite(wanted)]).astype(float)
    tolerance = relative * max(1.0, float(finite.max(initial=0.0)))
    if wanted.dtype.kind == "c":
        count *= 2
        part = "(const float *)" if wanted.dtype.itemsize == 8 else "(const double *)"
    found, right = (f"({part}{side}_{item.name})[i]" for side in (where, "wanted"))
    if not part:
        found, right = (f"{side}_{item.name}[i]" for side in (where, "wanted"))
    compared = f"(double){found}, (double){right}"
    lines = [
        f"    for (int64_t i = 0; i < {count}; i++)",
        f'        if (differs("{item.name}", i, {compared}, {tolerance:.1e}))',
        "            return 1;",
    ]
    if wanted.dtype.kind in "iu":
        lines[1] = f'        if ({found} != {right} && tell("{item.name}", i, {compared}))'
    return "\n".join(lines)


def _native(program: Program, label: str) -> NativeProgram:
    """Return the emitted program; raises UnsupportedError for what has no form in C."""
    dtype = unknown_dtype(program.graph)
    if dtype is not None:
        raise UnsupportedError(
            f"export: C has no {dtype}; cast to another dtype, or export to a file named .py"
        )
    schedule = lower(program.graph, native=True).schedule
    native = emit_c(schedule, c_name(label))
    for callback in native.callbacks:
        if not callback.fallback:
            _refuse(schedule, callback.primitive.name, callback.params)
    if unbound(native):
        raise UnsupportedError(
            f"export: the program calls {', '.join(unbound(native))}, which a C file of its own "
            "lacks; export to a file named .py"
        )
    return native


def _refuse(schedule: Schedule, name: str, params: Any) -> None:
    """Raise UnsupportedError for an operation that has no form in C, with the line it is from."""
    place = ""
    for step in schedule.steps:
        if isinstance(step, LibraryCall) and step.primitive.name == name and step.params is params:
            node: Any = step.node
            while node.source is None and node.primal is not None:
                node, place = node.primal, "for the derivative of "
            place = f" ({place}{node.source})" if node.source is not None else ""
            break
    raise UnsupportedError(
        f"export: {name}{place} has no form in C, and a C file cannot call Python. Compute it "
        "outside and pass the result as an argument, or export to a file named .py"
    )


def _defined(text: str) -> Sequence[str]:
    """Return the names of the functions that C text defines."""
    return re.findall(r"^(?:\w+ )+(\w+)\(", text, re.MULTILINE)


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("/*", "/ *")
