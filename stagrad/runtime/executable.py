"""Turning emitted text into something that can be called."""

import itertools
import linecache
from collections.abc import Callable
from typing import Any

_serial = itertools.count()


def load(text: str, name: str) -> Callable[..., tuple[Any, ...]]:
    """Return the function `name` of an emitted module.

    The text is registered with `linecache`, so tracebacks and debuggers show its lines.

    >>> load("def double(x):\\n    return (2 * x,)\\n", "double")(4)
    (8,)
    """
    file = f"<stagrad {name} {next(_serial)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": f"stagrad_{name}"}
    exec(compile(text, file, "exec"), namespace)
    function: Callable[..., tuple[Any, ...]] = namespace[name]
    return function
