"""The test table of operations: one module per family, each with its rows in `CASES`."""

import importlib
import pkgutil
from collections import Counter

from tests.op_cases.case import Case


def families() -> dict[str, list[Case]]:
    """Return the rows of every family by its module's name, checking that no two have one name."""
    found: dict[str, list[Case]] = {}
    for module in pkgutil.iter_modules(__path__):
        rows = getattr(importlib.import_module(f"{__name__}.{module.name}"), "CASES", None)
        if rows is not None:
            found[module.name] = rows
    counts = Counter(case.name for rows in found.values() for case in rows)
    repeated = [name for name, count in counts.items() if count > 1]
    assert not repeated, f"rows of one name: {repeated}"
    return found
