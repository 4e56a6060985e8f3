"""Text to callable: loading emitted modules, running them and checking what they give."""

from stagrad.runtime.executable import Executable, load
from stagrad.runtime.verify import Subject, verified

__all__ = ["Executable", "Subject", "load", "verified"]
