"""Turning emitted text into something that can be called."""

import itertools
import linecache
import weakref
from collections.abc import Callable
from typing import Any

Executable = Callable[..., tuple[Any, ...]]
"""Takes a graph's inputs, arrays of their avals' shapes and dtypes, and returns its outputs.

It keeps nothing between calls, so any number of threads may call it at once.
"""

_serials = itertools.count()


def load(text: str, name: str) -> Executable:
    """Return the function `name` of an emitted module; its `source` attribute is the text.

    The text is registered with `linecache` for as long as the function lives, so that tracebacks
    and debuggers show its lines.

    >>> double = load("def double(x):\\n    return (2 * x,)\\n", "double")
    >>> double(4), double.source.splitlines()[0]
    ((8,), 'def double(x):')
    """
    file = f"<stagrad {name} {next(_serials)}>"
    namespace: dict[str, Any] = {"__name__": f"stagrad_{name}"}
    exec(compile(text, file, "exec"), namespace)
    function: Any = namespace[name]
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    weakref.finalize(function, linecache.cache.pop, file, None).atexit = False
    function.source = text
    return function  # type: ignore[no-any-return]


def note_emitted_line(error: BaseException) -> None:
    """Add the emitted line where an error was raised, and so the user's, as a note to it.

    Python before 3.13 shows no line of generated code in the traceback of an uncaught error.
    """
    place = error.__traceback__
    while place is not None:
        file = place.tb_frame.f_code.co_filename
        line = linecache.getline(file, place.tb_lineno) if file.startswith("<stagrad ") else ""
        if line:
            error.add_note(f"raised by the emitted line {' '.join(line.split())}")
            return
        place = place.tb_next
