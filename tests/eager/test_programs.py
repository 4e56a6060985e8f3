"""Programs as PyTorch's tutorials have them print the text that PyTorch 2.13 prints.

The expected text beside each program was recorded from PyTorch, whose name stood in place of
stagrad's in the program.
"""

import runpy
from pathlib import Path

import pytest

import stagrad

FOLDER = Path(__file__).with_name("programs")
PROGRAMS = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program(path, capsys):
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        stagrad.set_printoptions(profile="default")
    assert capsys.readouterr().out == path.with_suffix(".txt").read_text()


def test_every_program_has_its_text():
    assert len(PROGRAMS) >= 25
    assert {path.stem for path in PROGRAMS} == {path.stem for path in FOLDER.glob("*.txt")}
