"""Finding the user's line, and the variable a value is about to be assigned to."""

import dis
import functools
import itertools
import linecache
import os
import sys
from types import CodeType, FrameType

import numpy as np

from stagrad.ir import Source

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARIES = tuple(os.path.join(folder, "") for folder in (_PACKAGE, os.path.dirname(np.__file__)))

_STORES = frozenset({"STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"})
_SKIPPED = frozenset({"CACHE", "PRECALL", "COPY"})


@functools.lru_cache(maxsize=4096)
def _is_library(code: CodeType) -> bool:
    file = code.co_filename
    return file.startswith((*_LIBRARIES, "<__array_function__", "<frozen", "<stagrad "))


def _is_installed(code: CodeType) -> bool:
    folders = code.co_filename.split(os.sep)
    return "site-packages" in folders or "dist-packages" in folders


def user_frame() -> FrameType | None:
    """Return the innermost frame that belongs neither to stagrad nor to NumPy."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_library(frame.f_code):
        frame = frame.f_back
    return frame


def locate() -> tuple[Source | None, str | None]:
    """Return the user's source line being run and the variable its value is assigned to, if any."""
    frame = user_frame()
    if frame is None:
        return None, None
    code = frame.f_code
    source = _source(code, frame.f_lineno)
    return source, _assigned_names(code).get(frame.f_lasti)


@functools.lru_cache(maxsize=16384)
def _source(code: CodeType, line: int) -> Source:
    return Source(code.co_filename, line, code.co_name)


@functools.lru_cache(maxsize=1024)
def _assigned_names(code: CodeType) -> dict[int, str]:
    """Map the offset of each instruction whose result is stored at once to the variable's name.

    While a call runs, the frame's offset is the call's own or lies among the caches behind it.
    """
    instructions = [item for item in dis.get_instructions(code) if item.opname not in _SKIPPED]
    return {
        offset: str(after.argval)
        for before, after in itertools.pairwise(instructions)
        if after.opname in _STORES
        for offset in range(before.offset, after.offset, 2)
    }


def quote_user_line() -> str:
    """Return the user's current line, with file, number and text, for an error message.

    Where another package's code runs, the user's call of it comes first.
    """
    frame = user_frame()
    if frame is None:
        return ""
    caller: FrameType | None = frame
    while caller is not None and (_is_library(caller.f_code) or _is_installed(caller.f_code)):
        caller = caller.f_back
    if caller is None or caller is frame:
        return _quote(frame)
    return f"{_quote(caller)}{_quote(frame)}"


def _quote(frame: FrameType) -> str:
    file, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(file, line, frame.f_globals).strip()
    return f'\n  File "{file}", line {line}, in {frame.f_code.co_name}' + (
        f"\n    {text}" if text else ""
    )
