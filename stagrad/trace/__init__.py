"""From a Python function to a graph."""

from stagrad.trace.function import (
    StaticLeaf,
    Traced,
    captured_values,
    replay,
    trace_function,
)
from stagrad.trace.guards import Guards
from stagrad.trace.state import current_trace
from stagrad.trace.trace import Trace
from stagrad.trace.tracer import Tracer
from stagrad.trace.trees import TreeSpec, describe_structure, flatten, unflatten

__all__ = [
    "Guards",
    "StaticLeaf",
    "Trace",
    "Traced",
    "Tracer",
    "TreeSpec",
    "captured_values",
    "current_trace",
    "describe_structure",
    "flatten",
    "replay",
    "trace_function",
    "unflatten",
]
