"""The lines of an emitted function, with short single-use values written where they are used."""

import textwrap
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from stagrad.codegen.comments import comment
from stagrad.codegen.expression import Text
from stagrad.ir import Node
from stagrad.ir.text import GENERATED

INLINE_WIDTH = 56
"""Longest expression that is written inside another one."""

COMMENT_COLUMN = 52
LINE_WIDTH = 96


@dataclass(frozen=True, slots=True)
class _Pending:
    text: Text
    node: Node | None


class Body:
    """Collects assignments of a function.

    A value is written inside its reader's expression when it is read once, has a generated name and
    came from the same line of the user's program; otherwise it gets a line of its own, with the
    user's line as a comment. `uses` counts the reads of each name.
    """

    def __init__(self, uses: Counter[str]) -> None:
        self.lines: list[tuple[str, str]] = []
        self._uses = uses
        self._pending: dict[str, _Pending] = {}
        self._inlined: set[str] = set()

    def assign(self, name: str, text: Text, node: Node | None, *, inline: bool = True) -> None:
        """Give a value a name, now or where it is read."""
        named = node is not None and node.name is not None and not GENERATED.fullmatch(name)
        if inline and not named and self._uses[name] == 1 and len(text.text) <= INLINE_WIDTH:
            self._pending[name] = _Pending(text, node)
        else:
            self.statement(f"{name} = {text.text}", node)

    def read(self, name: str, reader: Node | None, *, whole: bool = False) -> Text:
        """Return the text of a value for a reader; with `whole`, its name."""
        pending = self._pending.pop(name, None)
        if pending is None:
            return Text(name)
        if whole or comment(pending.node) != comment(reader):
            self.statement(f"{name} = {pending.text.text}", pending.node)
            return Text(name)
        self._inlined.add(name)
        return pending.text

    def release(self, names: Iterable[str]) -> None:
        """Let go of values that no later line reads; one inside an expression has no name."""
        self.flush()
        bound = [name for name in dict.fromkeys(names) if name not in self._inlined]
        if bound:
            self.statement(f"del {', '.join(bound)}", None)

    def statement(self, text: str, node: Node | None) -> None:
        """Add a line."""
        self.lines.append((text, comment(node)))

    def flush(self) -> None:
        """Write every waiting value now: what they read is about to change."""
        for name, pending in self._pending.items():
            self.statement(f"{name} = {pending.text.text}", pending.node)
        self._pending.clear()

    def render(self, indent: str = "    ") -> list[str]:
        """Return the lines, with the user's source beside the first line that came from it."""
        rendered = []
        last = ""
        for text, note in self.lines:
            line = indent + text
            if note and note != last:
                line = f"{line:<{COMMENT_COLUMN}}  # {note}"
            last = note or last
            rendered.append(line)
        return rendered


def heading(name: str, parameters: Iterable[str]) -> str:
    """Return the first line of a function, or its first lines where the parameters are many."""
    listed = ", ".join(parameters)
    line = f"def {name}({listed}):"
    if len(line) <= LINE_WIDTH:
        return line
    wrapped = textwrap.fill(
        f"{listed},", LINE_WIDTH, initial_indent="    ", subsequent_indent="    "
    )
    return f"def {name}(\n{wrapped}\n):"
