"""The C compiler of this machine: which one it is, what it can do, and its complaints."""

import functools
import hashlib
import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stagrad.config import CC, CFLAGS
from stagrad.errors import CompilerError

REQUIRED = ("-std=gnu11", "-O2", "-fPIC", "-fno-strict-aliasing", "-w")
OPTIONAL = (
    ("-ftree-vectorize",),
    ("-fvect-cost-model=dynamic",),
    ("-march=native", "-mcpu=native"),
    ("-mprefer-vector-width=512",),
    ("-ffp-contract=off",),
    ("-fwrapv",),
    ("-fno-math-errno",),
    ("-fno-trapping-math",),
    ("-fopenmp-simd",),
    ("-fno-thread-jumps",),
    ("-fcx-fortran-rules",),
    ("-fno-builtin-sin",),
    ("-fno-builtin-cos",),
    ("-fno-builtin-sinf",),
    ("-fno-builtin-cosf",),
    ("-fno-semantic-interposition",),
    ("-pthread",),
    ("-pipe",),
)
"""Flags a compiler may lack; of those in one pair of parentheses the first that is accepted."""

_MVEC = {"x86_64": "_ZGVdN4v_exp", "aarch64": "_ZGVnN2v_exp"}
_PROBE = "int sg_probe(int x) { return x + 1; }\n"
_FLOAT16 = "float sg_probe(float x) { _Float16 half = (_Float16)x; return (float)half; }\n"


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler and how to call it.

    - command: the program and the arguments it always gets.
    - identity: changes with the compiler, its version and the processor.
    - flags: how to compile; links: what stands after the sources.
    """

    command: tuple[str, ...]
    identity: str
    flags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    def arguments(self, source: Path, target: Path, include: Sequence[Path]) -> list[str]:
        """Return the command that makes a shared object of one source file."""
        folders = [f"-I{folder}" for folder in include]
        added = shlex.split(CFLAGS.value())
        sources = ["-o", str(target), str(source)]
        shared = ["-shared", *self.flags, *folders, *added]
        return [*self.command, *shared, *sources, *self.links]

    @property
    def settings(self) -> str:
        """Return everything about the compiler that an object depends on."""
        return "\0".join([self.identity, *self.command, *self.flags, CFLAGS.value(), *self.links])


def find_compiler() -> Compiler | None:
    """Return the compiler to use, its flags not yet probed; None where there is none.

    `$CC` decides where it is set; else it is the first of cc, gcc, clang, and the one that the
    Python package `ziglang` brings (`pip install stagrad[native]`).
    """
    return _find(CC.value())


@functools.cache
def _find(chosen: str) -> Compiler | None:
    if platform.system() == "Windows":
        return None  # the thread pool needs POSIX threads
    for command in _candidates(chosen):
        program = shutil.which(command[0])
        if program is not None:
            return Compiler((program, *command[1:]), _identity(program, command))
    return None


def _candidates(chosen: str) -> list[tuple[str, ...]]:
    if chosen.strip():
        return [tuple(shlex.split(chosen))]
    found: list[tuple[str, ...]] = [("cc",), ("gcc",), ("clang",)]
    if importlib.util.find_spec("ziglang") is not None:
        found.append((sys.executable, "-m", "ziglang", "cc"))
    return found


def _identity(program: str, command: tuple[str, ...]) -> str:
    """Return what changes with the compiler, the processor, or the flags that are asked for.

    Asking the compiler for its version would start a process at each import.
    """
    real = Path(program).resolve()
    facts = [str(real), *command[1:], _stamp(real), processor(), repr((REQUIRED, OPTIONAL))]
    if "ziglang" in command:
        package = importlib.util.find_spec("ziglang")
        facts.append(_stamp(Path(package.origin)) if package and package.origin else "")
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:32]


def _stamp(path: Path) -> str:
    status = path.stat()
    return f"{status.st_size} {status.st_mtime_ns}"


@functools.cache
def processor() -> str:
    """Return the processor's model and features: objects are compiled for exactly this one."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            first: dict[str, str] = {}
            for line in lines:
                if not line.strip():
                    break
                key, _, value = line.partition(":")
                first[key.strip()] = value.strip()
    except OSError:
        first = {}
    names = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags", "Features")
    known = [first[name] for name in names if name in first]
    return "\0".join([platform.machine(), *(known or [platform.processor(), _mac_model()])])


def _mac_model() -> str:
    if platform.system() != "Darwin":
        return ""
    command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def run_compiler(arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the compiler in a folder that also takes its temporary files.

    Raises OSError when it cannot be started.
    """
    environment: Mapping[str, str] = {**os.environ, "LC_ALL": "C", "TMPDIR": str(folder)}
    return subprocess.run(
        arguments,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )


def probe(compiler: Compiler) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Find out which flags a compiler takes: those to compile with, and those to link with.

    Raises CompilerError when it cannot compile a function of one line.
    """
    with tempfile.TemporaryDirectory(prefix="stagrad-") as name:
        return _Probe(compiler, Path(name)).result()


class _Probe:
    """One compiler under examination."""

    def __init__(self, compiler: Compiler, folder: Path) -> None:
        self._command = compiler.command
        self._folder = folder
        self._required = [*REQUIRED, *_platform_flags()]

    def result(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        self._require()
        flags = [choices[0] for choices in OPTIONAL]
        if self._complaint(_PROBE, flags):
            flags = self._accepted()
        if not self._complaint(_FLOAT16, flags):
            flags.append("-DSG_FLOAT16=1")
        links = ["-lm"]
        function = _MVEC.get(platform.machine())
        if function is not None:
            uses = f"extern void {function}(void);\nvoid *sg_probe(void) {{ return {function}; }}\n"
            if not self._complaint(uses, [*flags, "-Wl,--no-undefined"], ["-lmvec", *links]):
                flags.append("-DSG_LIBMVEC=1")
                links.insert(0, "-lmvec")
        return (*self._required, *flags), tuple(links)

    def _accepted(self) -> list[str]:
        found: list[str] = []
        for choices in OPTIONAL:
            accepted = (flag for flag in choices if not self._complaint(_PROBE, [*found, flag]))
            found.extend(flag for flag in [next(accepted, None)] if flag is not None)
        return found

    def _require(self) -> None:
        complaint = self._complaint(_PROBE, [])
        if complaint:
            shown = shlex.join(self._command)
            raise CompilerError(
                f"the C compiler `{shown}` cannot compile a function of one line:\n{complaint}\n"
                "Set CC to a compiler that works, or install one with pip install stagrad[native]"
            )

    def _complaint(self, text: str, flags: Sequence[str], links: Sequence[str] = ()) -> str:
        """Return what the compiler has against flags; some warn of one they do not know."""
        source, target = self._folder / "probe.c", self._folder / "probe.so"
        source.write_text(text)
        target.unlink(missing_ok=True)
        required = [flag for flag in self._required if flag != "-w"]
        sources = ["-shared", "-o", str(target), str(source)]
        arguments = [*self._command, *required, *flags, *sources, *links]
        try:
            done = run_compiler(arguments, self._folder)
        except OSError as error:
            return str(error)
        failed = done.returncode != 0 or not target.exists()
        unknown = re.search(r"unknown|unused|unsupported|ignor|unrecogni[sz]ed", done.stdout)
        return done.stdout.strip() or "it says nothing" if failed or unknown else ""


def _platform_flags() -> list[str]:
    if platform.system() == "Darwin":
        return ["-undefined", "dynamic_lookup"]
    return []


def complaint_about(text: str, output: str) -> str:
    """Return a compiler's first error with the emitted line and the function it is in."""
    match = re.search(r"^[^\n:]*:(\d+):(?:\d+:)? *(?:fatal )?error: *(.*)$", output, re.MULTILINE)
    if match is None:
        return output.strip() or "the compiler failed and says nothing"
    number, message = int(match[1]), match[2]
    lines = text.splitlines()
    if not 1 <= number <= len(lines):
        return message
    place = _enclosing_function(lines[:number])
    inside = f" of {place}" if place else ""
    return f"{message}\nin line {number}{inside}:\n    {lines[number - 1].strip()}"


def _enclosing_function(lines: Sequence[str]) -> str:
    """Return the name of the last function that begins, at the margin, in these lines."""
    for line in reversed(lines):
        match = re.match(r"[A-Za-z_][\w\s*]*?\b(\w+)\s*\(", line)
        if match is not None:
            return match[1]
    return ""
