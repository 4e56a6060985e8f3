"""Trace: the state of one function being traced."""

import contextvars
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from stagrad.errors import DTypeError, TraceError
from stagrad.ir import (
    Aval,
    Builder,
    Literal,
    Node,
    Params,
    Primitive,
    Source,
    aval_of,
    project_p,
)
from stagrad.ir.aval import PYTHON_SCALARS
from stagrad.ops.movement import broadcast_to
from stagrad.trace.draws import Draw
from stagrad.trace.fresh import LITERAL_BYTES, FreshArray
from stagrad.trace.sources import locate, quote_user_line
from stagrad.trace.state import running
from stagrad.trace.tracer import Tracer


class Trace:
    """Records the operations of one function, or of one set of derivative rules.

    Use as a context manager. `captures` lists the values met from outside (arrays, and traced
    values of an enclosing trace) with the input nodes that stand for them. With `located=False`
    nodes get no source of their own (derivative rules: `primal` says where they belong).
    """

    def __init__(
        self,
        builder: Builder | None = None,
        *,
        located: bool = True,
        draws: Sequence[Draw] = (),
    ) -> None:
        self.builder = Builder() if builder is None else builder
        self.located = located
        self.input_positions: dict[Node, int] = {}
        self.derived = False
        self.relied_on: list[np.ndarray] = []
        self.is_live: Callable[[np.ndarray], bool] | None = None
        self.draws: list[Draw] = []
        self._earlier_draws = list(draws)
        self._location: tuple[Source | None, str | None] | None = None
        self.captures: list[tuple[Node, Any]] = []
        self.primal: Node | None = None
        self.alive = False
        self._captured: dict[int, Tracer] = {}
        self._token: contextvars.Token[tuple[Trace, ...]] | None = None

    def __enter__(self) -> "Trace":
        self._token = running.set((*running.get(), self))
        self.alive = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._token is not None
        running.reset(self._token)
        self.alive = False

    def input(self, aval: Aval, name: str | None = None) -> Tracer:
        """Add an input and return the traced value that stands for it."""
        return Tracer(self, self.builder.input(aval, name), scalar=aval.weak)

    def lift(self, value: Any, *, weak: bool = False) -> Tracer:
        """Return `value` as a traced value of this trace.

        Scalars become constants. Arrays, and traced values of an enclosing trace, become captured
        inputs, read afresh at each call. A traced value whose trace has ended raises TraceError.
        """
        if isinstance(value, Tracer):
            return value if value.recording is self else self._capture_tracer(value)
        if isinstance(value, Draw):
            return self._capture(value, value, aval_of(value.traced))
        if isinstance(value, Literal):
            return Tracer(
                self, self.builder.constant(value, weak=weak), scalar=not value.array.shape
            )
        if isinstance(value, np.ndarray):
            return self._lift_array(value)
        kind = type(value)
        if kind in PYTHON_SCALARS:
            dtype = PYTHON_SCALARS[kind]
            return Tracer(
                self, self.builder.constant(value, dtype, weak=kind is not bool), scalar=True
            )
        memory = getattr(value, "_array", None)
        if isinstance(memory, np.ndarray) and not value.requires_grad:
            return self._lift_array(memory)  # a tensor: what is written to it later is read too
        self.derived = self.derived or isinstance(value, np.generic)
        constant = self.builder.constant(value, aval_of(value).dtype, weak=weak)
        return Tracer(self, constant, scalar=True)

    def draw(
        self, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Tracer:
        """Return the traced value of a random draw, which every call of the program makes anew."""
        earlier = self._earlier_draws.pop(0) if self._earlier_draws else None
        if earlier is not None and earlier.repeats(method, args):
            draw = earlier
        else:
            draw = Draw(method, args, kwargs)
        self.draws.append(draw)
        return self.lift(draw)

    def rely_on(self, array: np.ndarray) -> None:
        """Note that the program was shaped by an array's numbers, which each call has to check."""
        if isinstance(array, FreshArray):
            outside = array.outside()
            if outside is None:
                return
            array = outside
        if self.is_live is not None and self.is_live(array):
            self.relied_on.append(array)
        else:
            self.derived = True

    def _lift_array(self, value: np.ndarray) -> Tracer:
        if isinstance(value, FreshArray):
            recorded = value.recorded
            if recorded is None:
                recorded = value.live_value()
            if recorded is not None:
                return self.lift(recorded)
            return self._lift_fresh(value.view(np.ndarray))
        if isinstance(value, np.ma.MaskedArray | np.matrix):
            raise DTypeError(
                f"the function reads a {type(value).__name__}, whose operations mean something "
                f"else than an array's.{quote_user_line()}\nMake it a plain array with np.asarray, "
                "outside the function."
            )
        if self.is_live is not None and not self.is_live(value):
            self.derived = True
        return self._capture(value, value, aval_of(value))

    def _lift_fresh(self, value: np.ndarray) -> Tracer:
        """Snapshot an array made under this trace; a uniform one becomes a broadcast."""
        if value.ndim and value.size and _is_uniform(value):
            scalar = self.lift(Literal(value.flat[0], value.dtype))
            return Tracer(self, broadcast_to(scalar, value.shape).node)
        if value.nbytes <= LITERAL_BYTES:
            return Tracer(self, self.builder.constant(value))
        copy = value.copy()
        return self._capture(copy, copy, aval_of(copy))

    def _capture_tracer(self, value: Tracer) -> Tracer:
        if not value.recording.alive:
            raise TraceError(
                f"a traced value ({value.aval}{value.birth()}) is used after its function was "
                "traced. It was kept in a global, an attribute or a list that outlives the call; "
                "return it from the function instead."
            )
        return self._capture(value.node, value, value.aval)

    def _capture(self, key: object, value: Any, aval: Aval) -> Tracer:
        tracer = self._captured.get(id(key))
        if tracer is None:
            node = self.builder.input(aval)
            tracer = Tracer(self, node, scalar=getattr(value, "scalar", False))
            self._captured[id(key)] = tracer
            self.captures.append((node, value))
        return Tracer(self, tracer._node, scalar=tracer.scalar)

    def process(
        self, primitive: Primitive, operands: tuple[Any, ...], params: Params
    ) -> "Tracer | tuple[Tracer, ...]":
        """Add one operation to the program; several results come back as a tuple."""
        outermost = self.located and self._location is None
        if outermost:
            self._location = locate()
        try:
            lifted = self._prepare(primitive, operands, params)
            if _may_overflow(primitive, lifted, params):
                for value in lifted:
                    value.specialize()
            source, name = self._location or (None, None)
        finally:
            if outermost:
                self._location = None
        nodes = tuple(value.node for value in lifted)
        if not outermost:
            name = None
        if primitive.multiple:
            return self._add_multiple(primitive, nodes, params, source)
        node = self.builder.add(
            primitive, nodes, params, source=source, name=name, primal=self.primal
        )
        base = lifted[0] if primitive.view is not None else None
        return Tracer(self, node, base=base, scalar=node.avals[0].shape == () and base is None)

    def _prepare(
        self, primitive: Primitive, operands: tuple[Any, ...], params: Params
    ) -> list[Tracer]:
        """Return the operands as traced values, cast and broadcast as the operation wants them."""
        values: Any = [
            operand if type(operand) in PYTHON_SCALARS else self.lift(operand)
            for operand in operands
        ]
        if primitive.prepare is not None:
            values = primitive.prepare(primitive, values, params)
        return [value if isinstance(value, Tracer) else self.lift(value) for value in values]

    def _add_multiple(
        self, primitive: Primitive, nodes: tuple[Node, ...], params: Params, source: Any
    ) -> tuple[Tracer, ...]:
        node = self.builder.add(primitive, nodes, params, source=source, primal=self.primal)
        parts = (
            self.builder.add(
                project_p, (node,), {"index": index}, source=source, primal=self.primal
            )
            for index in range(len(node.avals))
        )
        return tuple(Tracer(self, part, scalar=part.aval.shape == ()) for part in parts)


def _may_overflow(primitive: Primitive, operands: Sequence[Tracer], params: Params) -> bool:
    """Say whether Python's integers give another number, or an error, where a machine's wrap."""
    if not all(value.aval.weak and value.aval.dtype.kind == "i" for value in operands):
        return False
    if primitive.name == "astype":
        dtype = params["dtype"]
        return bool(dtype.kind == "u" or (dtype.kind == "i" and dtype.itemsize < 8))
    return primitive.name in ("power", "left_shift", "multiply") and len(operands) == 2


def _is_uniform(array: np.ndarray) -> bool:
    """Say whether all elements have the bits of the first."""
    first = Literal(array.flat[0], array.dtype).array.tobytes()
    return array.tobytes() == first * array.size
