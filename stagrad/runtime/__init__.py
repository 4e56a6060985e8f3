"""Text to callable: loading emitted modules and running them."""

from stagrad.runtime.executable import load

__all__ = ["load"]
