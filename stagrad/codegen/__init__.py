"""Schedule to text: decides nothing and handles no arrays."""

from stagrad.codegen.c import emit as emit_c
from stagrad.codegen.c import timed_steps
from stagrad.codegen.c.standalone import constant_name, standalone_text, table, unbound_symbols
from stagrad.codegen.c.types import stored_type
from stagrad.codegen.numpy import emit as emit_numpy

__all__ = [
    "constant_name",
    "emit_c",
    "emit_numpy",
    "standalone_text",
    "stored_type",
    "table",
    "timed_steps",
    "unbound_symbols",
]
