"""The test suite of the array API standard, on two namespaces of stagrad.

`stagrad.array_api` is the one that tensors name by `__array_namespace__`. `stagrad` itself has
PyTorch's functions, some of which mean other things by the same names (`sort` and `max` return
pairs, `equal` one answer for all), as PyTorch's own namespace does.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from tests.cases.library import Library
from tests.cases.outside.outcome import Outcome
from tests.cases.outside.pytest_child import run_pytest

VERSION = "2025.12"
SEED = "0"


def suite_of(namespace: str) -> Callable[[Library, Path], Iterator[Outcome]]:
    """Return the function that runs the suite on a namespace."""

    def run(_library: Library, tree: Path) -> Iterator[Outcome]:
        names = {"ARRAY_API_TESTS_MODULE": namespace, "ARRAY_API_TESTS_VERSION": VERSION}
        options = ["--hypothesis-seed", SEED, "--continue-on-collection-errors"]
        return run_pytest(tree, "array_api_tests", options, names)

    return run
