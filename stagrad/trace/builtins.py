"""Python's `max` and `min` on traced values.

They compare, and a traced comparison has no truth while tracing. Of traced numbers they are what
Python makes of them, the first of the extreme ones, as a selection.
"""

import builtins
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.ops.convert import holds_traced, is_traced
from stagrad.ops.define import FUNCTIONS, UFUNCS
from stagrad.trace.state import current_trace


def _extreme(name: str, comparison: str) -> Callable[..., Any]:
    original: Callable[..., Any] = getattr(builtins, name)

    @functools.wraps(original)
    def choose(*arguments: Any, **keywords: Any) -> Any:
        if current_trace() is None or keywords:
            return original(*arguments, **keywords)
        candidates = list(arguments[0]) if len(arguments) == 1 else list(arguments)
        if not candidates or not holds_traced(candidates):
            return original(*arguments)
        if any(is_traced(value) and value.shape != () for value in candidates):
            return original(*arguments)
        best = candidates[0]
        for other in candidates[1:]:
            better = UFUNCS[comparison](other, best)
            best = FUNCTIONS[np.where](better, other, best)
        return best

    return choose


builtin_replacements = {"max": _extreme("max", "greater"), "min": _extreme("min", "less")}
