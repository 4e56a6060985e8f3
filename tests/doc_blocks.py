"""Run the code blocks of a Markdown page, and hold the output it shows to what they print.

Blocks run from top to bottom in an empty folder that sees the checkout's `examples`:

- `python`: executed, all blocks of a page in one namespace (prompts `>>>` run as a doctest);
- `console`: each line `$ python …` is run, and what it prints must be what the block shows; where
  it shows nothing, only the exit status counts. `...` stands for any text.

A comment on the line above a block changes what happens to it:

- `<!-- output -->`: not run; it must be what the blocks before it have printed since the last such;
- `<!-- file: NAME -->`: not run; saved under that name for the blocks that follow;
- `<!-- skip: REASON -->`: left alone.

`python -m tests.doc_blocks PAGE…` writes today's output into the pages.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
_FENCE = re.compile(r"(?P<ticks>`{3,})(?P<language>[\w-]*)\s*$")
_COMMENT = re.compile(r"<!-- (?P<name>[a-z]+)(?:: (?P<argument>.+?))? -->\s*$")
_ARGUMENT_NEEDED = {"output": False, "file": True, "skip": True}


class PageError(AssertionError):
    """A page's block fails, or the page shows an output that is not what a block prints."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its text without the fences, and the comment above it."""

    page: Path
    line: int  # of the first line of `text`, counted from 1
    language: str
    text: str
    comment: str = ""
    argument: str = ""

    def error(self, message: str) -> PageError:
        """Return an error that says where the block stands."""
        return PageError(f"{self.page}:{self.line}: {message}")


@dataclass(frozen=True)
class Claim:
    """A block that shows output, and what its whole text would be today."""

    block: Block
    actual: str

    def check(self) -> None:
        """Raise unless the block shows what is printed today."""
        shown = self.block.text
        if not doctest.OutputChecker().check_output(shown, self.actual, doctest.ELLIPSIS):
            raise self.block.error(f"the page shows\n{shown}\nbut today it is\n{self.actual}")


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page in order."""
    lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
    number = 0
    while number < len(lines):
        fence = _FENCE.match(lines[number])
        number += 1
        if fence is None:
            continue
        start = number
        while number < len(lines) and lines[number].rstrip() != fence["ticks"]:
            number += 1
        comment = _COMMENT.match(lines[start - 2]) if start >= 2 else None
        name, argument = (comment["name"], comment["argument"] or "") if comment else ("", "")
        block = Block(
            page, start + 1, fence["language"], "".join(lines[start:number]), name, argument
        )
        if name and _ARGUMENT_NEEDED.get(name) != bool(argument):
            raise block.error(f"the comment above is none of {', '.join(_ARGUMENT_NEEDED)}")
        if number == len(lines):
            raise block.error("the block has no end")
        yield block
        number += 1


def run_page(page: Path, folder: Path) -> list[Claim]:
    """Run a page's blocks in the empty `folder`, and return the outputs that the page shows."""
    (folder / "examples").symlink_to(ROOT / "examples")
    # Not only a dictionary: dataclasses and pickle look their module up by name.
    module = types.ModuleType(f"page_{page.stem}".replace("-", "_"))
    sys.modules[module.__name__] = module
    printed = io.StringIO()
    claims = []
    try:
        with contextlib.chdir(folder):
            for block in blocks(page):
                if block.comment == "file":
                    (folder / block.argument).write_text(block.text, encoding="utf-8")
                elif block.comment == "output":
                    claims.append(Claim(block, printed.getvalue()))
                    printed = io.StringIO()
                elif block.comment != "skip" and block.language == "python":
                    with contextlib.redirect_stdout(printed):
                        _run_python(block, module.__dict__)
                elif block.comment != "skip" and block.language == "console":
                    claims.append(Claim(block, _run_console(block)))
    finally:
        del sys.modules[module.__name__]
    return claims


def _run_python(block: Block, namespace: dict[str, object]) -> None:
    if ">>> " in block.text:
        _run_prompts(block, namespace)
        return
    try:
        # The line feeds make tracebacks, and stagrad's source comments, name the page's own lines.
        code = compile("\n" * (block.line - 1) + block.text, str(block.page), "exec")
        exec(code, namespace)
    except Exception as error:
        raise block.error(f"{type(error).__name__}: {error}") from error


def _run_prompts(block: Block, namespace: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(
        block.text, {}, block.page.name, str(block.page), block.line - 1
    )
    test.globs = namespace
    runner = doctest.DocTestRunner(
        verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    report = io.StringIO()
    if runner.run(test, out=report.write, clear_globs=False).failed:
        raise block.error(report.getvalue())


def _run_console(block: Block) -> str:
    """Run the block's commands; return its text with today's output where it shows any."""
    head, *parts = re.split(r"^\$ (.+)\n", block.text, flags=re.MULTILINE)
    if head or not parts:
        raise block.error("a console block begins with a command: `$ python …`")
    text = ""
    for command, shown in zip(parts[::2], parts[1::2], strict=True):
        program, *arguments = shlex.split(command)
        if program != "python":
            raise block.error(f"only `$ python …` can be run here; skip this block: {command}")
        finished = subprocess.run(
            [sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        if finished.returncode:
            status = f"exit status {finished.returncode}"
            raise block.error(f"{command}: {status}\n{finished.stdout}")
        text += f"$ {command}\n{finished.stdout if shown else ''}"
    return text


def update(page: Path) -> bool:
    """Write today's output into a page; return whether that changed anything."""
    with tempfile.TemporaryDirectory() as folder:
        claims = run_page(page, Path(folder))
    lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
    for claim in reversed(claims):
        try:
            claim.check()
        except PageError:
            first = claim.block.line - 1
            lines[first : first + claim.block.text.count("\n")] = [claim.actual]
    before, after = page.read_text(encoding="utf-8"), "".join(lines)
    page.write_text(after, encoding="utf-8")
    return before != after


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name}: {'updated' if update(Path(name).resolve()) else 'as it was'}")
