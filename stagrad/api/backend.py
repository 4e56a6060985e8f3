"""Which target a program is compiled to."""

import functools
import warnings

from stagrad.config import BACKEND
from stagrad.errors import UnsupportedError
from stagrad.ir import Graph
from stagrad.passes import unknown_dtype
from stagrad.runtime.native import native_complaint

BACKENDS = ("auto", "c", "numpy")


def checked_backend(backend: str) -> str:
    """Return the name of a backend, or raise ValueError where there is none of that name."""
    if backend not in BACKENDS:
        allowed = ", ".join(map(repr, BACKENDS))
        raise ValueError(f"backend is {backend!r}; it has to be one of {allowed}")
    return backend


def chosen_backend(asked: str, graph: Graph) -> str:
    """Return the target of a graph: "c" or "numpy".

    `asked` is what `compile` was given; its default, "auto", follows `STAGRAD_BACKEND`. "auto"
    there is "c" where the machine has a compiler and C has all dtypes of the graph.
    """
    wanted = asked if asked != "auto" else checked_backend(BACKEND.value())
    if wanted == "numpy":
        return wanted
    dtype = unknown_dtype(graph)
    if dtype is not None:
        if asked == "c":
            raise UnsupportedError(
                f"backend 'c' does not compute with {dtype}; cast to another dtype, or compile "
                "with backend='numpy'"
            )
        return "numpy"
    complaint = native_complaint()
    if complaint:
        if asked == "c":
            raise UnsupportedError(
                f"backend is 'c', but {complaint}; or compile with backend='numpy'"
            )
        warn_once(
            f"stagrad compiles to NumPy, which is slower, because {complaint}; set "
            "STAGRAD_BACKEND=numpy to choose it silently"
        )
        return "numpy"
    return "c"


@functools.cache
def warn_once(message: str) -> None:
    """Warn, the first time this is said."""
    warnings.warn(message, RuntimeWarning, stacklevel=2)
