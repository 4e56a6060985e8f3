"""PyTorch tutorial scripts, run with the name `torch` bound to the library.

`data/torch_programs.txt` lists the scripts of jcjohnson/pytorch-examples and how many lines of each
one's output to compare; `data/torch_programs.json` holds the numbers PyTorch printed. They are
compared to the four digits that were printed; other text is left aside.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy

from tests.cases import DATA
from tests.cases.library import Library
from tests.cases.outside.children import run_child
from tests.cases.outside.outcome import Outcome

TOLERANCE = 2e-4


def run(library: Library, tree: Path) -> Iterator[Outcome]:
    """Run every script in a process of its own."""
    recorded = json.loads((DATA / "torch_programs.json").read_text())
    for line in (DATA / "torch_programs.txt").read_text().splitlines():
        if not line.startswith("#"):
            name, path, count = (part.strip() for part in line.split("|"))
            started = time.perf_counter()
            child = "tests.cases.outside.torch_child"
            result = run_child(child, library.name, str(tree / path), count)
            reason = result["error"] or _difference(result["log"], recorded[name]["log"])
            yield Outcome(name, reason, time.perf_counter() - started)


def _difference(got, want) -> str:
    got, want = (numpy.array([number for line in log for number in line]) for log in (got, want))
    if got.shape != want.shape:
        return f"{got.size} numbers instead of {want.size}"
    close = numpy.isclose(got, want, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    if close.all():
        return ""
    first = int(numpy.argmin(close))
    return f"number {first} is {got[first]}, expected {want[first]}"
