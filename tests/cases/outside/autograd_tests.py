"""The test suite of HIPS autograd, run on the shim.

A few of its tests are about autograd's own machinery (vector-space objects, deprecated names, the
graph cache) and cannot pass.
"""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from tests.cases.library import Library
from tests.cases.outside.children import ROOT
from tests.cases.outside.outcome import Outcome

PLUGIN = "tests.cases.outside.autograd_shim.plugin"
TIME_LIMIT = 3600


def run(library: Library, tree: Path) -> Iterator[Outcome]:
    """Run the suite in a process of its own and report each test that was not skipped."""
    with tempfile.TemporaryDirectory() as folder:
        settings, report = Path(folder, "pytest.ini"), Path(folder, "report.xml")
        settings.write_text("[pytest]\n")  # not the suite's own, which asks for plugins
        command = [sys.executable, "-m", "pytest", "-q", "-c", str(settings)]
        command += ["--rootdir", str(tree), "--junitxml", str(report), "-p", PLUGIN]
        command += ["-p", "no:cacheprovider", "--tb=short", str(tree / "tests")]
        environment = os.environ | {"AUTOGRAD_SHIM": library.name, "PYTHONPATH": str(ROOT)}
        options = {"cwd": folder, "env": environment, "timeout": TIME_LIMIT}
        finished = subprocess.run(command, capture_output=True, text=True, check=False, **options)
        if not report.exists():
            raise RuntimeError(f"pytest made no report: {finished.stdout}{finished.stderr}")
        yield from _outcomes(ElementTree.parse(report))


def _outcomes(report: ElementTree.ElementTree) -> Iterator[Outcome]:
    for case in report.iter("testcase"):
        if case.find("skipped") is not None:
            continue
        problems = [case.find(kind) for kind in ("failure", "error")]
        reasons = [problem.get("message", "failed") for problem in problems if problem is not None]
        name = f"{case.get('classname', '').split('.')[-1]}::{case.get('name')}"
        yield Outcome(name, "; ".join(reasons), float(case.get("time", 0)))
