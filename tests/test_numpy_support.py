"""docs/numpy-support.md lists what the tables of operations hold."""

import importlib
import re

import pytest

from tests import numpy_support

LISTS = numpy_support.lists()


def exists(name):
    """Say whether the installed NumPy or SciPy has what the page names."""
    if name.startswith(("ufunc.", "x.")):
        return True
    package, module, *rest = re.sub(r"^np\b", "numpy", name).split(".")
    found = importlib.import_module(package if not rest else f"{package}.{module}")
    for part in rest or [module]:
        found = getattr(found, part, None)
    return found is not None


def test_the_page_has_all_titles():
    assert list(numpy_support.shown()) == list(LISTS)


@pytest.mark.parametrize("title", [title for title in LISTS if title != "Not covered"])
def test_a_list_is_that_of_the_tables(title):
    """`python -m tests.numpy_support` brings it up to date."""
    shown = numpy_support.shown()[title]
    assert [name for name in shown if exists(name)] == LISTS[title]


def test_nothing_is_both_covered_and_not():
    covered = {name for title, names in LISTS.items() if title != "Not covered" for name in names}
    assert covered.isdisjoint(numpy_support.shown()["Not covered"])
