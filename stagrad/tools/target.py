"""What a tool works on: a function found by name, and arguments written on the command line."""

import ast
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from stagrad.errors import ParseError
from stagrad.ir import Aval, parse_aval, parse_dtype

_EMPTY_SHAPE = re.compile(r"\b(bool|[biufc]\d+)\[\s*\]")
_KEYWORD = re.compile(r"([^\W\d]\w*)=(?!=)(.+)", re.DOTALL)


class UsageError(Exception):
    """What was asked for on the command line cannot be done; the message is one line."""


def find_function(where: str) -> Callable[..., Any]:
    """Return the function named as `MODULE:FUNCTION` or `FILE.py:FUNCTION`.

    The module or file is imported; methods are reached with dots. Raises UsageError.
    """
    place, colon, name = where.rpartition(":")
    if not colon or not place or not name:
        raise UsageError(f"{where!r} names no function: write MODULE:FUNCTION or FILE.py:FUNCTION")
    is_file = place.endswith(".py") or "/" in place or "\\" in place
    module = _run_file(Path(place)) if is_file else _import_module(place)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            known = ", ".join(_functions(found)) or "none"
            raise UsageError(f"{place} has no {name!r}; functions there: {known}")
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(f"{where} is a {type(found).__name__}, not a function")
    return found  # type: ignore[no-any-return]


def _run_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"there is no file {str(path)!r}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{str(path)!r} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    # As for a script: its folder comes first, and dataclasses and pickle find the module by name.
    sys.path.insert(0, str(path.parent.resolve()))
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


def _import_module(name: str) -> ModuleType:
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise UsageError(
            f"there is no module {error.name!r}; a file is written with its ending, {name}.py"
        ) from None


def _functions(owner: Any) -> list[str]:
    """Return the functions that a module or class defines itself."""
    home = getattr(owner, "__module__", None) or getattr(owner, "__name__", None)
    return [
        name
        for name, value in vars(owner).items()
        if callable(value) and not name.startswith("_") and getattr(value, "__module__", "") == home
    ]


def read_arguments(
    function: Callable[..., Any], texts: Sequence[str]
) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional and keyword arguments that `texts` stand for, fit for the function.

    Raises UsageError for a text that cannot be read, and where the function takes other arguments.
    """
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for text in texts:
        keyword = _KEYWORD.fullmatch(text)
        if keyword:
            kwargs[keyword[1]] = read_argument(keyword[2])
        elif kwargs:
            raise UsageError(f"argument {text!r} comes after {list(kwargs)[-1]}=…; put it before")
        else:
            args.append(read_argument(text))
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return args, kwargs
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        name = getattr(function, "__name__", "the function")
        raise UsageError(f"{name}{signature} was given {len(texts)} arguments: {error}") from None
    return args, kwargs


def read_argument(text: str) -> Any:
    """Return the argument that `text` stands for.

    That is an aval (`f64[3,4]`, `f64`), a Python literal, whose containers may hold avals, or
    `@file.npy` for the array in a file. Raises UsageError.

    >>> read_argument("{'w': f32[3,4], 'rate': 0.1}")["w"].shape
    (3, 4)
    """
    if text.startswith("@"):
        return _load(Path(text[1:]))
    try:
        return parse_aval(text)
    except ParseError:
        pass
    try:
        tree = ast.parse(_EMPTY_SHAPE.sub(r"\1[()]", text.strip()), mode="eval")
        return _evaluate(tree.body)
    except (SyntaxError, ValueError, ParseError) as error:
        reason = f" ({error})" if isinstance(error, ParseError) else ""
        raise UsageError(
            f"cannot read the argument {text!r}{reason}: write an aval such as f64[3,4], "
            "a Python literal, or @file.npy"
        ) from None


def _load(path: Path) -> Any:
    try:
        loaded = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise UsageError(f"there is no file {str(path)!r}") from None
    except (OSError, ValueError, EOFError) as error:
        raise UsageError(f"{str(path)!r} holds no array: {error}") from None
    if not isinstance(loaded, np.ndarray):
        raise UsageError(f"{str(path)!r} holds several arrays; save the one wanted as .npy")
    return loaded


def _evaluate(node: ast.expr) -> Any:
    """Return the value of a literal, with avals where a dtype stands alone or has a shape."""
    match node:
        case ast.Tuple(elts=parts):
            return tuple(map(_evaluate, parts))
        case ast.List(elts=parts):
            return list(map(_evaluate, parts))
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return {
                ast.literal_eval(key): _evaluate(value)
                for key, value in zip(keys, values, strict=True)
                if key is not None
            }
        case ast.Name(id=name):
            return Aval((), parse_dtype(name))
        case ast.Subscript(value=ast.Name(id=name), slice=shape):
            extents = ast.literal_eval(shape)
            shape_text = ",".join(map(str, extents if isinstance(extents, tuple) else (extents,)))
            return parse_aval(f"{name}[{shape_text}]")
    return ast.literal_eval(node)
