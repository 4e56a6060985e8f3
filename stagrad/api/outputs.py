"""The differentiable results of a function, and values that must fit what they belong to."""

import functools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.errors import DTypeError, ShapeError
from stagrad.ir import Aval, aval_of, is_inexact
from stagrad.trace import Traced, TreeSpec, flatten


def per_function(make: Callable[[Callable[..., Any]], Any]) -> Callable[[Callable[..., Any]], Any]:
    """Cache what is made for a function for as long as the function lives."""
    made: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    @functools.wraps(make)
    def get(function: Callable[..., Any]) -> Any:
        try:
            known = made.get(function)
            if known is None:
                known = made[function] = make(function)
        except TypeError:
            return make(function)
        return known

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
                f"vjp: the {what} must have the structure of the function's result, {self.spec}; "
                f"got {spec}"
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
