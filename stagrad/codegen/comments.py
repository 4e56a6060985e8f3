"""Where emitted code comes from: the user's line beside it."""

import linecache
import os

from stagrad.ir import Node

COMMENT_WIDTH = 60


def comment(node: Node | None) -> str:
    """Return the line of the user's program that a value comes from or differentiates."""
    prefix = ""
    while node is not None and node.source is None:
        node = node.primal
        prefix = "backward of "
    if node is None or node.source is None:
        return ""
    source = node.source
    where = f"{os.path.basename(source.file)}:{source.line}"
    line = " ".join(linecache.getline(source.file, source.line).split())
    if len(line) > COMMENT_WIDTH:
        line = f"{line[:COMMENT_WIDTH]}…"
    return f"{prefix}{where}" if prefix or not line else f"{where}  {line}"
