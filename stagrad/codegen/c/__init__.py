"""The C target: a Schedule as one C function for the whole program."""

from stagrad.codegen.c.module import emit

__all__ = ["emit"]
