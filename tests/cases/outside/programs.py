"""Programs written for autograd, and the derivatives they ask for.

`data/programs.txt` lists examples of HIPS autograd, which run unmodified from its tree, and small
user programs on packages that use autograd themselves (lifelines, pymanopt). Each runs in a process
of its own, on the shim; what its calls of grad and the like return is summarised, until a given
number of results is there, and compared with what real autograd gave (`data/programs.json`).
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path

from tests.cases import DATA
from tests.cases.library import Library
from tests.cases.outside.children import run_child
from tests.cases.outside.outcome import Outcome

TOLERANCES = {"autograd": 1e-7, "snippet": 1e-4}  # a snippet's result is where an optimiser ended


def run(library: Library, tree: Path) -> Iterator[Outcome]:
    """Run every program that has recorded derivatives."""
    recorded = json.loads((DATA / "programs.json").read_text())
    for line in (DATA / "programs.txt").read_text().splitlines():
        if not line.startswith("#"):
            name, kind, target, count, _needs = (part.strip() for part in line.split("|"))
            started = time.perf_counter()
            reason = _reason(kind, target, count, recorded[name]["log"], library, tree)
            yield Outcome(name, reason, time.perf_counter() - started)


def _reason(kind, target, count, want, library, tree) -> str:
    """Return why a program failed, nothing if it did not."""
    child = "tests.cases.outside.program_child"
    result = run_child(child, kind, target, count, str(tree), library.name)
    return result["error"] or _difference(result["log"], want, TOLERANCES[kind])


def _difference(got, want, tolerance) -> str:
    if len(got) != len(want):
        return f"{len(got)} results instead of {len(want)}"
    for number, (numbers, wanted) in enumerate(zip(got, want, strict=True)):
        pairs = list(zip(numbers, wanted, strict=False))
        errors = [abs(a - b) / max(1.0, abs(b)) for a, b in pairs]
        if len(numbers) != len(wanted) or not all(error <= tolerance for error in errors):
            return f"result {number} is {numbers}, expected {wanted}"
    return ""
