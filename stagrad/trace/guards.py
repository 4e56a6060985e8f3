"""What a trace relied on besides its arguments, and the cheap check that it still holds.

The bytecode of the function, and of the user's functions it names, tells which globals, closure
cells and attributes it reads. Each such path is checked at every call: scalars and functions by
identity or value, small containers by content. Arrays found this way are *live*: they enter the
graph as inputs and are read afresh at each call, so only a rebinding needs a new trace. What the
check cannot see: state reached through calls into libraries, and Python-level side effects.
"""

import dis
import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from stagrad.trace.draws import GENERATORS
from stagrad.trace.identity import Same, exact

_LOADS_GLOBAL = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
_LOADS_CELL = frozenset({"LOAD_DEREF", "LOAD_CLASSDEREF"})
_LOADS_ATTRIBUTE = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_ON_ATTRIBUTE = _LOADS_ATTRIBUTE | {"STORE_ATTR", "DELETE_ATTR"}
_SCALARS = (bool, int, float, complex, str, bytes, type(None), np.generic)
_CONTENT_DEPTH = 6
_LIBRARIES = frozenset(
    {"numpy", "scipy", "networkx", "optree", "stagrad", "matplotlib", *sys.stdlib_module_names}
)


@dataclass(frozen=True)
class Path:
    """How to reach a value: a function whose global or cell holds the root, then attributes."""

    function: FunctionType
    root: str
    attributes: tuple[str, ...] = ()
    owner: Any = None

    def read(self) -> Any:
        """Return the value now; raises LookupError or AttributeError when it is gone."""
        value = self._root()
        for attribute in self.attributes:
            value = getattr(value, attribute)
        return value

    def replace(self, value: Any) -> None:
        """Put another object in the place the path leads to."""
        if self.attributes:
            parent = Path(self.function, self.root, self.attributes[:-1], self.owner)
            # Past any __setattr__: for a while the same thing stands there in another form.
            object.__setattr__(parent.read(), self.attributes[-1], value)
        elif (names := self.function.__code__.co_freevars) and self.root in names:
            assert self.function.__closure__ is not None
            self.function.__closure__[names.index(self.root)].cell_contents = value
        else:
            self.function.__globals__[self.root] = value

    def is_plain(self) -> bool:
        """Say whether reading it runs no code and leads through no library module."""
        try:
            value = self._root()
            for attribute in self.attributes:
                if _is_library_module(value) or not _is_stored(value, attribute):
                    return False
                value = getattr(value, attribute)
        except (LookupError, AttributeError):
            return False
        return True

    def getter(self) -> Iterator[tuple[FunctionType, Any]]:
        """Yield the function behind a property at the end of the path, with its instance."""
        parent = Path(self.function, self.root, self.attributes[:-1], self.owner)
        if not self.attributes or not parent.is_plain():
            return
        owner = parent.read()
        found = inspect.getattr_static(owner, self.attributes[-1], None)
        function = getattr(found, "fget", getattr(found, "func", None))
        if isinstance(function, FunctionType) and not _is_library(function):
            yield function, owner

    def source(self, names: dict[str, Any]) -> str:
        """Return the Python expression that reads the value, with its objects put into `names`."""
        cells = self.function.__code__.co_freevars
        if self.owner is not None:
            root = _enter(names, self.owner)
        elif self.root in cells and self.function.__closure__ is not None:
            cell = self.function.__closure__[cells.index(self.root)]
            root = f"{_enter(names, cell)}.cell_contents"
        else:
            root = f"{_enter(names, self.function.__globals__)}[{self.root!r}]"
        return ".".join((root, *self.attributes))

    def _root(self) -> Any:
        if self.owner is not None:
            return self.owner
        names = self.function.__code__.co_freevars
        if self.root in names and self.function.__closure__ is not None:
            try:
                return self.function.__closure__[names.index(self.root)].cell_contents
            except ValueError as error:
                raise LookupError(self.root) from error
        return self.function.__globals__[self.root]


@dataclass
class Guards:
    """The paths a function reads, with what was found there when it was traced."""

    identities: list[tuple[Path, Any]] = field(default_factory=list)
    contents: list[tuple[Path, Any]] = field(default_factory=list)
    arrays: dict[int, np.ndarray] = field(default_factory=dict)
    snapshots: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    generators: list[Path] = field(default_factory=list)
    array_paths: list[Path] = field(default_factory=list)
    namespaces: dict[int, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, function: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] = {}
    ) -> "Guards":
        """Collect the guards of a function and of the user functions it can reach by name.

        What it reads of the objects among its arguments is guarded as what it reads of `self`.
        """
        guards = cls()
        seen: set[tuple[int, int]] = set()
        guards._note_partial(function)
        pending = list(_functions_in(function))
        for found, owner in list(pending):
            for name, value in _given(found, owner, args, kwargs).items():
                pending.extend(_functions_in(value))
                for path in _paths(found, {name: value}):
                    pending.extend(guards._guard(path))
        while pending:
            found, owner = pending.pop()
            key = id(found.__code__), id(owner)
            if key in seen:
                continue
            seen.add(key)
            guards.namespaces[id(found.__globals__)] = found.__globals__
            for value in (*(found.__defaults__ or ()), *(found.__kwdefaults__ or {}).values()):
                guards._note_arrays(value)
            for path in _paths(found, _first(found, owner)):
                pending.extend(guards._guard(path))
        return guards

    def hold(self) -> bool:
        """Say whether everything the trace relied on is as it was."""
        try:
            return (
                all(_same(path.read(), value) for path, value in self.identities)
                and all(_content(path.read()) == value for path, value in self.contents)
                and all(_same_bits(array, copy) for array, copy in self.snapshots)
            )
        except (LookupError, AttributeError):
            return False

    def source(self, names: dict[str, Any]) -> str:
        """Return a Python expression that is true only if the guards hold, for generated checks.

        Objects it mentions are entered into `names`. It may be false although `hold` is true: a
        scalar rebound to an equal one. It raises what `hold` catches.
        """
        terms = []
        for path, value in self.identities:
            terms.append(f"{path.source(names)} is {_enter(names, value)}")
        if self.contents or self.snapshots:
            terms.append(f"{_enter(names, self.hold)}()")
        return " and ".join(terms)

    def is_live(self, array: np.ndarray) -> bool:
        """Say whether an array is, or is a view of, one the function reaches by name."""
        current: Any = array
        while isinstance(current, np.ndarray):
            if id(current) in self.arrays:
                return True
            current = current.base
        return False

    def finished(self, *, derived: bool, relied_on: Iterable[np.ndarray] = ()) -> "Guards":
        """Return the guards of a finished trace.

        The contents of the arrays it relied on are checked as well. With `derived`, numbers
        computed by plain NumPy outside the trace's sight went into it; they may come from any live
        array, so the contents of all of those are checked.
        """
        # Containers as the function left them: it may keep a log of its own traces.
        self.contents = [(path, _content(path.read())) for path, _ in self.contents]
        checked = self.arrays.values() if derived else relied_on
        self.snapshots = [(array, array.copy()) for array in checked]
        return self

    def _guard(self, path: Path) -> Iterator[tuple[FunctionType, Any]]:
        if path.attributes[-1:] == ("__dict__",):
            self._note_arrays(path.read())
            self.contents.append((path, None))
            return
        if not path.is_plain():
            yield from path.getter()
            return
        value = path.read()
        if isinstance(value, MethodType):
            # Made anew at each access; the instance it is bound to has a guard of its own.
            yield from _functions_in(value)
            return
        if isinstance(value, ModuleType | BuiltinFunctionType | np.ufunc) or _is_library(value):
            return
        if isinstance(value, GENERATORS):
            self.generators.append(path)
        if type(value) is np.ndarray:
            self.array_paths.append(path)
        self._note_arrays(value)
        content = _content(value)
        if content is not None and isinstance(value, list | dict | set | tuple):
            self.contents.append((path, None))
        else:
            self.identities.append((path, value))
        yield from _functions_in(value)

    def _note_partial(self, function: Any) -> None:
        while isinstance(function, functools.partial):
            self._note_arrays([*function.args, *function.keywords.values()])
            function = function.func

    def _note_arrays(self, value: Any, depth: int = 3) -> None:
        if isinstance(value, np.ndarray):
            # Under an enclosing trace a view stands in the array's place.
            live: np.ndarray | None = getattr(value, "live", None)
            array = value if live is None else live
            self.arrays[id(array)] = array
        elif depth and isinstance(value, list | tuple | dict):
            parts = value.values() if isinstance(value, dict) else value
            for part in parts:
                self._note_arrays(part, depth - 1)


def _enter(names: dict[str, Any], value: Any) -> str:
    name = f"held{len(names)}"
    names[name] = value
    return name


def _functions_in(value: Any) -> Iterator[tuple[FunctionType, Any]]:
    """Yield the Python functions that calling `value` runs, each with its bound first argument."""
    if isinstance(value, functools.partial):
        value = value.func
    if isinstance(value, FunctionType | MethodType):
        value = inspect.unwrap(value)
    if isinstance(value, MethodType):
        yield value.__func__, value.__self__  # type: ignore[misc]
    elif isinstance(value, FunctionType):
        yield value, None
    elif isinstance(value, type):
        for name in ("__init__", "__post_init__"):
            method = value.__dict__.get(name)
            if isinstance(method, FunctionType):
                yield method, None
    elif callable(value) and not isinstance(value, type):
        call = getattr(type(value), "__call__", None)  # noqa: B004 - the function itself is wanted
        if isinstance(call, FunctionType) and not _is_library(call):
            yield call, value
        # Asked of the class: an object may answer to any name.
        if inspect.getattr_static(type(value), "wrapped_functions", None) is not None:
            for wrapped in value.wrapped_functions:
                yield from _functions_in(wrapped)


def _is_library_module(value: Any) -> bool:
    return isinstance(value, ModuleType) and value.__name__.partition(".")[0] in _LIBRARIES


def _is_stored(value: Any, attribute: str) -> bool:
    """Say whether an attribute is stored data or a method, so that reading it runs no user code."""
    found = inspect.getattr_static(value, attribute, None)
    is_method = isinstance(found, FunctionType | staticmethod | classmethod | MemberDescriptorType)
    return is_method or not hasattr(type(found), "__get__")


def _is_library(value: Any) -> bool:
    module = getattr(value, "__module__", None)
    if not isinstance(value, FunctionType | type | MethodType) or not isinstance(module, str):
        return False
    return module.partition(".")[0] in _LIBRARIES


def _first(function: FunctionType, owner: Any) -> dict[str, Any]:
    """Return the bound first argument by its parameter's name."""
    code = function.__code__
    return {code.co_varnames[0]: owner} if owner is not None and code.co_argcount else {}


def _given(
    function: FunctionType, owner: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the objects among the arguments of a call by their parameters' names."""
    code = function.__code__
    names = code.co_varnames[owner is not None : code.co_argcount]
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    given = dict(zip(names, args, strict=False))
    given |= {name: value for name, value in kwargs.items() if name in named}
    return {name: value for name, value in given.items() if _is_users(value)}


def _is_users(value: Any) -> bool:
    """Say whether a value is a function that a user wrote, or of a class that one wrote."""
    is_function = isinstance(value, FunctionType | MethodType | functools.partial)
    return not _is_library(value if is_function else type(value))


def _paths(function: FunctionType, owners: Mapping[str, Any]) -> Iterator[Path]:
    for code, is_outer in _codes(function.__code__):
        yield from _paths_in(code, function, owners, is_outer)


def _codes(code: CodeType, is_outer: bool = True) -> Iterator[tuple[CodeType, bool]]:
    yield code, is_outer
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant, False)


@functools.lru_cache(maxsize=2048)
def _chains(code: CodeType) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Return, for every load in a code, how the root is loaded, its name, and attributes read."""
    chains: set[tuple[str, str, tuple[str, ...]]] = set()
    instructions = [item for item in dis.get_instructions(code) if item.opname != "CACHE"]
    for position, item in enumerate(instructions):
        if item.opname in _LOADS_GLOBAL:
            how = "global"
        elif item.opname in _LOADS_CELL:
            how = "cell"
        elif item.opname == "LOAD_FAST":
            how = "local"
        else:
            continue
        attributes: tuple[str, ...] = ()
        chains.add((how, str(item.argval), attributes))
        if instructions[position + 1].opname not in _ON_ATTRIBUTE:
            # Handed on as a whole: who gets it may read anything of it.
            chains.add((how, str(item.argval), ("__dict__",)))
        for later in instructions[position + 1 :]:
            if later.opname not in _LOADS_ATTRIBUTE:
                break
            attributes = (*attributes, str(later.argval))
            chains.add((how, str(item.argval), attributes))
    return tuple(sorted(chains))


def _paths_in(
    code: CodeType, function: FunctionType, owners: Mapping[str, Any], is_outer: bool
) -> Iterator[Path]:
    shared = function.__code__.co_cellvars
    for how, root, attributes in _chains(code):
        is_whole = attributes == ("__dict__",)
        if how == "global" or (how == "cell" and root in function.__code__.co_freevars):
            if not is_whole:
                yield Path(function, root, attributes)
        elif root in owners and attributes and (is_outer if how == "local" else root in shared):
            owner = owners[root]
            if not is_whole or (hasattr(owner, "__dict__") and not isinstance(owner, type)):
                yield Path(function, root, attributes, owner)


def _content(value: Any, depth: int = _CONTENT_DEPTH) -> Any:
    """Return a snapshot of a container's contents, None for what is no container or too deep."""
    if isinstance(value, _SCALARS):
        return exact(value)
    if isinstance(value, list | tuple | set) and depth:
        return (type(value), [_content(part, depth - 1) or Same(part) for part in value])
    if isinstance(value, dict) and depth:
        parts = [(key, _content(part, depth - 1) or Same(part)) for key, part in value.items()]
        return (dict, parts)
    return None


def _same(now: Any, then: Any) -> bool:
    if now is then:
        return True
    if type(now) is not type(then):
        return False
    if isinstance(now, _SCALARS):
        return bool(exact(now) == exact(then))
    return isinstance(now, MethodType) and now == then


def _same_bits(array: np.ndarray, copy: np.ndarray) -> bool:
    return array.shape == copy.shape and array.tobytes() == copy.tobytes()
