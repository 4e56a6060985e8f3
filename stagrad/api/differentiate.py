"""Derivative programs: which inputs and outputs take part, and how results are arranged."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stagrad.api.program import Program, Result, differentiated
from stagrad.api.signature import Parameters, Signature, argument_leaves
from stagrad.errors import DTypeError, ShapeError
from stagrad.ir import Aval, Builder, Graph, aval_of, is_inexact
from stagrad.trace import StaticLeaf, Traced, flatten, unflatten


@dataclass(frozen=True)
class Wanted:
    """The differentiated arguments of a call: input positions, and the tree gradients come in."""

    positions: tuple[int, ...]
    tree: Any

    def arrange(self, gradients: list[Any]) -> Any:
        """Return gradients, one per position, in the tree of the arguments."""
        return unflatten(flatten(self.tree)[1], gradients)


def wanted_inputs(signature: Signature, parameters: Parameters, argnums: Any, name: str) -> Wanted:
    """Return which graph inputs `argnums` names: an int, or a tree of ints.

    Raises ValueError for a number out of range, DTypeError naming an argument that has no
    derivative.
    """
    numbers, numbers_spec = flatten(argnums)
    if argnums is None:
        raise TypeError(f"{name}: argnums is an int, or a tuple or another tree of ints, not None")
    count = signature.spec.children()[0].num_children
    inputs = _input_positions(signature)
    positions: list[int] = []
    trees = []
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool) or not -count <= number < count:
            raise ValueError(
                f"{name}: argnums={argnums!r} does not fit a call of {parameters.function_name} "
                f"with {count} positional argument{'s' * (count != 1)}; "
                + (f"use numbers from 0 to {count - 1}, or " * (count > 0))
                + "pass the argument by position"
            )
        leaves = argument_leaves(signature.spec, number % count)
        for leaf in leaves:
            _require_differentiable(signature, parameters, leaf, name)
            positions.append(inputs[leaf])
        spec = signature.spec.children()[0].children()[number % count]
        trees.append(unflatten(spec, [0.0] * spec.num_leaves))
    return Wanted(tuple(positions), unflatten(numbers_spec, trees))


def _input_positions(signature: Signature) -> dict[int, int]:
    positions: dict[int, int] = {}
    for place, leaf in enumerate(signature.leaves):
        if isinstance(leaf, Aval):
            positions[place] = len(positions)
    return positions


def _require_differentiable(
    signature: Signature, parameters: Parameters, place: int, name: str
) -> None:
    leaf = signature.leaves[place]
    if isinstance(leaf, Aval) and is_inexact(leaf):
        return
    given = f"is {leaf.value!r}" if isinstance(leaf, StaticLeaf) else f"has dtype {leaf.dtype}"
    raise DTypeError(
        f"{name}: {parameters.describe(signature.spec, place)} {given}; only float and complex "
        "arguments can be differentiated. Convert it (x.astype(float), 3.0 instead of 3), or "
        "choose other argnums"
    )


def gradient_builder(
    argnums: Any, *, has_aux: bool, with_value: bool, name: str
) -> Callable[[Traced, Signature, Parameters], Program]:
    """Return the builder of `grad` and `value_and_grad` programs."""

    def build(traced: Traced, signature: Signature, parameters: Parameters) -> Program:
        wanted = wanted_inputs(signature, parameters, argnums, name)
        traced = with_constant_outputs(traced, 1)
        value, aux_spec, aux = _split_aux(traced, has_aux, name, parameters)
        aval = traced.graph.outputs[value].aval
        _require_scalar(aval, name, parameters)
        graph = differentiated(traced, wanted.positions, [value], seeds=[1])
        first = len(traced.graph.outputs)
        gradients = wanted.arrange([_Slot(first + place) for place in range(len(wanted.positions))])
        auxiliary = unflatten(aux_spec, [_slot(leaf) for leaf in aux]) if has_aux else None
        result: Any = (_Slot(value), auxiliary) if has_aux else _Slot(value)
        if with_value:
            result = (result, gradients)
        else:
            result = (gradients, auxiliary) if has_aux else gradients
        return Program(graph, traced.captures, placed(result), traced=traced.graph)

    return build


class _Slot:
    """Stands for a graph output while a result tree is arranged."""

    __slots__ = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position


def _slot(leaf: int | StaticLeaf) -> Any:
    return _Slot(leaf) if isinstance(leaf, int) else leaf


def placed(tree: Any) -> Result:
    """Return the Result of a tree whose leaves are slots and static leaves."""
    leaves, spec = flatten(tree)
    return Result(
        spec, tuple(leaf.position if isinstance(leaf, _Slot) else leaf for leaf in leaves)
    )


def slots(positions: Any) -> list[_Slot]:
    """Return slots for graph outputs."""
    return [_Slot(position) for position in positions]


def _split_aux(
    traced: Traced, has_aux: bool, name: str, parameters: Parameters
) -> tuple[int, Any, tuple[int | StaticLeaf, ...]]:
    spec, leaves = traced.output_spec, traced.output_leaves
    aux_spec: Any = None
    aux: tuple[int | StaticLeaf, ...] = ()
    if has_aux:
        if spec.type is not tuple or spec.num_children != 2:
            raise TypeError(
                f"{name}(has_aux=True): {parameters.function_name} must return a pair "
                "(value, auxiliary)"
            )
        spec, aux_spec = spec.children()
        leaves, aux = leaves[: spec.num_leaves], leaves[spec.num_leaves :]
    if not spec.is_leaf():
        raise TypeError(
            f"{name}: {parameters.function_name} returns {spec.num_leaves} values in a "
            f"{getattr(spec.type, '__name__', 'container')}; it must return one scalar. Use "
            "has_aux=True for (value, auxiliary), or stagrad.jacobian or stagrad.vjp"
        )
    if isinstance(leaves[0], StaticLeaf):
        raise TypeError(
            f"{name}: {parameters.function_name} returned {leaves[0].value!r}; it must return a "
            "scalar computed from its arguments"
        )
    return leaves[0], aux_spec, aux


def with_constant_outputs(traced: Traced, leaves: int | None = None) -> Traced:
    """Return the traced function with the constants among its first result leaves as outputs."""
    builder = Builder()
    outputs = list(traced.graph.outputs)
    placed_leaves = list(traced.output_leaves)
    for place, leaf in enumerate(placed_leaves[:leaves]):
        if isinstance(leaf, StaticLeaf) and isinstance(leaf.value, float | complex | np.inexact):
            placed_leaves[place] = len(outputs)
            outputs.append(builder.constant(leaf.value, aval_of(leaf.value).dtype))
    graph = Graph(traced.graph.inputs, outputs)
    return replace(traced, graph=graph, output_leaves=tuple(placed_leaves))


def _require_scalar(aval: Aval, name: str, parameters: Parameters) -> None:
    if aval.shape != ():
        raise ShapeError(
            f"{name}: {parameters.function_name} returns an array of shape {aval.shape}; a "
            "gradient needs a scalar. Sum or average it, or use stagrad.jacobian or stagrad.vjp"
        )
    if not np.issubdtype(aval.dtype, np.floating):
        raise DTypeError(
            f"{name}: {parameters.function_name} returns {aval.dtype}, not a real float"
            + (". Take np.abs or np.real of it" if aval.dtype.kind == "c" else "")
        )
