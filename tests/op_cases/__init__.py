"""The test table of operations: one module per family, each with its rows in `CASES`."""

import importlib
import pkgutil

from tests.op_cases.case import Case


def families() -> dict[str, list[Case]]:
    """Return the rows of every family by its module's name."""
    found: dict[str, list[Case]] = {}
    for module in pkgutil.iter_modules(__path__):
        rows = getattr(importlib.import_module(f"{__name__}.{module.name}"), "CASES", None)
        if rows is not None:
            found[module.name] = rows
    return found
