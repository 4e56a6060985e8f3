"""From a Python function to a graph."""

from stagrad.trace.state import current_trace
from stagrad.trace.trace import Trace
from stagrad.trace.tracer import Tracer

__all__ = ["Trace", "Tracer", "current_trace"]
