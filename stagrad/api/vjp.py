"""vjp: a function's value together with the transpose of its derivative."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stagrad.api.aliasing import require_apart
from stagrad.api.differentiate import (
    Wanted,
    placed,
    slots,
    wanted_inputs,
    with_constant_outputs,
)
from stagrad.api.function import CompiledFunction
from stagrad.api.lowering import lower_program
from stagrad.api.outputs import Outputs, per_function
from stagrad.api.program import Program, Result, primal_program
from stagrad.api.signature import Parameters, Signature
from stagrad.api.tensors import holds_tensors
from stagrad.ir import Aval, Graph, aval_of, is_inexact
from stagrad.passes.masks import settle_masks
from stagrad.passes.recognize import recognize
from stagrad.passes.reverse import reverse
from stagrad.passes.split import split
from stagrad.trace import Traced, captured_values, current_trace, flatten, replay, unflatten

Flat = Callable[[Sequence[Any]], Sequence[Any]]


class Pullback:
    """The linear map from a cotangent of the result to cotangents of the arguments.

    Call it with a tree like the result; it returns a tuple with one tree per argument. It may be
    called any number of times, also on traced values.
    """

    def __init__(
        self, run: Flat, residuals: Sequence[Any], outputs: Outputs, result: Result
    ) -> None:
        self._run = run
        self._residuals = residuals
        self._outputs = outputs
        self._result = result

    def __call__(self, cotangent: Any) -> Any:
        """Return the cotangents of the arguments."""
        seeds = self._outputs.seeds(cotangent, "cotangent")
        return self._result.build(self._run([*self._residuals, *seeds]))


class VjpFunction(CompiledFunction):
    """Computes a function's value and its pullback, with respect to `argnums` or to all it can."""

    def __init__(
        self, function: Callable[..., Any], argnums: Any = None, name: str = "vjp"
    ) -> None:
        super().__init__(
            function,
            lambda traced, signature, parameters: primal_program(traced),
            parameters=Parameters(function),
            prefix="vjp",
        )
        self._argnums = argnums
        self._name = name
        self._halves: dict[Any, _Halves] = {}

    def __call__(self, /, *args: Any, **kwargs: Any) -> tuple[Any, Pullback]:
        """Return the value and the pullback at these arguments."""
        signature = self._signature(args, kwargs)
        halves = None if current_trace() is not None else self._halves.get(signature.key)
        if halves is None or not halves.traced.guards.hold():
            _, traced, signature = self._program(signature)
            halves = _Halves(traced, self._wanted(signature))
            if current_trace() is None:
                self._halves[signature.key] = halves
        arrays, captures = signature.arrays, halves.traced.captures
        require_apart(halves.traced, signature, self._parameters, arrays, captures)
        return halves.run(arrays)

    def _wanted(self, signature: Signature) -> tuple[Sequence[int], Result]:
        if self._argnums is None:
            avals = signature.avals
            wrt = [place for place, aval in enumerate(avals) if is_inexact(aval)]
            return wrt, _cotangent_result(signature, wrt)
        wanted: Wanted = wanted_inputs(signature, self._parameters, self._argnums, self._name)
        places = slots(range(len(wanted.positions)))
        return wanted.positions, placed(wanted.arrange(places))


class _Halves:
    """The forward and the backward program of one call signature."""

    def __init__(self, traced: Traced, wanted: tuple[Sequence[int], Result]) -> None:
        wrt, self.result = wanted
        self.traced = traced = with_constant_outputs(traced)
        self.outputs = Outputs(traced)
        joint = reverse(recognize(traced.graph), wrt, self.outputs.places)
        if current_trace() is None:
            # What the backward half takes in may be infinite where the arguments are not.
            joint = settle_masks(joint)
        halves = split(joint, len(self.outputs.places), len(wrt))
        self.residuals = halves.residuals
        self.forward = _Half(halves.forward, "forward")
        self.backward = _Half(halves.backward, "backward")

    def run(self, arrays: list[Any]) -> tuple[Any, Pullback]:
        captures = self.traced.captures
        if current_trace() is None:
            captures = tuple(captured_values(captures))
        values = self.forward([*arrays, *captures])
        count = len(values) - self.residuals
        pullback = Pullback(self.backward, values[count:], self.outputs, self.result)
        return self.traced.result(values[:count]), pullback


class _Half:
    """One half of a split program: compiled when first run, replayed into a running trace."""

    def __init__(self, graph: Graph, label: str) -> None:
        self._graph = graph
        self._label = label

    @functools.cached_property
    def _compiled(self) -> Callable[..., Sequence[Any]]:
        return lower_program(Program(self._graph, (), placed(())), self._label).compile()

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        trace = current_trace()
        if trace is not None:
            return replay(trace, self._graph, arrays)
        return self._compiled(*arrays)


def _cotangent_result(signature: Signature, wrt: Sequence[int]) -> Result:
    """Arrange cotangents in the tree of the arguments; None where an argument has no derivative."""
    found = dict(zip(wrt, slots(range(len(wrt))), strict=True))
    leaves: list[Any] = []
    place = 0
    for leaf in signature.leaves:
        if isinstance(leaf, Aval):
            leaves.append(found.get(place))
            place += 1
        else:
            leaves.append(None)
    args, _ = unflatten(signature.spec, leaves)
    return placed(args)


vjp_of = per_function(VjpFunction)


def vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return `(value, pullback)`: the function's result and the transpose of its derivative there.

    `pullback(cotangent)` takes a tree like the result and returns a tuple with the cotangent of
    each argument (None for an integer, bool or static one). Complex cotangents follow the
    convention of `stagrad.grad`: for a result y and a real loss L, pass dL/dRe(y) + i dL/dIm(y).
    With has_aux the function returns `(value, auxiliary)` and so does `vjp`: `(value, pullback,
    auxiliary)`.

    >>> import numpy as np, stagrad
    >>> value, pullback = stagrad.vjp(lambda x: x**2, np.array([1.0, 2.0]))
    >>> pullback(np.array([1.0, 10.0]))
    (array([ 2., 40.]),)

    Raises TypeError for tensors, whose own `vjp` is in `stagrad.autograd.functional`.
    """
    if holds_tensors(primals):
        raise TypeError(
            "vjp takes arrays and numbers, and was given a tensor; write "
            "stagrad.autograd.functional.vjp(f, inputs, v), or pass tensor.detach().numpy()"
        )
    if not has_aux:
        return vjp_of(function)(*primals)
    (value, aux), pullback = vjp_of(function)(*primals)
    zeros = _zeros_like(aux)
    return value, lambda cotangent: pullback((cotangent, zeros)), aux


def _zeros_like(tree: Any) -> Any:
    leaves, spec = flatten(tree)
    return unflatten(spec, [np.zeros(aval_of(leaf).shape, aval_of(leaf).dtype) for leaf in leaves])
