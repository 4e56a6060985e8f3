"""Text to callable: loading emitted modules, running them and checking what they give."""

from stagrad.runtime.executable import Executable, load, note_emitted_line
from stagrad.runtime.verify import Subject, verified

__all__ = ["Executable", "Subject", "load", "note_emitted_line", "verified"]
