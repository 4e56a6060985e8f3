"""Compiled objects on disk: shared by all processes of a user, survived when anything is wrong.

An object's file bears its key and the digest of its content: `ab/abcd….0123….so`. What is
truncated or altered is noticed before it is loaded, which could end the process. Files appear under
their name complete or not at all. A file's time of modification is when it was last used.
"""

import atexit
import contextlib
import hashlib
import os
import platform
import shutil
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from stagrad.config import CACHE

LIMIT_BYTES = 1 << 30
_SHARDS = 256
_SUFFIX = ".dll" if platform.system() == "Windows" else ".so"
_UNFINISHED = "building-"
_UNFINISHED_SECONDS = 86400
_DIGEST_LETTERS = 32


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """Where compiled programs are kept, how many there are and what they take."""

    folder: Path
    count: int
    bytes: int


def folder() -> Path:
    """Return the folder of compiled programs: `STAGRAD_CACHE`, or one in the user's cache."""
    chosen = CACHE.value()
    return Path(chosen).absolute() if chosen else Path(platformdirs.user_cache_dir("stagrad"))


def info() -> CacheInfo:
    """Return where compiled programs are kept, how many there are and what they take."""
    sizes = []
    for entry in _objects(folder()):
        with contextlib.suppress(OSError):  # another process may have removed it meanwhile
            sizes.append(entry.stat().st_size)
    return CacheInfo(folder(), len(sizes), sum(sizes))


def clear() -> CacheInfo:
    """Remove all compiled programs and return what there was; those loaded go on working."""
    before = info()
    for entry in [*_objects(before.folder), *before.folder.glob("compiler-*.json")]:
        with contextlib.suppress(OSError):
            entry.unlink()
    for entry in before.folder.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(entry, ignore_errors=True)
    return before


def _objects(root: Path) -> list[Path]:
    return sorted(root.glob(f"??/*{_SUFFIX}"))


def find(key: str) -> Path | None:
    """Return the object stored under a key, None where there is none that is whole."""
    for root in _folders():
        for path in _stored(root, key):
            if _is_whole(path):
                with contextlib.suppress(OSError):
                    os.utime(path)
                return path
            warnings.warn(
                f"the compiled program {path} is damaged and will be compiled again",
                RuntimeWarning,
                stacklevel=2,
            )
            discard(path)
    return None


def discard(path: Path) -> None:
    """Remove an object that cannot be used."""
    with contextlib.suppress(OSError):
        path.unlink()


def _stored(root: Path, key: str) -> list[Path]:
    try:
        with os.scandir(root / key[:2]) as entries:
            names = [entry.name for entry in entries if entry.name.startswith(key)]
    except OSError:
        return []
    return [root / key[:2] / name for name in sorted(names) if name.endswith(_SUFFIX)]


def _is_whole(path: Path) -> bool:
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return path.name.split(".")[1:2] == [_digest(content)]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGEST_LETTERS]


@contextlib.contextmanager
def building() -> Iterator[Path]:
    """Give a folder to compile in, on the file system of the cache, removed afterwards.

    Once the user's cache could not be written to, it is in this process's own folder.
    """
    try:
        root = _temporary[0] if _temporary else _writable(folder())
        made = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=root))
    except OSError as error:
        root = private_folder(error.strerror or str(error))
        made = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=root))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def store(key: str, built: Path) -> Path:
    """Move a compiled object to its place and return that."""
    content = built.read_bytes()
    name = f"{key}.{_digest(content)}{_SUFFIX}"
    shard = built.parent.parent / key[:2]
    try:
        shard.mkdir(exist_ok=True)
        os.replace(built, shard / name)
    except OSError as error:
        shard = private_folder(error.strerror or str(error)) / key[:2]
        shard.mkdir(exist_ok=True)
        (shard / name).write_bytes(content)
    _evict(shard, keep=name)
    return shard / name


def _writable(root: Path) -> Path:
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    _remove_unfinished(root)
    return root


def _remove_unfinished(root: Path) -> None:
    """Remove what processes left behind that ended while they compiled."""
    for entry in root.glob(f"{_UNFINISHED}*"):
        with contextlib.suppress(OSError):
            if time.time() - entry.stat().st_mtime > _UNFINISHED_SECONDS:
                shutil.rmtree(entry, ignore_errors=True)


def _evict(shard: Path, keep: str) -> None:
    """Remove what was not used for longest where a shard has more than its share of the limit."""
    used = []
    with contextlib.suppress(OSError), os.scandir(shard) as entries:
        for entry in entries:
            status = entry.stat()
            used.append((status.st_mtime_ns, status.st_size, entry.name))
    total = sum(size for _, size, _ in used)
    for _, size, name in sorted(used):
        if total <= LIMIT_BYTES // _SHARDS:
            break
        if name != keep:
            discard(shard / name)
            total -= size


_lock = threading.Lock()
_temporary: list[Path] = []


def _folders() -> list[Path]:
    return [folder(), *_temporary]


def private_folder(why: str) -> Path:
    """Return this process's own folder, for use where the user's cannot be written to."""
    with _lock:
        if not _temporary:
            made = Path(tempfile.mkdtemp(prefix="stagrad-"))
            atexit.register(_remove, made, os.getpid())
            _temporary.append(made)
            warnings.warn(
                f"compiled programs cannot be kept in {folder()} ({why}): each process compiles "
                "its own. Set STAGRAD_CACHE to a folder that can be written",
                RuntimeWarning,
                stacklevel=2,
            )
    return _temporary[0]


def _remove(made: Path, owner: int) -> None:
    """Remove a folder at the end of the process that made it, not of those forked from it."""
    if os.getpid() == owner:
        shutil.rmtree(made, ignore_errors=True)
