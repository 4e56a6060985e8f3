"""ADBench's problems."""

import pytest

from tests.cases import adbench, library


@pytest.mark.parametrize("problem", list(adbench.problems()), ids=str)
def test_problem(problem):
    adbench.check(problem, library.stagrad())
