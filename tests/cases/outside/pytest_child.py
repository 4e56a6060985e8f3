"""Test suites of other projects, run by pytest in a process of its own."""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.cases.outside.children import ROOT
from tests.cases.outside.outcome import Outcome

TIME_LIMIT = 3600


def run_pytest(
    tree: Path, tests: str, options: list[str], environment: Mapping[str, str]
) -> Iterator[Outcome]:
    """Run the tests below a folder of the tree and report each one that was not skipped."""
    with tempfile.TemporaryDirectory() as folder:
        settings, report = Path(folder, "pytest.ini"), Path(folder, "report.xml")
        settings.write_text("[pytest]\n")  # not the suite's own, which may ask for plugins
        command = [sys.executable, "-m", "pytest", "-q", "-c", str(settings)]
        command += ["--rootdir", str(tree), "--junitxml", str(report), *options]
        command += ["-p", "no:cacheprovider", "--tb=short", str(tree / tests)]
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        variables = os.environ | environment | {"PYTHONPATH": os.pathsep.join(paths)}
        arguments = {"cwd": folder, "env": variables, "timeout": TIME_LIMIT}
        finished = subprocess.run(command, capture_output=True, text=True, check=False, **arguments)
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
