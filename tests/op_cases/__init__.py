"""The test table of operations: one module per family, each with its rows in `CASES`."""

import importlib
import pkgutil
from collections import Counter

from tests.op_cases.case import Case


def all_cases() -> list[Case]:
    """Return the rows of every family, checking that no two have one name."""
    cases: list[Case] = []
    for module in pkgutil.iter_modules(__path__):
        cases += getattr(importlib.import_module(f"{__name__}.{module.name}"), "CASES", [])
    repeated = [name for name, count in Counter(case.name for case in cases).items() if count > 1]
    assert not repeated, f"rows of one name: {repeated}"
    return cases
