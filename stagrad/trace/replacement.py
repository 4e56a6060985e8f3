"""Functions that answer no protocol, replaced while a trace runs and put back afterwards.

Three kinds: NumPy's creation functions, in the `numpy` module and in the user's modules that
imported them by name; and SciPy's Python functions (`logsumexp`, `expm`, …), whose code object is
exchanged, so that every reference to them is reached. All replacements ask the context whether a
trace runs in this thread and hand over to the original otherwise, so other threads see no
difference.
"""

import contextlib
import functools
import importlib
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from stagrad.errors import TraceError
from stagrad.ops.convert import holds_traced
from stagrad.ops.define import FUNCTIONS, SCIPY
from stagrad.trace.fresh import np_originals, np_replacements
from stagrad.trace.protocols import detached
from stagrad.trace.sources import quote_user_line
from stagrad.trace.state import current_trace

# Code that looks a NumPy function up in the table while a trace runs finds the replacement's entry.
FUNCTIONS.update(
    {
        np_replacements[name]: FUNCTIONS[original]
        for name, original in np_originals.items()
        if original in FUNCTIONS
    }
)


def _refusing(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def draw(*arguments: Any, **keywords: Any) -> Any:
        if current_trace() is not None:
            raise TraceError(
                f"np.random.{name} is called while a function is traced: its numbers would be "
                f"drawn once and used at every later call.{quote_user_line()}\nDraw them outside "
                "and pass them in, or use stagrad.random with an explicit key."
            )
        return original(*arguments, **keywords)

    return draw


random_originals: dict[str, Callable[..., Any]] = {
    name: value
    for name, value in vars(np.random).items()
    if isinstance(getattr(value, "__self__", None), np.random.RandomState)
}
random_replacements = {
    name: _refusing(name, original) for name, original in random_originals.items()
}

_lock = threading.RLock()
_depth = 0
_by_identity = {
    id(original): np_replacements[name]
    for name, original in np_originals.items()
    if not isinstance(original, FunctionType)
}


@contextlib.contextmanager
def replaced_functions(namespaces: Mapping[int, dict[str, Any]]) -> Iterator[None]:
    """Keep the replacements in place until the last trace of the process ends.

    `namespaces` are the globals of the functions being traced, where creation functions may have
    been imported by name.
    """
    _enter()
    undo = [pair for names in namespaces.values() for pair in _replace_imported(names)]
    try:
        yield
    finally:
        for names, name, original in undo:
            names[name] = original
        _leave()


def _enter() -> None:
    global _depth
    with _lock:
        _depth += 1
        if _depth == 1:
            _set(np_replacements, random_replacements)
            for exchange in _exchanges():
                exchange.enter()


def _leave() -> None:
    global _depth
    with _lock:
        _depth -= 1
        if _depth == 0:
            _set(np_originals, random_originals)
            for exchange in _exchanges():
                exchange.leave()


def _set(functions: dict[str, Any], random: dict[str, Any]) -> None:
    for name, function in functions.items():
        setattr(np, name, function)
    for name, function in random.items():
        setattr(np.random, name, function)


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
