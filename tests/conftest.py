"""Skip what this machine cannot run, and say so in one line each at the end of the run."""

import importlib.util
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

# Most tests are about what comes before a target; to compile C for each would take hours. Those of
# the C target ask for it, and CI runs a part of the others on it.
os.environ.setdefault("STAGRAD_BACKEND", "numpy")

# Machines are shared and a first call compiles, so no single example is held to a deadline. Under
# CI hypothesis selects its own profile, which is free of deadlines too, and deterministic.
if "CI" not in os.environ:
    hypothesis.settings.register_profile("stagrad", deadline=None)
    hypothesis.settings.load_profile("stagrad")


def lacking_gpu() -> str:
    """Return why no test can use a GPU, or nothing where one can."""
    if importlib.util.find_spec("cupy") is None:
        return "CuPy is not installed"
    import cupy

    try:
        return "" if cupy.cuda.runtime.getDeviceCount() else "there is no CUDA device"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"there is no CUDA device: {error}"


def lacking_compiler() -> str:
    """Return why no test can compile C, or nothing where one can."""
    candidates = os.environ.get("CC", "").split()[:1] or ["cc", "gcc", "clang"]
    if any(shutil.which(candidate) for candidate in candidates):
        return ""
    return f"no C compiler found among {', '.join(candidates)}"


def lacking_trees() -> str:
    """Return why no test can read third-party sources, or nothing where one can."""
    folder = os.environ.get("STAGRAD_TREES", "")
    if not folder:
        return "STAGRAD_TREES does not name a folder of unpacked third-party sources"
    return "" if Path(folder).is_dir() else f"STAGRAD_TREES={folder} is not a folder"


LACKING: dict[str, Callable[[], str]] = {
    "gpu": lacking_gpu,
    "compiler": lacking_compiler,
    "outside": lacking_trees,
}
SKIPPED = pytest.StashKey[Counter[str]]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as skipped each test that needs what this machine lacks."""
    skipped = config.stash[SKIPPED] = Counter()
    for marker, lacking in LACKING.items():
        marked = [item for item in items if item.get_closest_marker(marker)]
        if marked and (reason := lacking()):
            skipped[f"tests that need `{marker}`: {reason}"] = len(marked)
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was left out, and why, where nobody can overlook it."""
    for what, count in terminalreporter.config.stash.get(SKIPPED, Counter()).items():
        terminalreporter.write_line(f"NOT RUN ({count}): {what}", yellow=True)
