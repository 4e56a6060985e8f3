"""Compiling without collections of cycles, each of which would walk the whole growing program."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_depth = 0
_resume = False


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause Python's collector of cycles until the outermost such block ends, in whatever thread.

    Graphs hold no cycles: reference counts free them. With 100,000 nodes alive, collections took
    half the time of compiling.
    """
    global _depth, _resume
    with _lock:
        if _depth == 0:
            _resume = gc.isenabled()
            gc.disable()
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0 and _resume:
                gc.enable()
