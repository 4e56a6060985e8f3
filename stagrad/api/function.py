"""Compiled functions: one program per call signature, built at the first such call."""

import functools
import keyword
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from stagrad.api.aliasing import require_apart
from stagrad.api.collection import collection_paused
from stagrad.api.entry import MISS, fast_entry
from stagrad.api.lowering import Lowered, lower_program
from stagrad.api.program import Program
from stagrad.api.signature import Parameters, Signature
from stagrad.api.tensors import call_on_tensors, holds_tensors
from stagrad.ir.naming import RESERVED
from stagrad.runtime import note_emitted_line
from stagrad.trace import (
    Guards,
    Trace,
    Traced,
    Tracer,
    captured_values,
    current_trace,
    replay,
    trace_function,
)
from stagrad.trace.state import running

Build = Callable[[Traced, Signature, Parameters], Program]
Run = Callable[..., Sequence[Any]]


class CompiledFunction:
    """A function that is traced at its first call with given shapes and dtypes, then replayed.

    Made by `stagrad.compile`, `stagrad.grad` and their kin. Calls inside another traced function
    become part of that function's program. Safe to call from many threads.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        build: Build,
        *,
        parameters: Parameters,
        verify: bool = False,
        backend: str = "auto",
        prefix: str = "",
    ) -> None:
        functools.update_wrapper(self, function, updated=())
        self._function = function
        self._build = build
        self._parameters = parameters
        self._verify = verify
        self._backend = backend
        self._prefix = prefix
        self._label = emitted_name(parameters.function_name, prefix)
        self._entries: dict[Any, _Entry] = {}
        self._static: dict[Any, frozenset[int]] = {}
        self._fast: Callable[[tuple[Any, ...], dict[str, Any]], Any] | None = None
        self._lock = threading.RLock()
        self.flat_functions: dict[Any, Any] = {}

    @property
    def wrapped_functions(self) -> tuple[Callable[..., Any], ...]:
        """The functions whose code a call runs; what they read is guarded."""
        return (self._function,)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the program for these arguments, building it when they are new."""
        if not running.get():
            fast = self._fast
            try:
                if fast is not None:
                    result = fast(args, kwargs)
                    if result is not MISS:
                        return result
                return self._call(args, kwargs)
            except Exception as error:
                note_emitted_line(error)
                raise
        return self._call_traced(args, kwargs)

    def __repr__(self) -> str:
        return f"<stagrad function {self._label}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind as a method does; the instance becomes a static first argument."""
        if instance is None:
            return self
        known = getattr(instance, "__dict__", None)
        if not isinstance(known, dict):
            return self._bind(instance)
        bound = known.get(self._bound_name)
        # A copy of an instance has its dictionary, and so what is bound to the other one.
        if bound is None or bound._function.__self__ is not instance:
            bound = known[self._bound_name] = self._bind(instance)
        return bound

    def __deepcopy__(self, memo: dict[int, Any]) -> "CompiledFunction":
        """Return this very function, as copies of plain functions are."""
        return self

    __copy__ = functools.partialmethod(__deepcopy__, {})

    def __reduce__(self) -> Any:
        """Pickle by name, as plain functions are, and a bound function by its instance."""
        owner = getattr(self._function, "__self__", None)
        name = getattr(self, "__name__", "")
        if getattr(getattr(owner, name, None), "_function", None) == self._function:
            return getattr, (owner, name)
        path = getattr(self, "__qualname__", "")
        found: Any = sys.modules.get(getattr(self, "__module__", None) or "")
        for part in path.split("."):
            found = getattr(found, part, None)
        if found is not self:
            raise TypeError(
                f"{path or self._label} cannot be pickled: its name leads to the plain function. "
                "Pickle that one, and make it anew with stagrad where it is loaded"
            )
        return path

    @property
    def _bound_name(self) -> str:
        return f"_stagrad_{self._label}_{id(self):x}"

    def _bind(self, instance: Any) -> "CompiledFunction":
        method = self._function.__get__(instance)
        return CompiledFunction(
            method,
            self._build,
            parameters=Parameters(method),
            verify=self._verify,
            backend=self._backend,
            prefix=self._prefix,
        )

    def lower(self, /, *args: Any, **kwargs: Any) -> Lowered:
        """Return the compilation for these arguments, stage by stage, without running it.

        Arguments are arrays and numbers, or avals such as `stagrad.aval("f64[20000,100]")`.
        """
        program, _, _ = self._program(self._signature(args, kwargs))
        return self._lowered(program)

    def _lowered(self, program: Program) -> Lowered:
        return lower_program(program, self._label, verify=self._verify, backend=self._backend)

    def program(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Program, Signature]:
        """Return the program for arguments like these, and how they are traced."""
        program, _, signature = self._program(self._signature(args, kwargs))
        return program, signature

    @property
    def parameters(self) -> Parameters:
        """The parameters of the function."""
        return self._parameters

    @property
    def label(self) -> str:
        """What the emitted function is called: `grad_loss`."""
        return self._label

    def _signature(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Signature:
        signature = self._parameters.signature(args, kwargs)
        static = self._static.get(signature.spec)
        return signature.with_static(static) if static else signature

    def _program(self, signature: Signature) -> tuple[Program, Traced, Signature]:
        """Trace and build; the signature returned has the leaves static that tracing needed so."""
        with collection_paused():
            traced = self._trace(signature)
            if traced.static:
                known = self._static.get(signature.spec, frozenset())
                self._static[signature.spec] = known | traced.static
                signature = signature.with_static(traced.static)
            return self._build(traced, signature, self._parameters).pruned(), traced, signature

    def _trace(self, signature: Signature) -> Traced:
        return trace_function(
            self._function,
            signature.spec,
            signature.leaves,
            self._parameters.leaf_names(signature.spec),
            signature.values,
        )

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if holds_tensors((args, kwargs)):
            return call_on_tensors(self, args, kwargs)
        signature = self._signature(args, kwargs)
        entry = self._entries.get(signature.key)
        if entry is None or not entry.guards.hold():
            with self._lock:
                entry, signature = self._compile(signature)
        return entry.run(signature, self._parameters)

    def _compile(self, signature: Signature) -> tuple["_Entry", Signature]:
        with collection_paused():
            program, traced, signature = self._program(signature)
            run = self._executable(program, traced, signature)
        entry = _Entry(program, run, traced)
        self._entries[signature.key] = entry
        if not traced.mutated:
            self._fast = fast_entry(signature, program, run, traced.guards)
        return entry, signature

    def _executable(self, program: Program, traced: Traced, signature: Signature) -> Run:
        """Return what computes the outputs of a program's graph from its inputs."""
        return self._lowered(program).compile()

    def _call_traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Add this function's program to the one being traced."""
        trace = current_trace()
        assert trace is not None
        program, traced, signature = self._program(self._signature(args, kwargs))
        arrays = signature.arrays
        require_apart(traced, signature, self._parameters, arrays, program.captures)
        return inline(trace, program, arrays)


def emitted_name(name: str, prefix: str) -> str:
    """Return the name an emitted function bears: `grad_loss`."""
    name = name if name.isidentifier() and not keyword.iskeyword(name) else "function"
    if prefix:
        return f"{prefix}_{name}"
    return f"{name}_" if name in RESERVED else name


class _Entry:
    """One built program."""

    __slots__ = ("program", "run_flat", "traced")

    def __init__(self, program: Program, run_flat: Run, traced: Traced) -> None:
        self.program = program
        self.run_flat = run_flat
        self.traced = traced

    @property
    def guards(self) -> Guards:
        return self.traced.guards

    def run(self, signature: Signature, parameters: Parameters) -> Any:
        arrays = signature.arrays
        captures = captured_values(self.program.captures)
        if self.traced.mutated:
            require_apart(self.traced, signature, parameters, arrays, captures)
        outputs = self.run_flat(*arrays, *captures)
        for position, output in self.program.written:
            given = signature_array(signature, position)
            given[...] = outputs[output]
        return self.program.result.build(outputs)


def signature_array(signature: Signature, position: int) -> Any:
    """Return the caller's own array at an input position."""
    places = [i for i, leaf in enumerate(signature.leaves) if not hasattr(leaf, "value")]
    return signature.values[places[position]]


def inline(trace: Trace, program: Program, arrays: Sequence[Any]) -> Any:
    """Add a program's operations to a running trace and return its result, traced."""
    outputs = replay(trace, program.graph, [*arrays, *program.captures])
    for position, output in program.written:
        target = arrays[position]
        if isinstance(target, Tracer):
            target.write(outputs[output])
    return program.result.build(outputs)
