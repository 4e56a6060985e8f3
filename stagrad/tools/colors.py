"""Colours for graphs, sources and differences on a terminal; anywhere else the text stays plain."""

import io
import keyword
import re
import sys
import tokenize
from collections.abc import Callable
from typing import TextIO

from stagrad import config

BOLD, DIM, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN = "1", "2", "31", "32", "33", "34", "35", "36"

_LINE = re.compile(
    r"(?P<label>\s*\w+)(?P<aval>: .+?) = (?P<operation>\w+)(?P<rest>\(.*)", re.DOTALL
)
_COMMENT = re.compile(r"(?P<code>.*?)(?P<comment>(?:(?<=  )|^)# [^']*(?:'.*')?)")


def wants_colors(stream: TextIO) -> bool:
    """Say whether a stream is a terminal whose user has not refused colours with NO_COLOR."""
    return stream.isatty() and not config.NO_COLOR.value()


def painter(enabled: bool | None = None) -> Callable[[str, str], str]:
    """Return `paint(text, color)`, which leaves the text alone when colours are not wanted."""
    wanted = wants_colors(sys.stdout) if enabled is None else enabled

    def paint(text: str, color: str) -> str:
        return f"\x1b[{color}m{text}\x1b[0m" if wanted and text else text

    return paint


def paint_graph(text: str, paint: Callable[[str, str], str]) -> str:
    """Return a graph's text with labels, avals, operations and comments told apart."""
    return "\n".join(_graph_line(line, paint) for line in text.split("\n"))


def _graph_line(line: str, paint: Callable[[str, str], str]) -> str:
    comment = ""
    if split := _COMMENT.fullmatch(line):
        line, comment = split["code"], paint(split["comment"], DIM)
    if parts := _LINE.fullmatch(line):
        label, aval = paint(parts["label"], BOLD), paint(parts["aval"], GREEN)
        line = f"{label}{aval} = {paint(parts['operation'], CYAN)}{parts['rest']}"
    else:
        line = re.sub(r"\b(graph|return)\b", lambda word: paint(word[0], MAGENTA), line, count=1)
    return line + comment


def paint_diff(lines: list[str], paint: Callable[[str, str], str]) -> str:
    """Return a unified difference with what went in red and what came in green."""
    colors = {"+": GREEN, "-": RED, "@": CYAN}
    return "\n".join(
        paint(line, BOLD if line.startswith(("+++", "---")) else colors.get(line[:1], ""))
        if line[:1] in colors
        else line
        for line in lines
    )


def paint_python(text: str, paint: Callable[[str, str], str]) -> str:
    """Return Python source with keywords, strings, numbers and comments told apart."""
    lines = text.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        color = _token_color(token)
        row, start = token.start
        if color and row == token.end[0]:
            line = lines[row - 1]
            end = token.end[1]
            lines[row - 1] = line[:start] + paint(line[start:end], color) + line[end:]
    return "".join(lines)


def _token_color(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME and keyword.iskeyword(token.string):
        return MAGENTA
    colors = {tokenize.COMMENT: DIM, tokenize.STRING: GREEN, tokenize.NUMBER: YELLOW}
    return colors.get(token.type, "")
