"""The test suite of HIPS autograd, run on the shim.

A few of its tests are about autograd's own machinery (vector-space objects, deprecated names, the
graph cache) and cannot pass.
"""

from collections.abc import Iterator
from pathlib import Path

from tests.cases.library import Library
from tests.cases.outside.outcome import Outcome
from tests.cases.outside.pytest_child import run_pytest

PLUGIN = "tests.cases.outside.autograd_shim.plugin"


def run(library: Library, tree: Path) -> Iterator[Outcome]:
    """Run the suite in a process of its own and report each test that was not skipped."""
    return run_pytest(tree, "tests", ["-p", PLUGIN], {"AUTOGRAD_SHIM": library.name})
