"""Functions that answer no protocol, replaced while a trace runs and put back afterwards.

Three kinds: NumPy's creation functions, in the `numpy` module and in the user's modules that
imported them by name; and SciPy's Python functions (`logsumexp`, `expm`, …), whose code object is
exchanged, so that every reference to them is reached. All replacements ask the context whether a
trace runs in this thread and hand over to the original otherwise, so other threads see no
difference.
"""

import contextlib
import functools
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
    GENERATORS,
    as_drawing,
    python_originals,
    python_replacements,
    random_originals,
    random_replacements,
)
from stagrad.trace.fresh import FreshArray, live, np_originals, np_replacements
from stagrad.trace.guards import Guards, Path
from stagrad.trace.lists import (
    linalg_list_originals,
    linalg_list_replacements,
    list_originals,
    list_replacements,
)
from stagrad.trace.protocols import detached
from stagrad.trace.state import current_trace

# Code that looks a NumPy function up in the table while a trace runs finds the replacement's entry.
for _originals, _replacements in (
    (np_originals, np_replacements),
    (list_originals, list_replacements),
    (linalg_list_originals, linalg_list_replacements),
):
    FUNCTIONS.update(
        {
            _replacements[name]: FUNCTIONS[original]
            for name, original in _originals.items()
            if original in FUNCTIONS
        }
    )

_lock = threading.RLock()
_depth = 0
_by_identity = {
    id(original): np_replacements[name]
    for name, original in np_originals.items()
    if not isinstance(original, FunctionType)
} | {id(original): list_replacements[name] for name, original in list_originals.items()}


@contextlib.contextmanager
def replaced_functions(guards: Guards) -> Iterator[None]:
    """Keep the replacements in place until the last trace of the process ends.

    The guards know the globals of the functions being traced, where creation functions may have
    been imported by name, and the random generators and arrays they read.
    """
    _enter()
    try:
        with _lock:
            for names in (*guards.namespaces.values(), *importing_namespaces.values()):
                _replace_imported(names)
            for path in guards.generators:
                _replace_at(path, GENERATORS, as_drawing)
            for path in guards.array_paths:
                _replace_at(path, np.ndarray, live)
        yield
    finally:
        _leave()


importing_namespaces: dict[int, dict[str, Any]] = {}
"""Globals of further modules that were seen to create arrays with functions imported by name."""

_undo: list[Callable[[], Any]] = []
"""What puts back the names and generators replaced since the first of the running traces."""


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
        if _depth == 0:
            exchanges = _exchanges()
            _set(
                np_replacements | list_replacements,
                random_replacements,
                python_replacements,
                linalg_list_replacements,
            )
            for exchange in exchanges:
                exchange.enter()
        _depth += 1


def _leave() -> None:
    global _depth
    with _lock:
        _depth -= 1
        if _depth == 0:
            while _undo:
                _undo.pop()()
            _set(
                np_originals | list_originals,
                random_originals,
                python_originals,
                linalg_list_originals,
            )
            for exchange in _exchanges():
                exchange.leave()


def _set(*tables: dict[str, Callable[..., Any]]) -> None:
    for module, functions in zip((np, np.random, random, np.linalg), tables, strict=True):
        for name, function in functions.items():
            setattr(module, name, function)


def _replace_imported(names: dict[str, Any]) -> None:
    """Replace the creation functions and builtins that a module's code finds by name."""
    for name, value in list(names.items()):
        if id(value) in _by_identity and not name.startswith("__"):
            names[name] = _by_identity[id(value)]
            _undo.append(functools.partial(_put_back, names, name, names[name], value))
    for name, replacement in builtin_replacements.items():
        if name not in names:
            names[name] = replacement
            _undo.append(functools.partial(_put_back, names, name, replacement, _ABSENT))


def _replace_at(path: Path, kind: Any, stand_in: Callable[[Any], Any]) -> None:
    """Put what stands for a random generator or a captured array into the place it is read from."""
    value = path.read()
    if isinstance(value, kind) and not isinstance(value, FreshArray):
        with contextlib.suppress(AttributeError, TypeError):
            standing = stand_in(value)
            path.replace(standing)
            _undo.append(functools.partial(_put_back_at, path, standing, value))


_ABSENT: Any = object()


def _put_back(names: dict[str, Any], name: str, standing: Any, value: Any) -> None:
    """Undo a replacement, unless the name was given another value meanwhile."""
    if names.get(name) is not standing:
        return
    if value is _ABSENT:
        del names[name]
    else:
        names[name] = value


def _put_back_at(path: Path, standing: Any, value: Any) -> None:
    """Undo a replacement, unless the place was given another value meanwhile."""
    with contextlib.suppress(LookupError, AttributeError):
        if path.read() is standing:
            path.replace(value)


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
    exec(compile(text, "<stagrad forward>", "exec"), scope)
    code: CodeType = scope["make"](*([None] * len(cells))).__code__
    return code


_known: dict[str, _Exchange] = {}


def _imported(dotted: str) -> Any:
    """Return what a dotted name stands for, `module.function` or `module.Class.method`.

    They are looked up without `getattr`, at which SciPy imports parts that nobody asked for.
    """
    parts = dotted.split(".")
    for count in (len(parts) - 1, len(parts) - 2):
        module: Any = sys.modules.get(".".join(parts[:count]))
        if module is not None:
            return functools.reduce(
                lambda value, name: getattr(value, "__dict__", {}).get(name), parts[count:], module
            )
    return None


def _exchanges() -> list[_Exchange]:
    """Return the exchanges of SciPy functions whose module has been imported."""
    for dotted, implementation in SCIPY.items():
        if dotted not in _known:
            function = _imported(dotted)
            if isinstance(function, FunctionType):
                _known[dotted] = _Exchange(function, implementation)
    return list(_known.values())
