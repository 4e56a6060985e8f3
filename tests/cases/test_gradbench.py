"""GradBench's recorded evaluations."""

import pytest

from tests.cases import gradbench, library


@pytest.mark.parametrize("evaluation", gradbench.evaluations(), ids=str)
def test_evaluation(evaluation):
    gradbench.check(evaluation, library.stagrad())
