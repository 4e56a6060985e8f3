"""Functions that answer no protocol, replaced while a trace runs and put back afterwards.

Three kinds: NumPy's creation functions, in the `numpy` module and in the user's modules that
imported them by name; and SciPy's Python functions (`logsumexp`, `expm`, …), whose code object is
exchanged, so that every reference to them is reached. All replacements ask the context whether a
trace runs in this thread and hand over to the original otherwise, so other threads see no
difference.
"""

import contextlib
import importlib
import random
import sys
import threading
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

from stagrad.ops.convert import holds_traced
from stagrad.ops.define import FUNCTIONS, SCIPY
from stagrad.trace.builtins import builtin_replacements
from stagrad.trace.draws import (
    as_drawing,
    python_originals,
    python_replacements,
    random_originals,
    random_replacements,
)
from stagrad.trace.fresh import np_originals, np_replacements
from stagrad.trace.guards import Guards
from stagrad.trace.protocols import detached
from stagrad.trace.state import current_trace

# Code that looks a NumPy function up in the table while a trace runs finds the replacement's entry.
FUNCTIONS.update(
    {
        np_replacements[name]: FUNCTIONS[original]
        for name, original in np_originals.items()
        if original in FUNCTIONS
    }
)

_lock = threading.RLock()
_depth = 0
_by_identity = {
    id(original): np_replacements[name]
    for name, original in np_originals.items()
    if not isinstance(original, FunctionType)
}


@contextlib.contextmanager
def replaced_functions(guards: Guards) -> Iterator[None]:
    """Keep the replacements in place until the last trace of the process ends.

    The guards know the globals of the functions being traced, where creation functions may have
    been imported by name, and the random generators they read.
    """
    _enter()
    namespaces = {**guards.namespaces, **importing_namespaces}
    undo = [pair for names in namespaces.values() for pair in _replace_imported(names)]
    generators = [(path, path.read()) for path in guards.generators]
    for path, generator in generators:
        path.replace(as_drawing(generator))
    try:
        yield
    finally:
        for path, generator in generators:
            path.replace(generator)
        for names, name, original in undo:
            if original is _ABSENT:
                names.pop(name, None)
            else:
                names[name] = original
        _leave()


importing_namespaces: dict[int, dict[str, Any]] = {}
"""Globals of further modules that were seen to create arrays with functions imported by name."""

_ABSENT = object()


def begin_again_for(frame: FrameType | None) -> bool:
    """Note a user's module whose functions are to be replaced; False when that would not help."""
    if frame is None or id(frame.f_globals) in importing_namespaces:
        return False
    names = frame.f_globals
    helps = any(id(value) in _by_identity for value in names.values()) or any(
        name in builtin_replacements and name not in names for name in frame.f_code.co_names
    )
    if helps:
        importing_namespaces[id(names)] = names
    return helps


def _enter() -> None:
    global _depth
    with _lock:
        _depth += 1
        if _depth == 1:
            _set(np_replacements, random_replacements, python_replacements)
            for exchange in _exchanges():
                exchange.enter()


def _leave() -> None:
    global _depth
    with _lock:
        _depth -= 1
        if _depth == 0:
            _set(np_originals, random_originals, python_originals)
            for exchange in _exchanges():
                exchange.leave()


def _set(*tables: dict[str, Callable[..., Any]]) -> None:
    for module, functions in zip((np, np.random, random), tables, strict=True):
        for name, function in functions.items():
            setattr(module, name, function)


def _replace_imported(names: dict[str, Any]) -> list[tuple[dict[str, Any], str, Any]]:
    """Replace creation functions found in a module's globals; return what to put back."""
    with _lock:
        found = [
            (names, name, value)
            for name, value in list(names.items())
            if id(value) in _by_identity and not name.startswith("__")
        ]
        for _, name, value in found:
            names[name] = _by_identity[id(value)]
        for name, replacement in builtin_replacements.items():
            if name not in names:
                found.append((names, name, _ABSENT))
                names[name] = replacement
    return found


class _Exchange:
    """A SciPy function and the code that lets a composition answer for it under a trace."""

    def __init__(self, function: FunctionType, implementation: Callable[..., Any]) -> None:
        self.function = function
        self.original = function.__code__
        self.name = f"_stagrad_{function.__name__}_{id(function):x}"
        self.code = _forwarding_code(self.original, self.name)
        plain = FunctionType(
            self.original,
            function.__globals__,
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        plain.__kwdefaults__ = function.__kwdefaults__

        def answer(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if current_trace() is None or not holds_traced([*args, *kwargs.values()]):
                return plain(*args, **kwargs)
            return detached(implementation(*args, **kwargs))

        self.answer = answer

    def enter(self) -> None:
        self.function.__globals__[self.name] = self.answer
        self.function.__code__ = self.code

    def leave(self) -> None:
        self.function.__code__ = self.original
        # A call that another thread began in the exchanged code may still look the name up.


def _forwarding_code(original: CodeType, name: str) -> CodeType:
    """Return code that calls `name(args, kwargs)`, with as many free variables as the original."""
    cells = original.co_freevars
    text = (
        f"def make({', '.join(cells)}):\n"
        f"    def forward(*args, **kwargs):\n"
        f"        return {name}(args, kwargs)\n"
        f"        ({', '.join((*cells, ''))})\n"
        f"    return forward\n"
    )
    if not cells:
        text = text.replace("        ()\n", "")
    scope: dict[str, Any] = {}
    exec(text, scope)
    code: CodeType = scope["make"](*([None] * len(cells))).__code__
    return code


_known: dict[str, _Exchange] = {}


def _exchanges() -> list[_Exchange]:
    """Return the exchanges of SciPy functions whose module has been imported."""
    for dotted, implementation in SCIPY.items():
        module, _, name = dotted.rpartition(".")
        if dotted not in _known and module in sys.modules:
            function = getattr(importlib.import_module(module), name, None)
            if isinstance(function, FunctionType):
                _known[dotted] = _Exchange(function, implementation)
    return list(_known.values())
