"""The lists in docs/numpy-support.md, made from the tables of operations.

`python -m tests.numpy_support` writes today's lists into the page.
"""

import importlib
import re
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from stagrad.ops import FUNCTIONS, UFUNCS
from stagrad.ops.define import SCIPY
from stagrad.ops.operators import METHODS
from stagrad.ops.ufunc_methods import UFUNC_METHODS
from stagrad.trace import Tracer
from stagrad.trace.fresh import np_originals

PAGE = Path(__file__).parents[1] / "docs" / "numpy-support.md"
BEGIN, END = "<!-- begin of the generated lists -->", "<!-- end of the generated lists -->"
MODULES = ("numpy", "numpy.linalg", "numpy.fft")


def lists() -> dict[str, list[str]]:
    """Return the names under each title of the page."""
    special = importlib.import_module("scipy.special")
    found = {"Ufuncs": [f"np.{name}" for name in UFUNCS if is_ufunc(np, name)]}
    found["Ufunc methods"] = sorted({f"ufunc.{method}" for _, method in UFUNC_METHODS})
    for module in MODULES:
        title = {"numpy": "Functions"}.get(module, f"`{written(module)}`")
        found[title] = [name for name in functions_of(module) if is_supported(name)]
    found["Array methods and attributes"] = [f"x.{name}" for name in array_members()]
    found["`scipy.special`"] = [
        f"scipy.special.{name}"
        for name in UFUNCS
        if is_ufunc(special, name) and not is_ufunc(np, name)
    ]
    for name in SCIPY:
        dotted = re.sub(r"^(scipy\.fft)\._\w+\.", r"\1.", name)
        module = ".".join(dotted.split(".")[:2])
        if dotted.startswith("numpy.vectorize."):
            found["Functions"].append("np.vectorize")
        elif not re.search(r"\._", dotted):
            found.setdefault(f"`{module}`", []).append(dotted)
    found["Refused, with what to write instead"] = [
        name for module in MODULES for name in functions_of(module) if is_refused(name)
    ]
    found["Not covered"] = [
        name
        for module in MODULES
        for name in functions_of(module)
        if not is_supported(name) and not is_refused(name)
    ]
    return {title: sorted(set(names), key=str.lower) for title, names in found.items()}


def is_ufunc(module: Any, name: str) -> bool:
    """Say whether a module has a ufunc of this very name."""
    return isinstance(getattr(module, name, None), np.ufunc)


def written(module: str) -> str:
    """Return a module as users write it."""
    return re.sub("^numpy", "np", module)


def functions_of(module: str) -> list[str]:
    """Return the functions of a NumPy module that take arrays or make them."""
    space = vars(importlib.import_module(module))
    dispatched = (
        name
        for name, value in space.items()
        if not name.startswith("_") and (hasattr(value, "_implementation") or value in known())
    )
    return [f"{written(module)}.{name}" for name in dispatched if name not in NOT_OF_ARRAYS]


def known() -> "Functions":
    """Return what the table knows, askable for anything."""
    return Functions(FUNCTIONS)


class Functions:
    """The keys of a table, of which one may ask about values that cannot be hashed as well."""

    def __init__(self, table: Iterable[Callable[..., Any]]) -> None:
        self.table = set(table) | set(np_originals.values())

    def __contains__(self, value: object) -> bool:
        return callable(value) and not isinstance(value, type | np.ufunc) and value in self.table


NOT_OF_ARRAYS = frozenset(
    {
        "array2string", "array_repr", "array_str", "save", "savetxt", "savez", "savez_compressed",
        "busday_count", "busday_offset", "is_busday", "datetime_as_string",
        "may_share_memory", "shares_memory",
    }
)  # fmt: skip
"""Functions of printing, storing, dates and memory, which nobody differentiates."""


def implementation(name: str) -> Callable[..., Any] | None:
    """Return what answers for a function inside a trace."""
    module, _, last = name.rpartition(".")
    function = getattr(importlib.import_module(re.sub("^np", "numpy", module)), last)
    if last in np_originals and function is np_originals[last]:
        return FUNCTIONS.get(function, function)
    return FUNCTIONS.get(function)


def is_refused(name: str) -> bool:
    """Say whether a function has an entry that always raises."""
    return getattr(implementation(name), "__name__", "") == "refuse"


def is_supported(name: str) -> bool:
    """Say whether a function may be used inside a trace."""
    return implementation(name) is not None and not is_refused(name)


def array_members() -> list[str]:
    """Return the public methods and attributes of ndarray that a traced value has."""
    assert set(METHODS) <= set(dir(Tracer))
    refused = {"item", "tolist", "nonzero"}
    return [
        name
        for name in dir(np.ndarray)
        if not name.startswith("_") and hasattr(Tracer, name) and name not in refused
    ]


def render() -> str:
    """Return the generated part of the page."""
    parts = []
    for title, names in lists().items():
        listed = textwrap.fill(", ".join(f"`{name}`" for name in names), 120)
        parts.append(f"### {title}\n\n{listed}.\n")
    return "\n".join(parts)


def shown() -> dict[str, list[str]]:
    """Return the names under each title as the page has them."""
    part = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    sections = re.split(r"^### (.+)\n", part, flags=re.MULTILINE)[1:]
    return {
        title: re.findall(r"`([^`]+)`", text)
        for title, text in zip(sections[::2], sections[1::2], strict=True)
    }


if __name__ == "__main__":
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{render()}\n{END}{after}", encoding="utf-8")
