"""Schedule to text: decides nothing and handles no arrays."""

from stagrad.codegen.c import emit as emit_c
from stagrad.codegen.c import timed_steps
from stagrad.codegen.numpy import emit as emit_numpy

__all__ = ["emit_c", "emit_numpy", "timed_steps"]
