"""What a machine lacks is skipped, and the end of the run says so."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

MARKED = """
import pytest

@pytest.mark.compiler
@pytest.mark.parametrize("number", [1, 2])
def test_compile(number):
    raise AssertionError

@pytest.mark.outside
def test_trees():
    raise AssertionError

def test_plain():
    pass
"""


def test_lacking_tools_are_reported(tmp_path):
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_marked.py").write_text(MARKED, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  compiler\n  outside\n")
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        env=os.environ | {"CC": "no-such-compiler -O2", "STAGRAD_TREES": "no-such-folder"},
        capture_output=True,
        text=True,
    )
    assert "1 passed, 3 skipped" in finished.stdout
    lines = finished.stdout.splitlines()
    compiler = "tests that need `compiler`: no C compiler found among no-such-compiler"
    assert f"NOT RUN (2): {compiler}" in lines
    trees = "tests that need `outside`: STAGRAD_TREES=no-such-folder is not a folder"
    assert f"NOT RUN (1): {trees}" in lines
