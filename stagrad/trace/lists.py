"""NumPy functions that are given lists of traced numbers: `np.sum([a, b])`, `np.dot([a, b], w)`.

A list answers no protocol, so NumPy would ask each traced number in it for its value. While a trace
runs, a function that stagrad implements first looks whether a list among its arguments holds a
traced value, and stacks it if so.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.ops.convert import as_array, holds_traced
from stagrad.ops.define import FUNCTIONS
from stagrad.trace.fresh import np_originals
from stagrad.trace.state import current_trace

# These take sequences of arrays, which need not be of one shape.
_TAKE_SEQUENCES = frozenset(
    {
        np.append, np.apply_over_axes, np.block, np.broadcast_arrays, np.choose, np.column_stack,
        np.concatenate, np.dstack, np.einsum, np.histogramdd, np.hstack, np.insert, np.ix_,
        np.lexsort, np.linalg.multi_dot, np.meshgrid, np.piecewise, np.ravel_multi_index,
        np.select, np.stack, np.vstack,
    }
)  # fmt: skip


def _accepting_lists(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*arguments: Any, **keywords: Any) -> Any:
        from stagrad.trace.protocols import call_function

        if current_trace() is None or not _has_list((*arguments, *keywords.values())):
            return original(*arguments, **keywords)
        if original not in _TAKE_SEQUENCES:
            arguments = tuple(map(_stacked, arguments))
            keywords = {name: _stacked(value) for name, value in keywords.items()}
        return call_function(original, arguments, keywords)

    return call


def _has_list(values: tuple[Any, ...]) -> bool:
    return any(isinstance(value, list | tuple) and holds_traced(value) for value in values)


def _stacked(value: Any) -> Any:
    return as_array(value) if _has_list((value,)) else value


def _functions_of(module: Any, skipped: frozenset[str] = frozenset()) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(module).items()
        if name not in skipped
        and not isinstance(value, type | np.ufunc)
        and callable(value)
        and value in FUNCTIONS
    }


list_originals = _functions_of(np, frozenset(np_originals))
linalg_list_originals = _functions_of(np.linalg)
list_replacements = {name: _accepting_lists(value) for name, value in list_originals.items()}
linalg_list_replacements = {
    name: _accepting_lists(value) for name, value in linalg_list_originals.items()
}
