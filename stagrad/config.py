"""Settings: environment variables, each declared once, and the number of threads.

`docs/environment.md` documents exactly the variables of this table.
"""

import operator
import os
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable: its name, how its text is read, its default and a line of help."""

    name: str
    read: Callable[[str], Any]
    default: Any
    help: str

    def value(self) -> Any:
        """Return the setting as of now; the environment is read at each use, never at import."""
        text = os.environ.get(self.name)
        return self.default if text is None else self.read(text)


def _switch(text: str) -> bool:
    return text.strip().lower() not in ("", "0", "false", "no", "off")


DUMP = Variable("STAGRAD_DUMP", str, "", "Folder that receives every stage of every compilation.")
VERIFY = Variable(
    "STAGRAD_VERIFY", _switch, False, "Check every compiled call against the interpreter."
)
BACKEND = Variable(
    "STAGRAD_BACKEND",
    str,
    "auto",
    "What programs are compiled to: auto, c or numpy; auto is c where there is a compiler.",
)
NO_COLOR = Variable("NO_COLOR", bool, False, "Non-empty: the dump tool prints without colours.")
CC = Variable("CC", str, "", "The C compiler to use, with arguments if it needs any.")
CFLAGS = Variable("STAGRAD_CFLAGS", str, "", "Flags added after stagrad's own for the C compiler.")
CACHE = Variable("STAGRAD_CACHE", str, "", "Folder of compiled programs, instead of the user's.")
NUM_THREADS = Variable("STAGRAD_NUM_THREADS", str, "", "How many threads compiled programs use.")
OMP_NUM_THREADS = Variable(
    "OMP_NUM_THREADS", str, "", "The same, where STAGRAD_NUM_THREADS is not set."
)

VARIABLES = (DUMP, VERIFY, BACKEND, NO_COLOR, CC, CFLAGS, CACHE, NUM_THREADS, OMP_NUM_THREADS)


def usable_cores() -> int:
    """Return how many physical cores this process may use, by affinity and container quota."""
    if hasattr(os, "sched_getaffinity"):
        processors = os.sched_getaffinity(0)
        cores = {_siblings(processor) for processor in processors}
        return max(1, min(len(cores), _quota()))
    return os.cpu_count() or 1


def _siblings(processor: int) -> str:
    """Return the processors that are threads of one core, or this one where nothing is known."""
    topology = Path(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list")
    try:
        return topology.read_text()
    except OSError:
        return str(processor)


def _quota() -> int:
    """Return how many processors' time the container may take, at least 1; many without limit."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, round(int(quota) / int(period)))
    except (OSError, ValueError):
        return sys.maxsize


def _positive(value: object, name: str) -> int:
    """Return a number of threads, given as a number or as text."""
    try:
        count = int(value) if isinstance(value, str) else operator.index(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        count = 0
    if count < 1:
        raise ValueError(f"{name} is {value!r}; it has to be a whole number, 1 or more")
    return count


def _threads_of_environment() -> int:
    text = NUM_THREADS.value().strip()
    if text:
        return _positive(text, NUM_THREADS.name)
    # OpenMP allows a list, one entry for each level of nesting; what is no number is not ours.
    first = OMP_NUM_THREADS.value().partition(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else usable_cores()


class _Settings(types.ModuleType):
    """This module, with `num_threads` computed when it is read and checked when it is set."""

    _chosen: int | None = None
    _listeners: ClassVar[list[Callable[[int], None]]] = []

    @property
    def num_threads(self) -> int:
        """How many threads a compiled program may use, from the next parallel part on.

        By default `STAGRAD_NUM_THREADS`, else `OMP_NUM_THREADS`, else the number of physical cores
        that this process may run on. Results do not depend on it.
        """
        return self._chosen or _threads_of_environment()

    @num_threads.setter
    def num_threads(self, value: int) -> None:
        self._chosen = _positive(value, "num_threads")
        for listener in self._listeners:
            listener(self._chosen)


def on_num_threads(listener: Callable[[int], None]) -> None:
    """Call a function with the number of threads, now and whenever it is set."""
    _Settings._listeners.append(listener)
    listener(num_threads_now())


def num_threads_now() -> int:
    """Return the number of threads as of now, which `stagrad.config.num_threads` reads and sets."""
    return cast("_Settings", sys.modules[__name__]).num_threads


sys.modules[__name__].__class__ = _Settings
