"""vjp and jvp: a function's value together with the linear map its derivative is."""

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stagrad.api.differentiate import placed, slots
from stagrad.api.function import CompiledFunction
from stagrad.api.lowering import lower_program
from stagrad.api.program import Program, Result, primal_program
from stagrad.api.signature import Parameters, Signature
from stagrad.errors import DTypeError, ShapeError
from stagrad.ir import Aval, Graph, aval_of, is_inexact
from stagrad.passes.forward import forward
from stagrad.passes.recognize import recognize
from stagrad.passes.reverse import reverse
from stagrad.passes.split import split
from stagrad.trace import Traced, TreeSpec, current_trace, flatten, replay, unflatten

Flat = Callable[[Sequence[Any]], Sequence[Any]]


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


class Pullback:
    """The linear map from a cotangent of the result to cotangents of the arguments.

    Call it with a tree like the result; it returns a tuple with one tree per argument. It may be
    called any number of times, also on traced values.
    """

    def __init__(
        self, run: Flat, residuals: Sequence[Any], outputs: "_Outputs", result: Result
    ) -> None:
        self._run = run
        self._residuals = residuals
        self._outputs = outputs
        self._result = result

    def __call__(self, cotangent: Any) -> Any:
        """Return the cotangents of the arguments."""
        seeds = self._outputs.seeds(cotangent, "cotangent")
        return self._result.build(self._run([*self._residuals, *seeds]))


class _Outputs:
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


class _Vjp(CompiledFunction):
    """Programs that return a function's value and its pullback."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(
            function,
            lambda traced, signature, parameters: primal_program(traced),
            parameters=Parameters(function),
            prefix="vjp",
        )
        self._halves: dict[Any, Any] = {}

    def __call__(self, *primals: Any) -> tuple[Any, Pullback]:
        signature = self._signature(primals, {})
        halves = None if current_trace() is not None else self._halves.get(signature.key)
        if halves is None or not halves[0].guards.hold():
            halves = self._build_halves(signature)
            if current_trace() is None:
                self._halves[signature.key] = halves
        return self._pair(signature, halves, signature.arrays)

    def _build_halves(self, signature: Signature) -> Any:
        _, traced = self._program(signature)
        outputs = _Outputs(traced)
        wrt = [place for place, leaf in enumerate(traced_avals(signature)) if is_inexact(leaf)]
        joint = reverse(recognize(traced.graph), wrt, outputs.places)
        halves = split(joint, len(outputs.places), len(wrt))
        result = _cotangent_result(signature, wrt)
        return (
            traced,
            outputs,
            _Half(halves.forward, "forward"),
            _Half(halves.backward, "backward"),
            halves.residuals,
            result,
        )

    def _pair(self, signature: Signature, halves: Any, arrays: list[Any]) -> tuple[Any, Pullback]:
        traced, outputs, run_forward, run_backward, residuals, result = halves
        values = run_forward([*arrays, *traced.captures])
        count = len(values) - residuals
        return (
            traced.result(values[:count]),
            Pullback(run_backward, values[count:], outputs, result),
        )


def traced_avals(signature: Signature) -> list[Aval]:
    """Return the avals of a call's array leaves, in order."""
    return [leaf for leaf in signature.leaves if isinstance(leaf, Aval)]


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


_vjp_of = per_function(_Vjp)


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
    """
    if not has_aux:
        return _vjp_of(function)(*primals)
    (value, aux), pullback = _vjp_of(function)(*primals)
    zeros = _zeros_like(aux)
    return value, lambda cotangent: pullback((cotangent, zeros)), aux


def _zeros_like(tree: Any) -> Any:
    leaves, spec = flatten(tree)
    return unflatten(spec, [np.zeros(aval_of(leaf).shape, aval_of(leaf).dtype) for leaf in leaves])


def _build_jvp(traced: Traced, signature: Signature, parameters: Parameters) -> Program:
    """The call is (primals, tangents): only the primals were traced."""
    outputs = _Outputs(traced)
    avals = traced_avals(signature)
    wrt = [place for place, leaf in enumerate(avals) if is_inexact(leaf)]
    graph = forward(recognize(traced.graph), wrt, outputs.places)
    first = len(traced.graph.outputs)
    tangent_of = {place: first + k for k, place in enumerate(outputs.places)}
    value = unflatten(
        outputs.spec, [slots([x])[0] if isinstance(x, int) else x for x in outputs.leaves]
    )
    tangent = unflatten(
        outputs.spec,
        [slots([tangent_of[x]])[0] if x in tangent_of else None for x in outputs.leaves],
    )
    return Program(graph, traced.captures, placed((value, tangent)))


class _Jvp(CompiledFunction):
    """Programs that return a function's value and the tangent of its result."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, _build_jvp, parameters=Parameters(function), prefix="jvp")
        self._programs: dict[Any, Any] = {}

    def __call__(self, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        signature = self._signature(primals, {})
        seeds = self._tangent_arrays(signature, tangents)
        trace = current_trace()
        if trace is not None:
            program, _ = self._program(signature)
            given = [*signature.arrays, *program.captures, *seeds]
            return program.result.build(replay(trace, program.graph, given))
        entry = self._programs.get(signature.key)
        if entry is None or not entry[2].guards.hold():
            program, traced = self._program(signature)
            entry = (program, lower_program(program, "jvp").compile(), traced)
            self._programs[signature.key] = entry
        program, run, _ = entry
        return program.result.build(run(*signature.arrays, *program.captures, *seeds))

    def _tangent_arrays(self, signature: Signature, tangents: tuple[Any, ...]) -> list[Any]:
        args = unflatten(signature.spec, list(range(len(signature.leaves))))[0]
        positions, spec = flatten(args)
        values, given = flatten(tuple(tangents))
        if spec != given:
            raise TypeError(
                f"jvp: tangents must have the structure of the primals, {spec}; got {given}"
            )
        return [
            conforming(
                value,
                leaf,
                f"jvp: the tangent of {self._parameters.describe(signature.spec, position)}",
            )
            for position, value in zip(positions, values, strict=True)
            if isinstance(leaf := signature.leaves[position], Aval) and is_inexact(leaf)
        ]


_jvp_of = per_function(_Jvp)


def jvp(function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """Return `(value, tangent)`: the function's result and its directional derivative.

    `primals` and `tangents` are tuples with one tree per argument, of the same structure, shapes
    and dtypes; the tangent of an integer or static leaf is ignored. Results that carry no
    derivative have tangent None.

    >>> import numpy as np, stagrad
    >>> stagrad.jvp(np.sin, (0.0,), (2.0,))
    (np.float64(0.0), np.float64(2.0))
    """
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise TypeError(
            "jvp: primals and tangents are tuples, one entry per argument: jvp(f, (x,), (dx,))"
        )
    return _jvp_of(function)(tuple(primals), tuple(tangents))
