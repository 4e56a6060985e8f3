"""Containers in exported files: taking arguments apart, and putting results together."""

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import optree

from stagrad.api.signature import Signature
from stagrad.errors import UnsupportedError
from stagrad.ir import Aval
from stagrad.ir.naming import Names
from stagrad.trace import StaticLeaf, TreeSpec

_LITERALS = (bool, int, float, complex, str, bytes, type(None))


def described(aval: Aval) -> str:
    """Return an aval in NumPy's words: `float64 (3, 4)`; a weak one is a Python number."""
    if aval.weak:
        return _python_kind(aval)
    return f"{aval.dtype.name} {aval.shape}" if aval.shape else aval.dtype.name


def dtype_text(dtype: np.dtype) -> str:
    """Return the text of a dtype in an exported file."""
    return f"np.{'bool_' if dtype.kind == 'b' else dtype.name}"


def _python_kind(aval: Aval) -> str:
    return {"i": "int", "f": "float", "c": "complex"}[aval.dtype.kind]


class Taker:
    """Writes the lines that check arguments and bind every array in them to a name.

    `lines` are those, `arrays` the names in the order of the program's inputs, and `told` says for
    every leaf what it has to be.
    """

    def __init__(self, leaves: Sequence[Aval | StaticLeaf], names: Names) -> None:
        self.lines: list[str] = []
        self.arrays: list[str] = []
        self.told: list[str] = []
        self._leaves = iter(leaves)
        self._names = names

    def take(self, spec: TreeSpec, value: str, told: str) -> str | None:
        """Take apart the value of an expression, which messages call `told`.

        Returns the text of the only value it may have, where that is known.
        """
        kind = spec.type
        if spec.is_leaf():
            return self._leaf(value, told)
        if kind is type(None):
            self.lines.append(f"_fixed({value}, {told!r}, None)")
            return "None"
        if has_fields(kind):
            self._parts(spec, value, told, [f".{name}" for name in fields_of(spec)])
        elif kind in (tuple, list):
            self.lines.append(f"_sequence({value}, {told!r}, {spec.num_children})")
            self._parts(spec, value, told, [f"[{place}]" for place in range(spec.num_children)])
        elif isinstance(kind, type) and issubclass(kind, dict):
            self.lines.append(f"_dict({value}, {told!r}, {tuple(spec.entries())!r})")
            self._parts(spec, value, told, [f"[{key!r}]" for key in spec.entries()])
        else:
            raise UnsupportedError(
                f"export: {told} is a {getattr(kind, '__name__', kind)}, which an exported file "
                "cannot take apart; pass a dict, a tuple or a list"
            )
        return None

    def _parts(self, spec: TreeSpec, value: str, told: str, steps: list[str]) -> None:
        for step, child in zip(steps, spec.children(), strict=True):
            self.take(child, value + step, told + step)

    def _leaf(self, value: str, told: str) -> str | None:
        leaf = next(self._leaves)
        if isinstance(leaf, StaticLeaf):
            if isinstance(leaf.value, _LITERALS):
                self.lines.append(f"_fixed({value}, {told!r}, {leaf.value!r})")
                self.told.append(f"{told}: {leaf.value!r} and nothing else")
                return repr(leaf.value)
            self.told.append(f"{told}: not used, {leaf.value!r} when this was exported")
            return "None"
        name = value
        if not value.isidentifier():
            name = self._names.take(re.sub(r"\W+", "_", told).strip("_"))
        check = f"_array({value}, {told!r}, {dtype_text(leaf.dtype)}, {leaf.shape})"
        if leaf.weak:
            check = f"_number({value}, {told!r}, {_python_kind(leaf)})"
        self.lines.append(f"{name} = {check}")
        self.told.append(f"{told}: {described(leaf)}")
        self.arrays.append(name)
        return None


def take_arguments(
    signature: Signature, known: Sequence[str], names: Names
) -> tuple[Taker, list[str]]:
    """Return a Taker of all arguments, and the parameters; `known` are a function's own names."""
    taker = Taker(signature.leaves, names)
    args, kwargs = signature.spec.children()
    wanted = [*known[: args.num_children]]
    wanted += [f"arg{place}" for place in range(len(wanted), args.num_children)]
    # All parameters have their names before any part of one gets one.
    taken = [names.take(name) for name in wanted]
    keywords = [names.take(str(name)) for name in kwargs.entries()]
    for name, spec in zip(taken, args.children(), strict=True):
        taker.take(spec, name, name)
    parameters = [*taken, *(["*"] if keywords else [])]
    for name, spec in zip(keywords, kwargs.children(), strict=True):
        fixed = taker.take(spec, name, name)
        parameters.append(name if fixed is None else f"{name}={fixed}")
    return taker, parameters


def has_fields(kind: Any) -> bool:
    """Say whether a container's parts are attributes: a named tuple or a dataclass."""
    return isinstance(kind, type) and (
        optree.is_namedtuple_class(kind) or dataclasses.is_dataclass(kind)
    )


def fields_of(spec: TreeSpec) -> list[str]:
    """Return the attributes that the parts of such a container are."""
    kind: Any = spec.type
    if dataclasses.is_dataclass(kind):
        return [item.name for item in dataclasses.fields(kind) if item.init]
    return list(kind._fields)


def containers_with_fields(spec: TreeSpec) -> Iterator[TreeSpec]:
    """Yield the named tuples and dataclasses of a tree, innermost first."""
    for child in spec.children():
        yield from containers_with_fields(child)
    if not spec.is_leaf() and has_fields(spec.type):
        yield spec


def tree_text(spec: TreeSpec, leaves: Iterator[Any], text_of: Callable[[Any], str]) -> str:
    """Return the expression that builds a tree of leaves, each written by `text_of`."""
    if spec.is_leaf():
        return text_of(next(leaves))
    kind: Any = spec.type
    parts = [tree_text(child, leaves, text_of) for child in spec.children()]
    if kind is tuple:
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    if kind is list:
        return f"[{', '.join(parts)}]"
    if kind is type(None):
        return "None"
    if has_fields(kind):
        return f"{kind.__name__}({', '.join(parts)})"
    if isinstance(kind, type) and issubclass(kind, dict):
        pairs = zip(spec.entries(), parts, strict=True)
        return f"{{{', '.join(f'{key!r}: {part}' for key, part in pairs)}}}"
    raise UnsupportedError(
        f"export: the function returns a {getattr(kind, '__name__', kind)}, which an exported file "
        "cannot build; return a dict, a tuple or a list"
    )


def output_text(leaf: int | StaticLeaf, outputs: str) -> str:
    """Return the expression of one leaf of the result, `outputs` being the program's."""
    if isinstance(leaf, int):
        return f"{outputs}[{leaf}]"
    if isinstance(leaf.value, _LITERALS):
        return repr(leaf.value)
    raise UnsupportedError(
        f"export: the function returns {leaf.value!r}, which an exported file cannot hold"
    )
