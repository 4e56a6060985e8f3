"""Other people's programs: each suite must pass the share of its cases that the table asks for."""

import os
from pathlib import Path

import pytest

from tests.cases import library
from tests.cases.outside.run import line
from tests.cases.outside.suites import SUITES

OUTSIDE = {
    name: suite
    for name, suite in SUITES.items()
    if (suite.repository or suite.package) and suite.required
}


@pytest.mark.outside
@pytest.mark.parametrize("name", OUTSIDE)
def test_suite(name):
    suite, trees = OUTSIDE[name], Path(os.environ["STAGRAD_TREES"])
    assert suite.is_available(trees), f"there is no checkout of {suite.repository} in {trees}"
    if suite.package:
        pytest.importorskip(suite.package)
    outcomes = list(suite.run(library.stagrad(), suite.tree(trees)))
    failures = [line(name, outcome, verbose=False) for outcome in outcomes if not outcome.passed]
    passed = len(outcomes) - len(failures)
    assert outcomes
    assert passed >= suite.required * len(outcomes), "\n".join(failures)
