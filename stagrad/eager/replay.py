"""Calling public functions by their recipes: which recipe a call has, and the node it leaves."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stagrad.eager import dtypes, tape
from stagrad.eager.modes import is_grad_enabled
from stagrad.eager.node import take_order
from stagrad.eager.recording import anomaly, saved_hooks
from stagrad.eager.tape import edge_of, make_tensor
from stagrad.ops.quiet import restore, silence

if TYPE_CHECKING:
    from stagrad.eager.recipe import Recipe

_SIMPLE = frozenset({int, bool, str, type(None), np.dtype, dtypes.dtype, type})
_CALLS_BEFORE = 2
"""Calls of a signature that run as written: a recipe costs as much as some ten calls."""

_MANY = 1024
_new = object.__new__
_ndarray = np.ndarray


class _Unreadable(Exception):
    """An argument whose meaning a key cannot hold."""


class Signature:
    """What the recipe of a call depends on, and the tensors and edges of the call."""

    __slots__ = ("edges", "key", "needs", "tensors")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, view: bool) -> None:
        self.tensors: list[Any] = []
        self.edges: list[Any] = []
        self.needs: list[bool] = []
        recording = is_grad_enabled()
        parts = [self._part(value, recording) for value in args]
        for name, value in kwargs.items():
            parts.append(name)
            parts.append(self._part(value, recording))
        if view and not (self.tensors and self.tensors[0]._array.flags.c_contiguous):
            raise _Unreadable
        self.key = (dtypes.default_dtype().char, *parts)

    def _part(self, value: Any, recording: bool) -> Any:
        if isinstance(value, tape.tensor_type):
            array = value._array
            dtype = array.dtype
            if dtype.kind not in "fc":
                raise _Unreadable
            needs = False
            if recording:
                edge = value._edge
                if edge is None or value._base is not None:
                    edge = edge_of(value)
                if edge is not None:
                    self.edges.append(edge)
                    needs = True
            self.tensors.append(value)
            self.needs.append(needs)
            return (array.shape, dtype, needs)
        kind = type(value)
        if kind in _SIMPLE:
            return (kind, value)
        if kind is float:
            # Zeros of both signs are equal, but not the same.
            return (kind, value if value else repr(value))
        if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
            return (kind, *[self._part(part, recording) for part in value])
        raise _Unreadable


class Recipes:
    """The recipes of one public function, by signature."""

    def __init__(self, body: Callable[..., Any], *, view: bool) -> None:
        self.body = body
        self.view = view
        self.known: dict[Any, Recipe | int | None] = {}

    def sign(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Signature | None:
        """Return the signature of a call, None for one that has no recipe."""
        if anomaly.get() or saved_hooks.get():
            return None
        try:
            return Signature(args, kwargs, view=self.view)
        except _Unreadable:
            return None

    def learn(
        self, call: Signature, args: Any, kwargs: Any, label: Callable[[], str], result: Any
    ) -> None:
        """Count a call; write its recipe when there have been enough of this signature.

        `result` is what the call returned: a recipe that returns anything else is not taken.
        """
        known = self.known
        if len(known) >= _MANY:
            known.clear()
        count = known.get(call.key, 0)
        if type(count) is not int:
            return
        known[call.key] = count + 1
        if count + 1 < _CALLS_BEFORE or not call.tensors:
            return
        from stagrad.eager.recipe import write_recipe

        recipe = write_recipe(self.body, args, kwargs, label(), call.needs, self.view)
        if recipe is not None and not _agrees(recipe, call, result):
            recipe = None
        known[call.key] = recipe


def _agrees(recipe: "Recipe", call: Signature, result: Any) -> bool:
    """Say whether a recipe computes the very numbers that a call returned."""
    before = silence()
    try:
        parts = recipe.forward(*[tensor._array for tensor in call.tensors])[: recipe.count]
        again = recipe.rebuild([make_tensor(np.asarray(part), None) for part in parts])
        return _is_same(result, again)
    except Exception:
        return False
    finally:
        restore(before)


def _is_same(first: Any, second: Any) -> bool:
    if type(first) is not type(second):
        return False
    if isinstance(first, tuple | list):
        pairs = zip(first, second, strict=True)
        return len(first) == len(second) and all(_is_same(a, b) for a, b in pairs)
    a, b = first._array, second._array
    return bool(a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=True))


def replay(recipe: "Recipe", call: Signature) -> Any:
    """Run a call by its recipe."""
    tensors = call.tensors
    before = silence()
    try:
        parts = recipe.forward(*[tensor._array for tensor in tensors])
    finally:
        restore(before)
    out = parts[0]
    result = _new(tape.tensor_type)
    result._array = out if type(out) is _ndarray else np.asarray(out)
    result._edge = None
    result._counter = [0]
    if recipe.view is not None:
        _show(result, tensors[0], recipe.view)
    if recipe.backward is not None:
        result._edge = (_node(recipe, call, parts, result), 0)
    if recipe.single:
        return result
    rest = [make_tensor(np.asarray(part), None) for part in parts[1 : recipe.count]]
    return recipe.rebuild([result, *rest])


def _show(result: Any, operand: Any, chain: Sequence[Any]) -> None:
    """Mark a result as a view of its operand's memory."""
    base = operand if operand._base is None else operand._base
    result._base = base
    result._chain = (*operand._chain, *chain)
    result._counter = operand._counter
    result._seen = base._rewrites
    if not is_grad_enabled():
        result._origin = "no_grad"


def _node(recipe: "Recipe", call: Signature, parts: Sequence[Any], result: Any) -> Any:
    node = _new(recipe.node_type)
    node.recipe = recipe
    node.edges = call.edges
    checks: Sequence[Any] = ()
    saved: Sequence[Any] = ()
    if recipe.kept_inputs:
        tensors = call.tensors
        saved = [tensors[place]._array for place in recipe.kept_inputs]
        counters = [tensors[place]._counter for place in recipe.checked]
        checks = [(counter, counter[0]) for counter in counters]
        if len(recipe.checked) != len(recipe.kept_inputs):
            counters = [tensors[place]._counter for place in recipe.kept_inputs]
            node.later = [(counter, counter[0]) for counter in counters]
    if recipe.kept_places:
        saved = [*saved, *[parts[place] for place in recipe.kept_places]]
        if recipe.keeps_result:
            counter = result._counter
            checks = [*checks, (counter, counter[0])]
            if type(parts[0]) is not _ndarray:
                saved = [result._array if part is parts[0] else part for part in saved]
    node.saved = tuple(saved)
    node.checks = checks
    node.order = take_order()
    return node
