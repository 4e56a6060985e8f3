"""`python -m stagrad COMMAND …`: looking at what the compiler does with a function."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import stagrad
from stagrad.api.backend import BACKENDS
from stagrad.api.lowering import Lowered
from stagrad.errors import StagradError
from stagrad.runtime.native import cache as native_cache
from stagrad.tools import show
from stagrad.tools.colors import painter
from stagrad.tools.target import UsageError, find_function, read_arguments

_HELP = """\
usage: python -m stagrad COMMAND …

Show what stagrad makes of a function.

commands:
  dump      the graph after each pass, as text, drawing or data, and what each pass changed
  source    the program that is emitted for it
  cache     what is kept of compiled programs: cache info, cache clear

python -m stagrad COMMAND --help tells more of each.
"""

_TARGET_HELP = """\
MODULE_OR_FILE:FUNCTION is imported; a file is written with its ending: line_fit.py:loss.
Each ARG stands for one argument of the function:
  f64[128,784]        an array of that dtype and shape; f64 is a 0-d one
  0.5  'relu'  (1, 2) a Python literal; containers may hold avals: {'w': f32[3,4]}
  @file.npy           the array in a file
  name=ARG            an argument passed by keyword
"""

_EXAMPLES = """\
examples:
  python -m stagrad dump line_fit.py:loss f64 f64 f64[50] f64[50]
  python -m stagrad dump line_fit.py:loss f64 f64 f64[50] f64[50] --grad 0,1 --diff
  python -m stagrad dump line_fit.py:loss f64 f64 f64[50] f64[50] --format svg > loss.svg
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool that the command line names; return its exit status, 2 for a wrong use."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help", "help"):
        print(_HELP, end="")
        return 0 if given else 2
    name, *rest = given
    command = COMMANDS.get(name)
    try:
        if command is None:
            raise UsageError(
                f"there is no command {name!r}; the commands are {', '.join(COMMANDS)}"
            )
        command(rest)
    except (UsageError, StagradError) as error:
        print(f"stagrad: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader, a pager for example, has seen enough.
        sys.stderr.close()
    return 0


class _Parser(argparse.ArgumentParser):
    """A parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see python -m stagrad {self.prog.split()[-1]} --help")


def _parser(name: str, description: str) -> _Parser:
    parser = _Parser(
        prog=f"python -m stagrad {name}",
        description=description,
        epilog=_TARGET_HELP + ("\n" + _EXAMPLES if name == "dump" else ""),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("function", metavar="MODULE_OR_FILE:FUNCTION", help="what to compile")
    parser.add_argument("args", metavar="ARG", nargs="*", help="its arguments, see below")
    parser.add_argument(
        "--grad",
        metavar="ARGNUMS",
        type=_argnums,
        help="compile the gradient by these arguments: 0, or 0,1",
    )
    parser.add_argument(
        "--backend",
        choices=BACKENDS,
        default="auto",
        help="the target: C where there is a compiler unless another is asked for",
    )
    return parser


def _argnums(text: str) -> int | tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        numbers = ()
    if not numbers:
        raise UsageError(f"--grad {text}: write the number of an argument, 0, or several, 0,1")
    return numbers[0] if len(numbers) == 1 else numbers


def _lower(options: argparse.Namespace) -> Lowered:
    function = find_function(options.function)
    args, kwargs = read_arguments(function, options.args)
    transformed: Any = function
    if options.grad is not None:
        transformed = stagrad.grad(function, options.grad)
    elif not hasattr(function, "lower"):
        transformed = stagrad.compile(function)
    try:
        return transformed.lower(*args, **kwargs).to(options.backend)  # type: ignore[no-any-return]
    except ValueError as error:
        if options.grad is not None and str(error).startswith("grad: argnums"):
            raise UsageError(str(error)) from None
        raise


def dump(arguments: Sequence[str]) -> None:
    """Run `dump`: print or write stages of a compilation."""
    parser = _parser("dump", "Show the graph of a function after each pass of the compiler.")
    parser.add_argument(
        "--stage", metavar="NAME", help="the stage to show, or all; by default the last graph"
    )
    parser.add_argument("--format", choices=show.FORMATS, default="text", help="default: text")
    parser.add_argument("--source", action="store_true", help="show the emitted program")
    parser.add_argument(
        "--diff", action="store_true", help="show what each pass changed in the graph before it"
    )
    parser.add_argument(
        "-o", dest="folder", metavar="DIR", type=Path, help="write files into a folder instead"
    )
    options = parser.parse_intermixed_args(arguments)
    if options.diff and options.format != "text":
        raise UsageError("--diff compares texts; leave --format out")
    lowered = _lower(options)
    default = "all" if options.diff or options.folder else None
    names = show.chosen_stages(lowered, options.stage or default)
    if options.folder is not None:
        written = show.write_files(
            lowered,
            options.folder,
            names,
            options.format,
            source=options.source,
            diff=options.diff,
        )
        print("\n".join(str(options.folder / name) for name in written))
        return
    paint = painter()
    if options.diff:
        show.print_differences(lowered, names, paint)
    elif options.stage is not None or not options.source:
        show.print_stages(lowered, names, options.format, paint)
    if options.source:
        show.print_source(lowered, paint)


def source(arguments: Sequence[str]) -> None:
    """Run `source`: print the emitted program."""
    parser = _parser("source", "Show the program that is emitted for a function.")
    lowered = _lower(parser.parse_intermixed_args(arguments))
    show.print_source(lowered, painter())


def cache(arguments: Sequence[str]) -> None:
    """Run `cache`: tell what compiled programs take, or remove them."""
    parser = _Parser(
        prog="python -m stagrad cache",
        description="Tell where compiled programs are kept and what they take, or remove them.",
    )
    parser.add_argument("action", choices=("info", "clear"))
    action = parser.parse_args(arguments).action
    found = native_cache.info() if action == "info" else native_cache.clear()
    what = f"{found.count} compiled programs, {found.bytes / 1e6:.1f} MB, in {found.folder}"
    print(what if action == "info" else f"removed {what}")


COMMANDS: dict[str, Callable[[Sequence[str]], None]] = {
    "dump": dump,
    "source": source,
    "cache": cache,
}
