"""Schedule to text: decides nothing and handles no arrays."""

from stagrad.codegen.numpy import emit as emit_numpy

__all__ = ["emit_numpy"]
