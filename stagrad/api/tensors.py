"""Compiled functions called on eager tensors: one node of the tape, run backward by compiled code.

The backward function is itself a compiled function of the arguments and the cotangents. Where a
backward pass is recorded, it is called on tensors in turn, so derivatives of any order follow.
"""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stagrad.ir import Aval, is_inexact
from stagrad.trace import flatten, unflatten

if TYPE_CHECKING:
    from stagrad.api.function import CompiledFunction


def holds_tensors(tree: Any) -> bool:
    """Say whether a call's arguments hold eager tensors; cheap where eager mode was never used."""
    eager = sys.modules.get("stagrad.eager.tensor")
    if eager is None:
        return False
    return any(isinstance(leaf, eager.Tensor) for leaf in flatten(tree)[0])


def call_on_tensors(
    function: "CompiledFunction", args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a compiled function on tensors; return tensors, on the tape where one requires grad."""
    from stagrad.eager import tape
    from stagrad.eager.modes import is_grad_enabled
    from stagrad.eager.tape import edge_of, make_tensor

    values, spec = flatten((args, kwargs))
    arrays = [value._array if isinstance(value, tape.tensor_type) else value for value in values]
    plain_args, plain_kwargs = unflatten(spec, arrays)
    edges = []
    if is_grad_enabled():
        edges = [
            edge_of(value) if isinstance(value, tape.tensor_type) else None for value in values
        ]
    if not any(edges):
        return _tensors(function(*plain_args, **plain_kwargs))
    flat = _flat_function(function, plain_args, plain_kwargs)
    dynamic = [arrays[place] for place in flat.places]
    result, pullback = flat.vjp(*dynamic)
    outputs, output_spec = flatten(result)
    operands = [values[place] for place in flat.places]
    node = _compiled_node(flat, operands, [edges[place] for place in flat.places], pullback)
    node.output_spec = output_spec
    node.likes = [np.asarray(output) for output in outputs]
    node.outputs = len(outputs)
    results = []
    for place, output in enumerate(outputs):
        array = np.asarray(output)
        results.append(make_tensor(array, (node, place) if array.dtype.kind in "fc" else None))
    return unflatten(output_spec, results)


def _tensors(result: Any) -> Any:
    from stagrad.eager.tape import make_tensor

    leaves, spec = flatten(result)
    made = [
        make_tensor(np.asarray(leaf), None) if isinstance(leaf, np.ndarray | np.generic) else leaf
        for leaf in leaves
    ]
    return unflatten(spec, made)


class _Flat:
    """A compiled function as a function of its array leaves alone, for one call signature."""

    def __init__(
        self, function: "CompiledFunction", args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        from stagrad.api.transforms import compile as compile_
        from stagrad.api.vjp import VjpFunction

        signature = function._signature(args, kwargs)
        leaves = list(signature.values)
        self.places = [
            place for place, leaf in enumerate(signature.leaves) if isinstance(leaf, Aval)
        ]
        for place in self.places:
            leaves[place] = None
        self.is_inexact = [is_inexact(aval) for aval in signature.avals]

        def call(*dynamic: Any) -> Any:
            filled = list(leaves)
            for place, value in zip(self.places, dynamic, strict=True):
                filled[place] = value
            inner_args, inner_kwargs = unflatten(signature.spec, filled)
            return function(*inner_args, **inner_kwargs)

        def pull(dynamic: tuple[Any, ...], cotangents: Any) -> Any:
            from stagrad.api.vjp import vjp

            return vjp(call, *dynamic)[1](cotangents)

        call.__name__ = pull.__name__ = function.parameters.function_name
        self.vjp = VjpFunction(call)
        self.pull: CompiledFunction = compile_(pull)


def _flat_function(
    function: "CompiledFunction", args: tuple[Any, ...], kwargs: dict[str, Any]
) -> _Flat:
    known = function.flat_functions
    key = function._signature(args, kwargs).key
    flat = known.get(key)
    if flat is None:
        flat = known[key] = _Flat(function, args, kwargs)
    return flat


def _compiled_node(
    flat: _Flat, operands: Sequence[Any], edges: Sequence[Any], pullback: Callable[[Any], Any]
) -> Any:
    from stagrad.eager.compiled import CompiledNode

    def run(cotangents: Any, held: Sequence[Any], record: bool) -> Sequence[Any]:
        found = flat.pull(tuple(held), cotangents) if record else pullback(cotangents)
        return [
            gradient if wanted else None
            for gradient, wanted in zip(found, flat.is_inexact, strict=True)
        ]

    return CompiledNode(run, operands, edges)
