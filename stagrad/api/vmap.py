"""vmap: a function of one element, mapped over a batch in one program."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import optree

from stagrad.api.differentiate import placed, slots
from stagrad.api.function import CompiledFunction
from stagrad.api.program import Program
from stagrad.api.signature import Parameters, Signature
from stagrad.errors import ShapeError, UnsupportedError
from stagrad.ir import Aval, Graph
from stagrad.ops.movement import broadcast_to
from stagrad.ops.shaping import moveaxis
from stagrad.passes.batch import batch, batched_nodes
from stagrad.passes.recognize import recognize
from stagrad.trace import StaticLeaf, Trace, Traced, Tracer, replay, trace_function, unflatten
from stagrad.trace.draws import Draw
from stagrad.trace.trees import NAMESPACE

Axes = list[int | None]

_UNMAPPED = "unmapped"
"""Stands for None in trees of axes, where None itself would be structure."""


def vmap(function: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> "VmapFunction":
    """Return the function that maps over an axis of its arguments, as a loop would, in one program.

    - in_axes: which axis of each argument is mapped over: an int for all arguments, or a tuple with
      one entry per positional argument: an int, None for an argument that every element shares, or
      a tree of those that is a prefix of the argument's. Arguments given by name, and arrays in
      them, are mapped over their first axis. Strings, bools and other static arguments are shared.
    - out_axes: where the mapped axis goes in each result: an int, None for a result that does not
      depend on the mapped arguments, or a tree of those that is a prefix of the result's.

    The function sees one element: arrays without the mapped axis. It may use everything that
    `stagrad.compile` takes, `stagrad.grad` and `vmap` itself included, and what it writes to a
    mapped argument is written to the caller's array. What does not depend on a mapped argument is
    computed once. Raises ShapeError (a ValueError) for arguments without the axis or of different
    lengths along it, TypeError for results that cannot be stacked.

    >>> import numpy as np, stagrad
    >>> stagrad.vmap(np.dot, in_axes=(0, None))(np.eye(2), np.array([3.0, 4.0]))
    array([3., 4.])
    >>> gradients = stagrad.vmap(stagrad.grad(lambda w, x: np.tanh(w @ x)), in_axes=(None, 0))
    >>> gradients(np.zeros(2), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).shape
    (3, 2)
    """
    if not callable(function):
        raise TypeError(f"vmap: expected a function, got {type(function).__name__}")
    return VmapFunction(function, in_axes, out_axes)


class VmapFunction(CompiledFunction):
    """What `vmap` returns: compiled at its first call with given shapes and dtypes."""

    def __init__(self, function: Callable[..., Any], in_axes: Any, out_axes: Any) -> None:
        super().__init__(function, self._map, parameters=Parameters(function), prefix="vmap")
        _require_axes(in_axes, "in_axes")
        _require_axes(out_axes, "out_axes")
        self._in_axes = in_axes
        self._out_axes = out_axes

    def _bind(self, instance: Any) -> "VmapFunction":
        return VmapFunction(self._function.__get__(instance), self._in_axes, self._out_axes)

    def _trace(self, signature: Signature) -> Traced:
        """Trace the function for one element."""
        mapped = _Mapped.of(signature, self._parameters, self._in_axes)
        leaves = [
            leaf if axis is None else _element(leaf, axis)
            for leaf, axis in zip(signature.leaves, mapped.axes, strict=True)
        ]
        scalars = (
            place
            for place, (leaf, axis) in enumerate(zip(leaves, mapped.axes, strict=True))
            if axis is not None and isinstance(leaf, Aval) and leaf.shape == ()
        )
        return trace_function(
            self._function,
            signature.spec,
            leaves,
            self._parameters.leaf_names(signature.spec),
            signature.values,
            frozenset(scalars),
        )

    def _map(self, traced: Traced, signature: Signature, parameters: Parameters) -> Program:
        """Return the program for the whole batch."""
        name = parameters.function_name
        mapped = _Mapped.of(signature, parameters, self._in_axes)
        axes = mapped.input_axes(signature)
        results = self._result_axes(traced, name)
        _require_mappable(traced, axes, results, name)
        batched = _batched(traced, mapped.size, axes, results)
        with Trace(located=False) as trace:
            own, captured = traced.graph.inputs[: len(axes)], traced.graph.inputs[len(axes) :]
            inputs = [
                trace.input(aval, node.name)
                for aval, node in zip(signature.avals, own, strict=True)
            ]
            captures = [trace.input(node.aval, node.name) for node in captured]
            whole = [
                value if axis is None else moveaxis(value, axis, 0)
                for value, axis in zip(inputs, axes, strict=True)
            ]
            values = replay(trace, batched, [*whole, *captures])
            leaves = [
                _result(trace, values[leaf] if isinstance(leaf, int) else leaf, axis, mapped.size)
                for leaf, axis in zip(traced.output_leaves, results, strict=True)
            ]
            written = [moveaxis(values[output], 0, axes[place]) for place, output in traced.mutated]
        made = [leaf for leaf in leaves if isinstance(leaf, Tracer)]
        graph = Graph(
            [value.node for value in (*inputs, *captures)],
            [value.node for value in (*made, *written)],
        )
        numbers = iter(slots(range(len(made))))
        arranged = [next(numbers) if isinstance(leaf, Tracer) else leaf for leaf in leaves]
        return Program(
            graph,
            traced.captures,
            placed(unflatten(traced.output_spec, arranged)),
            tuple((place, len(made) + number) for number, (place, _) in enumerate(traced.mutated)),
            made_by="batch",
        )

    def _result_axes(self, traced: Traced, name: str) -> Axes:
        """Return the axis of every leaf of the result, counted from the front where negative."""
        spec = traced.output_spec
        tree = unflatten(spec, traced.output_leaves)
        axes = _spread(self._out_axes, tree, f"vmap: out_axes does not fit the result of {name}")
        for place, (leaf, axis) in enumerate(zip(traced.output_leaves, axes, strict=True)):
            if axis is None:
                continue
            ndim = traced.graph.outputs[leaf].aval.ndim if isinstance(leaf, int) else 0
            if not -ndim - 1 <= axis <= ndim:
                raise ShapeError(
                    f"vmap: out_axes has {axis} for a result of {name} with {ndim} axes; "
                    f"use a number from 0 to {ndim}"
                )
            axes[place] = axis % (ndim + 1)
        return axes


@dataclass(frozen=True)
class _Mapped:
    """What a call maps over: the axis of every leaf, None where shared, and its extent."""

    axes: Axes
    size: int

    @classmethod
    def of(cls, signature: Signature, parameters: Parameters, in_axes: Any) -> "_Mapped":
        """Return what a call maps over, or say which arguments do not fit."""
        axes = _argument_axes(signature, parameters, in_axes)
        first: tuple[int, str] | None = None
        for place, leaf in enumerate(signature.leaves):
            axis = axes[place]
            if not isinstance(leaf, Aval) or axis is None:
                axes[place] = None
                continue
            described = parameters.describe(signature.spec, place)
            axes[place] = axis = _normalized(axis, leaf, described)
            told = f"{described} has {leaf.shape[axis]} elements along axis {axis}"
            if first is None:
                first = leaf.shape[axis], told
            elif first[0] != leaf.shape[axis]:
                raise ShapeError(f"vmap: {first[1]}, but {told}; they must be the same number")
        if first is None:
            raise ValueError(
                f"vmap: in_axes={in_axes!r} maps no array among the arguments of "
                f"{parameters.function_name}; give at least one of them an axis"
            )
        return cls(axes, first[0])

    def input_axes(self, signature: Signature) -> Axes:
        """Return the axes of the leaves that are inputs of the graph."""
        leaves = zip(signature.leaves, self.axes, strict=True)
        return [axis for leaf, axis in leaves if isinstance(leaf, Aval)]


def _require_mappable(traced: Traced, axes: Axes, results: Axes, name: str) -> None:
    """Raise where a loop over the elements would mean what one program cannot do."""
    if any(isinstance(value, Draw) for value in traced.captures):
        raise UnsupportedError(
            f"vmap: {name} draws from a random generator, and every element would get the same "
            "numbers; draw for the whole batch and pass that, or use stagrad.random with a key for "
            "each element"
        )
    if any(axes[place] is None for place, _ in traced.mutated):
        raise UnsupportedError(
            f"vmap: {name} writes to an argument that all elements share; map over it, or write to "
            "a copy"
        )
    affected = batched_nodes(traced.graph, _mapped_places(axes))
    for leaf, axis in zip(traced.output_leaves, results, strict=True):
        if axis is None and isinstance(leaf, int) and traced.graph.outputs[leaf] in affected:
            raise ValueError(
                f"vmap: out_axes is None for a result of {name} that depends on the mapped "
                "arguments; give it an axis"
            )


def _batched(traced: Traced, size: int, axes: Axes, results: Axes) -> Graph:
    """Return the batched graph, mapped axes in front."""
    shared = {
        leaf for leaf, axis in zip(traced.output_leaves, results, strict=True) if axis is None
    }
    of = [place for place in range(len(traced.graph.outputs)) if place not in shared]
    return batch(recognize(traced.graph), size, _mapped_places(axes), of)


def _mapped_places(axes: Axes) -> list[int]:
    return [place for place, axis in enumerate(axes) if axis is not None]


def _result(trace: Trace, value: Any, axis: int | None, size: int) -> Any:
    """Return a leaf of the result with the mapped axis; numbers are repeated, one an element."""
    if axis is None:
        return value
    if not isinstance(value, StaticLeaf):
        return moveaxis(value, 0, axis)
    if not isinstance(value.value, bool | int | float | complex | np.generic):
        raise TypeError(
            f"vmap: the function returns {value.value!r}, which cannot be stacked; use "
            "out_axes=None for it, or return arrays and numbers only"
        )
    return broadcast_to(trace.lift(np.asarray(value.value)[()]), (size,))


def _element(leaf: Any, axis: int) -> Aval:
    return Aval((*leaf.shape[:axis], *leaf.shape[axis + 1 :]), leaf.dtype)


def _argument_axes(signature: Signature, parameters: Parameters, in_axes: Any) -> Axes:
    """Return what in_axes says of every leaf of a call; zero for arguments given by name."""
    args, kwargs = unflatten(signature.spec, [str(leaf) for leaf in signature.leaves])
    name = parameters.function_name
    if isinstance(in_axes, tuple | list):
        if len(in_axes) != len(args):
            raise ValueError(
                f"vmap: in_axes has {len(in_axes)} entries for the {len(args)} positional "
                f"arguments of {name}; give one for each"
            )
        entries = list(in_axes)
    else:
        entries = [in_axes] * len(args)
    axes: Axes = []
    for number, (entry, argument) in enumerate(zip(entries, args, strict=True)):
        complaint = f"vmap: in_axes[{number}] does not fit the argument of {name}"
        axes += _spread(entry, argument, complaint)
    return axes + _spread(0, kwargs, "")


def _spread(axes: Any, tree: Any, complaint: str) -> Axes:
    """Return one axis for each leaf of a tree, `axes` being a prefix of it."""
    named = optree.tree_map(
        lambda axis: _UNMAPPED if axis is None else axis,
        axes,
        none_is_leaf=True,
        namespace=NAMESPACE,
    )
    leaves: list[Any]
    try:
        leaves = optree.broadcast_prefix(named, tree, namespace=NAMESPACE)
    except ValueError as error:
        raise ValueError(f"{complaint}: {error}") from None
    return [None if axis is _UNMAPPED else axis for axis in leaves]


def _require_axes(axes: Any, what: str) -> None:
    for axis in optree.tree_leaves(axes, none_is_leaf=True, namespace=NAMESPACE):
        if axis is not None and (not isinstance(axis, int) or isinstance(axis, bool)):
            raise TypeError(
                f"vmap: {what}={axes!r} holds {axis!r}; an axis is an int, or None for what is not "
                "mapped"
            )


def _normalized(axis: int, leaf: Aval, described: str) -> int:
    if leaf.ndim == 0:
        raise ShapeError(
            f"vmap: {described} is a single number, which has no axis to map over; pass it by "
            "position with None in in_axes, or bind it with functools.partial. Lists are "
            "containers of arguments: make arrays of those to map over"
        )
    if not -leaf.ndim <= axis < leaf.ndim:
        raise ShapeError(f"vmap: {described} has shape {leaf.shape}, so no axis {axis} to map over")
    return axis % leaf.ndim
