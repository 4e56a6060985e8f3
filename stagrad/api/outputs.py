"""The differentiable results of a function, and values that must fit what they belong to."""

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np

from stagrad.errors import DTypeError, ShapeError
from stagrad.ir import Aval, aval_of, is_inexact
from stagrad.trace import Traced, TreeSpec, describe_structure, flatten


class _Made(dict[str, Any]):
    """What was made for a function, kept in the function's own dictionary, so that it goes with it.

    Copies and pickles of it are empty.
    """

    def __init__(self, function: Any = None) -> None:
        super().__init__()
        self.function = function

    def __reduce__(self) -> Any:
        return _Made, ()


def per_function(make: Callable[[Callable[..., Any]], Any]) -> Callable[[Callable[..., Any]], Any]:
    """Cache what is made for a function for as long as the function lives.

    For what has no dictionary, bound methods and ufuncs, the last few are kept.
    """
    last = functools.lru_cache(maxsize=16)(make)

    @functools.wraps(make)
    def get(function: Callable[..., Any]) -> Any:
        place = getattr(function, "__dict__", None)
        if isinstance(function, MethodType) or not isinstance(place, dict):
            return last(function)
        kept = place.get("_stagrad_made")
        # A wrapper has a copy of the dictionary of what it wraps.
        if kept is None or kept.function is not function:
            kept = place["_stagrad_made"] = _Made(function)
        if make.__name__ not in kept:
            kept[make.__name__] = make(function)
        return kept[make.__name__]

    return get


class Outputs:
    """The differentiable results of a function and the tree their cotangents come in."""

    def __init__(self, traced: Traced) -> None:
        self.spec: TreeSpec = traced.output_spec
        self.leaves = traced.output_leaves
        self.avals = [node.aval for node in traced.graph.outputs]
        self.places = [
            leaf for leaf in self.leaves if isinstance(leaf, int) and is_inexact(self.avals[leaf])
        ]

    def seeds(self, tree: Any, what: str) -> list[Any]:
        """Return one array per differentiable result, checked against its shape and dtype."""
        values, spec = flatten(tree)
        if spec != self.spec:
            raise TypeError(
                f"vjp: the {what} must have the structure of the function's result, "
                f"{describe_structure(self.spec)}, not {describe_structure(spec)}"
            )
        return [
            conforming(value, self.avals[leaf], f"vjp: the {what}")
            for value, leaf in zip(values, self.leaves, strict=True)
            if leaf in self.places
        ]


def conforming(value: Any, aval: Aval, what: str) -> Any:
    """Return a value cast to an aval's dtype; its shape must be the aval's."""
    given = aval_of(value)
    if given.shape != aval.shape:
        raise ShapeError(f"{what} has shape {given.shape}; the value it belongs to, {aval.shape}")
    if given.dtype == aval.dtype and not given.weak:
        return value
    if given.dtype.kind == "c" and aval.dtype.kind != "c":
        raise DTypeError(f"{what} is complex, the value it belongs to is {aval.dtype}")
    if isinstance(value, np.ndarray | np.generic | int | float | complex):
        return np.asarray(value, aval.dtype)
    return value.astype(aval.dtype)
