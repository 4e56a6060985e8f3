"""The path of a repeated call: a generated function that checks arguments and runs the program.

The code is specialised to one signature: it takes the containers apart, compares shapes and dtypes,
checks the guards and calls the emitted function, with no loop and no flattening. Anything it does
not recognise makes it answer MISS, and the general path decides.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import optree

from stagrad.api.program import Program
from stagrad.api.signature import Signature, Static
from stagrad.ir import Aval
from stagrad.ir.aval import PYTHON_SCALARS
from stagrad.trace import Guards, StaticLeaf, TreeSpec
from stagrad.trace.draws import Draw

MISS = object()

_INDENT = "        "


class _Writer:
    """Collects the lines of the check and the objects they mention."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"MISS": MISS, "ndarray": np.ndarray}
        self.lines: list[str] = []
        self.leaves: list[str] = []
        self._supported = True

    def is_supported(self) -> bool:
        """Say whether the check can be written for what has been seen."""
        return self._supported

    def give_up(self) -> None:
        """Note something the check cannot be written for."""
        self._supported = False

    def hold(self, value: Any) -> str:
        """Return a name for an object the generated code uses."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def require(self, condition: str) -> None:
        """Make the check answer MISS unless the condition holds."""
        self.lines.append(f"{_INDENT}if not ({condition}): return MISS")

    def take_apart(self, spec: TreeSpec, value: str) -> None:
        """Emit code that binds the leaves of a container to local names."""
        kind = spec.type
        children = spec.children()
        if kind is None:
            if spec.is_leaf():
                self.leaves.append(value)
            else:
                self.require(f"{value} is None")
        elif kind in (tuple, list):
            self.require(f"type({value}) is {kind.__name__} and len({value}) == {len(children)}")
            self._parts(children, [f"{value}[{place}]" for place in range(len(children))])
        elif kind is dict:
            self.require(f"type({value}) is dict and len({value}) == {len(children)}")
            keys = [
                self.hold(key) if not isinstance(key, str) else repr(key) for key in spec.entries()
            ]
            self._parts(children, [f"{value}[{key}]" for key in keys])
        elif optree.is_namedtuple_class(kind):
            self.require(f"type({value}) is {self.hold(kind)}")
            self._parts(children, [f"{value}[{place}]" for place in range(len(children))])
        else:
            self.give_up()

    def _parts(self, children: list[TreeSpec], values: list[str]) -> None:
        for child, value in zip(children, values, strict=True):
            if child.type is type(None):
                self.require(f"{value} is None")
                continue
            name = f"v{len(self.lines)}"
            self.lines.append(f"{_INDENT}{name} = {value}")
            self.take_apart(child, name)

    def check_leaf(self, leaf: Aval | StaticLeaf, given: Any, name: str) -> None:
        """Emit the check that a leaf is traced as before."""
        if isinstance(leaf, StaticLeaf):
            given = given.value if isinstance(given, Static) else given
            if isinstance(given, bool | int | float | str):
                self.require(
                    f"type({name}) is {self.hold(type(given))} and {name} == {self.hold(given)}"
                )
            else:
                self.give_up()
        elif leaf.weak:
            scalar = next(kind for kind, dtype in PYTHON_SCALARS.items() if dtype == leaf.dtype)
            self.require(f"type({name}) is {scalar.__name__}")
        elif isinstance(given, np.ndarray):
            shape, dtype = self.hold(leaf.shape), self.hold(leaf.dtype)
            self.require(
                f"type({name}) is ndarray and {name}.shape == {shape} and {name}.dtype is {dtype}"
            )
        elif isinstance(given, np.generic):
            self.require(f"type({name}) is {self.hold(type(given))}")
        else:
            self.give_up()


def fast_entry(
    signature: Signature, program: Program, run: Callable[..., Any], guards: Guards
) -> Callable[[tuple[Any, ...], dict[str, Any]], Any] | None:
    """Return `call(args, kwargs)` for this signature, or None when it needs the general path."""
    if program.written:
        return None
    writer = _Writer()
    args_spec, kwargs_spec = signature.spec.children()
    writer.require(f"len(args) == {args_spec.num_children}")
    writer.take_apart(args_spec, "args")
    if kwargs_spec.num_children:
        writer.take_apart(kwargs_spec, "kwargs")
    else:
        writer.require("not kwargs")
    if not writer.is_supported():
        return None
    for leaf, given, name in zip(signature.leaves, signature.values, writer.leaves, strict=True):
        writer.check_leaf(leaf, given, name)
    guard = guards.source(writer.names)
    if guard:
        writer.require(guard)
    operands = [
        name
        for leaf, name in zip(signature.leaves, writer.leaves, strict=True)
        if isinstance(leaf, Aval)
    ]
    operands += [_captured(writer, value) for value in program.captures]
    result = _result_text(program, writer)
    if not writer.is_supported():
        return None
    return _compiled(writer, operands, result, run)


def _captured(writer: _Writer, value: Any) -> str:
    name = writer.hold(value)
    return f"{name}()" if isinstance(value, Draw) else name


def _compiled(
    writer: _Writer, operands: list[str], result: str, run: Callable[..., Any]
) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
    text = "\n".join(
        [
            "def call(args, kwargs):",
            "    try:",
            *writer.lines,
            "    except (LookupError, AttributeError, TypeError):",
            "        return MISS",
            f"    outputs = run({', '.join(operands)})",
            f"    return {result}",
        ]
    )
    names = writer.names | {"run": run}
    exec(compile(text, "<stagrad call check>", "exec"), names)
    return names["call"]  # type: ignore[no-any-return]


def _result_text(program: Program, writer: _Writer) -> str:
    leaves = iter(program.result.leaves)

    def build(spec: TreeSpec) -> str:
        kind = spec.type
        if kind is None and spec.is_leaf():
            leaf = next(leaves)
            return f"outputs[{leaf}]" if isinstance(leaf, int) else writer.hold(leaf.value)
        parts = [build(child) for child in spec.children()]
        if kind is tuple:
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        if kind is list:
            return f"[{', '.join(parts)}]"
        if kind is dict:
            keys = [writer.hold(key) for key in spec.entries()]
            pairs = (f"{key}: {part}" for key, part in zip(keys, parts, strict=True))
            return f"{{{', '.join(pairs)}}}"
        if kind in (None, type(None)):
            return "None"
        writer.give_up()
        return "None"

    return build(program.result.spec)
