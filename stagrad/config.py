"""Environment variables, each declared once; `docs/environment.md` documents exactly this table."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable: its name, how its text is read, its default and a line of help."""

    name: str
    read: Callable[[str], Any]
    default: Any
    help: str

    def value(self) -> Any:
        """Return the setting as of now; the environment is read at each use, never at import."""
        text = os.environ.get(self.name)
        return self.default if text is None else self.read(text)


def _switch(text: str) -> bool:
    return text.strip().lower() not in ("", "0", "false", "no", "off")


DUMP = Variable("STAGRAD_DUMP", str, "", "Folder that receives every stage of every compilation.")
VERIFY = Variable(
    "STAGRAD_VERIFY", _switch, False, "Check every compiled call against the interpreter."
)
NO_COLOR = Variable("NO_COLOR", bool, False, "Non-empty: the dump tool prints without colours.")

VARIABLES = (DUMP, VERIFY, NO_COLOR)
