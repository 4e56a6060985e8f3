"""Which trace is running in this thread; a context variable, so threads never see each other's."""

import contextvars
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stagrad.trace.trace import Trace

running: contextvars.ContextVar[tuple["Trace", ...]] = contextvars.ContextVar(
    "stagrad_traces", default=()
)


def current_trace() -> "Trace | None":
    """Return the innermost trace running in this thread, or None."""
    traces = running.get()
    return traces[-1] if traces else None
