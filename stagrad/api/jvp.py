"""jvp: a function's value together with its directional derivative."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from stagrad.api.aliasing import require_apart
from stagrad.api.differentiate import placed, slots, wanted_inputs, with_constant_outputs
from stagrad.api.function import CompiledFunction
from stagrad.api.lowering import lower_program
from stagrad.api.outputs import Outputs, conforming, per_function
from stagrad.api.program import Program, primal_program
from stagrad.api.signature import Parameters, Signature
from stagrad.api.tensors import holds_tensors
from stagrad.ir import Aval, is_inexact
from stagrad.passes.forward import forward
from stagrad.passes.recognize import recognize
from stagrad.trace import (
    Traced,
    captured_values,
    current_trace,
    describe_structure,
    flatten,
    replay,
    unflatten,
)


class JvpFunction(CompiledFunction):
    """Computes a function's value and its tangent, with respect to `argnums` or to all it can."""

    def __init__(
        self, function: Callable[..., Any], argnums: Any = None, name: str = "jvp"
    ) -> None:
        super().__init__(function, self._forward, parameters=Parameters(function), prefix="jvp")
        self._argnums = argnums
        self._name = name
        self._programs: dict[Any, Any] = {}

    def __call__(self, args: tuple[Any, ...], tangents: Any, **kwargs: Any) -> Any:
        """Return the value and the tangent; `tangents` is a tree like the chosen arguments."""
        if holds_tensors((args, tangents, kwargs)):
            return self._on_tensors(args, tangents, **kwargs)
        signature = self._signature(args, kwargs)
        seeds = self._seeds(signature, tangents)
        trace = current_trace()
        if trace is not None:
            program, traced, signature = self._program(signature)
            self._require_apart(traced, signature, program)
            given = [*signature.arrays, *program.captures, *seeds]
            return program.result.build(replay(trace, program.graph, given))
        entry = self._programs.get(signature.key)
        if entry is None or not entry[2].guards.hold():
            program, traced, signature = self._program(signature)
            entry = (program, lower_program(program, self._label).compile(), traced)
            self._programs[signature.key] = entry
        program, run, traced = entry
        self._require_apart(traced, signature, program)
        captures = captured_values(program.captures)
        return program.result.build(run(*signature.arrays, *captures, *seeds))

    @functools.cached_property
    def _on_tensors(self) -> CompiledFunction:
        def jvp(args: tuple[Any, ...], tangents: Any, **kwargs: Any) -> Any:
            return self(args, tangents, **kwargs)

        return CompiledFunction(
            jvp,
            lambda traced, signature, parameters: primal_program(traced),
            parameters=Parameters(jvp),
        )

    def _require_apart(self, traced: Traced, signature: Signature, program: Program) -> None:
        arrays, captures = signature.arrays, program.captures
        require_apart(traced, signature, self._parameters, arrays, captures)

    def _forward(self, traced: Traced, signature: Signature, parameters: Parameters) -> Program:
        traced = with_constant_outputs(traced)
        outputs = Outputs(traced)
        if self._argnums is None:
            wrt = [place for place, aval in enumerate(signature.avals) if is_inexact(aval)]
        else:
            wrt = list(wanted_inputs(signature, parameters, self._argnums, self._name).positions)
        graph = forward(recognize(traced.graph), wrt, outputs.places)
        first = len(traced.graph.outputs)
        tangent_of = {place: first + k for k, place in enumerate(outputs.places)}
        value = [slots([leaf])[0] if isinstance(leaf, int) else leaf for leaf in outputs.leaves]
        tangent = [
            slots([tangent_of[leaf]])[0] if leaf in tangent_of else None for leaf in outputs.leaves
        ]
        trees = unflatten(outputs.spec, value), unflatten(outputs.spec, tangent)
        return Program(
            graph, traced.captures, placed(trees), traced=traced.graph, made_by="forward"
        )

    def _seeds(self, signature: Signature, tangents: Any) -> list[Any]:
        """Return one tangent array per differentiated leaf, checked against its aval."""
        positions, spec = self._chosen(signature)
        values, given = flatten(tangents)
        if spec != given:
            raise TypeError(
                f"{self._name}: tangents must have the structure of the primals, "
                f"{describe_structure(spec)}, not {describe_structure(given)}"
            )
        return [
            conforming(value, leaf, self._describe(signature, position))
            for position, value in zip(positions, values, strict=True)
            if isinstance(leaf := signature.leaves[position], Aval) and is_inexact(leaf)
        ]

    def _chosen(self, signature: Signature) -> tuple[list[int], Any]:
        numbered = unflatten(signature.spec, list(range(len(signature.leaves))))[0]
        if self._argnums is None:
            return flatten(numbered)
        wanted_inputs(signature, self._parameters, self._argnums, self._name)
        numbers, numbers_spec = flatten(self._argnums)
        return flatten(unflatten(numbers_spec, [numbered[number] for number in numbers]))

    def _describe(self, signature: Signature, position: int) -> str:
        argument = self._parameters.describe(signature.spec, position)
        return f"{self._name}: the tangent of {argument}"


jvp_of = per_function(JvpFunction)


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
    return jvp_of(function)(tuple(primals), tuple(tangents))
