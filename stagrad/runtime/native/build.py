"""C text to a loaded function: found in the cache, or compiled."""

import contextlib
import ctypes
import functools
import hashlib
import json
import os
import re
import threading
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stagrad.errors import CompilerError
from stagrad.runtime.native import cache
from stagrad.runtime.native.toolchain import (
    Compiler,
    complaint_about,
    find_compiler,
    probe,
    run_compiler,
)

_PROBE_VERSION = "1"
"""Changes with what `probe` asks, so that answers to older questions are not used."""

_NO_SPACE = re.compile("No space left on device|Disk quota exceeded|Read-only file system")
_NOT_EXECUTABLE = re.compile("failed to map segment|Operation not permitted|Permission denied")

_lock = threading.Lock()
_loaded: dict[str, "_Object"] = {}


class _Object:
    """One shared object of this process, built or loaded by the first thread that asks for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.library: ctypes.PyDLL | None = None


def require_compiler() -> Compiler:
    """Return the compiler with its flags; raises CompilerError where there is none that works."""
    found = find_compiler()
    if found is None:
        raise CompilerError(
            "no C compiler found: none of cc, gcc and clang is there, or CC names one that is not. "
            "Install one, or the one that comes as a package: pip install stagrad[native]"
        )
    return _probed(found)


@functools.cache
def _probed(compiler: Compiler) -> Compiler:
    name = hashlib.sha256(f"{_PROBE_VERSION} {compiler.identity}".encode()).hexdigest()[:32]
    path = cache.folder() / f"compiler-{name}.json"
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        flags, links = tuple(map(str, known["flags"])), tuple(map(str, known["links"]))
    except (OSError, ValueError, KeyError, TypeError):
        flags, links = probe(compiler)
        # Where it cannot be written, each process asks again.
        with contextlib.suppress(OSError), cache.building() as folder:
            written = folder / path.name
            written.write_text(json.dumps({"flags": flags, "links": links}), encoding="utf-8")
            os.replace(written, folder.parent / path.name)
    return replace(compiler, flags=flags, links=links)


def load_object(text: str, symbol: str, include: Sequence[Path]) -> ctypes.PyDLL:
    """Return the shared object compiled from a translation unit, which defines `symbol`.

    Comments do not matter: texts that differ in them alone share an object. Raises CompilerError
    with the compiler's first complaint, the emitted line and its function.
    """
    compiler = require_compiler()
    key = _key(compiler, text, include)
    with _lock:
        known = _loaded.setdefault(key, _Object())
    with known.lock:
        if known.library is None:
            known.library = _open_or_build(compiler, key, text, symbol, include)
        return known.library


def function_address(library: ctypes.PyDLL, symbol: str) -> int:
    """Return the address of a function in a shared object."""
    address = ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
    assert address is not None
    return address


def _key(compiler: Compiler, text: str, include: Sequence[Path]) -> str:
    parts = [compiler.settings, without_comments(text), *map(_headers, include)]
    return hashlib.sha256("\1".join(parts).encode()).hexdigest()


@functools.cache
def _headers(folder: Path) -> str:
    """Return the text of the headers in a folder, without comments."""
    headers = sorted(folder.glob("*.h"))
    return "\0".join(without_comments(header.read_text(encoding="utf-8")) for header in headers)


_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|/\*.*?\*/|//[^\n]*', re.DOTALL)


def without_comments(text: str) -> str:
    """Return C text without comments, and without the lines and ends of lines they leave empty.

    >>> without_comments('f(x); /* a.py:3 */ puts("// no comment"); // one\\n// two\\n')
    'f(x);   puts("// no comment");'
    """
    lines = _COMMENT.sub(lambda found: found[1] or " ", text).splitlines()
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _open_or_build(
    compiler: Compiler, key: str, text: str, symbol: str, include: Sequence[Path]
) -> ctypes.PyDLL:
    found = cache.find(key)
    if found is not None:
        try:
            return _open(found, symbol)
        except (OSError, AttributeError) as error:
            warnings.warn(
                f"the compiled program {found} cannot be loaded and will be compiled again: "
                f"{error}",
                RuntimeWarning,
                stacklevel=2,
            )
            cache.discard(found)
    try:
        try:
            return _open(_build(compiler, key, text, include), symbol)
        except OSError as error:
            if _NOT_EXECUTABLE.search(str(error)) is None:
                raise
            cache.private_folder(f"programs in it cannot be run: {error}")
            return _open(_build(compiler, key, text, include), symbol)
    except (OSError, AttributeError) as error:
        raise CompilerError(
            f"what the C compiler made of {symbol} cannot be loaded: {error}"
        ) from error


def _open(path: Path, symbol: str) -> ctypes.PyDLL:
    library = ctypes.PyDLL(str(path))
    getattr(library, symbol)
    return library


def _build(compiler: Compiler, key: str, text: str, include: Sequence[Path]) -> Path:
    """Compile a text and return where the object is stored; in a private folder on a full disk."""
    complaint = ""
    for _ in range(2):
        try:
            with cache.building() as folder:
                source, target = folder / "program.c", folder / "program.so"
                source.write_text(text, encoding="utf-8")
                done = run_compiler(compiler.arguments(source, target, include), folder)
                if done.returncode == 0 and target.exists():
                    return cache.store(key, target)
                complaint = done.stdout
        except OSError as error:
            complaint = str(error)
        full = _NO_SPACE.search(complaint)
        if full is None:
            break
        cache.private_folder(full[0])
    raise CompilerError(f"the C compiler says: {complaint_about(text, complaint)}")
