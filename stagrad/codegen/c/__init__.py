"""The C target: a Schedule as one C function for the whole program."""

from stagrad.codegen.c.module import emit, timed_steps

__all__ = ["emit", "timed_steps"]
