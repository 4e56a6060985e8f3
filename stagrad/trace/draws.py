"""Random numbers drawn by NumPy's generators inside a traced function.

What a generator returns while the function is traced must not be frozen into the program. A draw
becomes an input of the program instead: each call draws anew, in the order of the trace, from the
same generator, so a compiled function consumes the stream exactly as the plain one does.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.errors import TraceError
from stagrad.ops.convert import is_traced
from stagrad.trace.sources import quote_user_line
from stagrad.trace.state import current_trace

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)

_REFUSED = frozenset({"seed", "shuffle", "set_state", "setstate", "bytes", "randbytes", "spawn"})
_PYTHON_DRAWS = (
    "random", "uniform", "gauss", "normalvariate", "expovariate", "betavariate", "gammavariate",
    "triangular", "lognormvariate", "vonmisesvariate", "paretovariate", "weibullvariate",
    "randint", "randrange",
)  # fmt: skip


class Draw:
    """One call of a generator's method; calling it draws.

    The numbers drawn while tracing are handed out once, so that the first call uses them.
    """

    def __init__(
        self, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self._method = method
        self._args = args
        self._kwargs = kwargs
        self.traced = method(*args, **kwargs)
        self._pending = [self.traced]

    def __call__(self) -> Any:
        """Return the next numbers."""
        try:
            return self._pending.pop()
        except IndexError:
            return self._method(*self._args, **self._kwargs)

    def repeats(self, method: Callable[..., Any], args: tuple[Any, ...]) -> bool:
        """Say whether this is the draw that a trace begun again makes."""
        return self._method == method and repr(self._args) == repr(args)


class DrawingGenerator:
    """Stands for a random generator while a function is traced."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._generator, name)
        return drawing(name, found) if callable(found) else found


def drawing(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a generator's method as it behaves under a trace; elsewhere it is itself."""

    def draw(*args: Any, **kwargs: Any) -> Any:
        trace = current_trace()
        if trace is None:
            return method(*args, **kwargs)
        if name in _REFUSED or any(map(is_traced, (*args, *kwargs.values()))):
            what = "arguments are traced" if name not in _REFUSED else "it changes state in place"
            raise TraceError(
                f"the random generator's {name} cannot be part of a traced function: {what}."
                f"{quote_user_line()}\nDraw standard numbers and transform them (mean + scale * "
                "rng.normal(size=n)), or use stagrad.random with an explicit key."
            )
        return trace.draw(method, args, kwargs)

    return draw


def as_drawing(value: Any) -> Any:
    """Return a generator as one whose draws belong to the trace; any other value as it is."""
    return DrawingGenerator(value) if isinstance(value, GENERATORS) else value


def _default_rng(seed: Any = None) -> Any:
    """A generator seeded from the system draws anew at each call; a given seed gives constants."""
    made = random_originals["default_rng"](seed)
    if current_trace() is None or seed is not None:
        return made
    return DrawingGenerator(made)


random_originals: dict[str, Callable[..., Any]] = {
    name: value
    for name, value in vars(np.random).items()
    if isinstance(getattr(value, "__self__", None), np.random.RandomState)
} | {"default_rng": np.random.default_rng, "seed": np.random.seed}
random_replacements: dict[str, Callable[..., Any]] = {
    name: drawing(name, original) for name, original in random_originals.items()
} | {"default_rng": _default_rng}

python_originals: dict[str, Callable[..., Any]] = {
    name: getattr(random, name) for name in (*_PYTHON_DRAWS, "seed", "shuffle")
}
python_replacements = {name: drawing(name, original) for name, original in python_originals.items()}
