"""Tracer: the traced value that a user's NumPy function computes with.

A tracer behaves as a NumPy array does, mutation included. It holds the node of its current value;
`y[i] = v` replaces that node. A view (a slice, a transpose, …) remembers its base and the operation
that made it: reading it after the base was written recomputes it, writing it writes the base.
"""

from typing import TYPE_CHECKING, Any

from stagrad.errors import TraceError
from stagrad.ir import Aval, Node
from stagrad.ops.operators import Operators
from stagrad.trace.state import current_trace

if TYPE_CHECKING:
    from stagrad.trace.trace import Trace


class Tracer(Operators):
    """A value of the function being traced, answering NumPy's protocols.

    `scalar` marks what NumPy would return as a scalar rather than a 0-d array: it is immutable.
    """

    __slots__ = ("__weakref__", "_base", "_node", "_seen", "_version", "scalar", "trace")

    # NumPy defers to us in binary operations with arrays on the left.
    __array_priority__ = 1000.0

    def __init__(
        self, trace: "Trace", node: Node, *, base: "Tracer | None" = None, scalar: bool = False
    ) -> None:
        self.trace = trace
        self.scalar = scalar
        self._node = node
        self._base = base
        self._version = 0
        self._seen = 0 if base is None else base.root._version

    @property
    def aval(self) -> Aval:
        """Shape and dtype; they never change, whatever is written."""
        return self._node.avals[0]

    @property
    def root(self) -> "Tracer":
        """The array that owns the memory this one views; itself when it is no view."""
        tracer = self
        while tracer._base is not None:
            tracer = tracer._base
        return tracer

    @property
    def node(self) -> Node:
        """The node of the current value; a view of a written base is read again."""
        if self._base is None or self._seen == self.root._version:
            return self._node
        stale: list[Tracer] = []
        tracer = self
        version = self.root._version
        while tracer._base is not None and tracer._seen != version:
            stale.append(tracer)
            tracer = tracer._base
        for view in reversed(stale):
            assert view._base is not None
            made_by = view._node
            operands = (view._base._node, *made_by.inputs[1:])
            view._node = view.trace.builder.add(
                made_by.primitive,
                operands,
                made_by.params,
                source=made_by.source,
                name=made_by.name,
            )
            view._seen = version
        return self._node

    def write(self, value: "Tracer") -> None:
        """Replace the whole contents by `value`, which has this aval; a view writes its base."""
        node = value.node
        if node is self.node:
            return
        self.require_live("written to")
        if self._base is not None:
            store = self._node.primitive.view
            assert store is not None
            base = Tracer(self.trace, self._base.node)
            self._base.write(store(base, value, self._node.params))
            self._node = node
            self._seen = self.root._version
        else:
            self._node = node
            self._version += 1

    def require_live(self, use: str) -> None:
        """Raise TraceError when the function this value belongs to is no longer being traced."""
        if not self.trace.alive:
            raise TraceError(
                f"a traced value ({self.aval}{self.birth()}) is {use} after its function was "
                "traced; return it from the function instead of keeping it elsewhere."
            )

    def birth(self) -> str:
        """Say where the value was computed, for error messages."""
        source = self._node.source
        return f", computed at {source}" if source else ""

    def lift(self, value: Any, *, weak: bool = False) -> "Tracer":
        """Return another value as a traced one of the running trace."""
        return self._running_trace("combined with a value").lift(value, weak=weak)

    def _running_trace(self, use: str) -> "Trace":
        trace = current_trace()
        if trace is None:
            self.require_live(use)
            raise TraceError(f"a traced value ({self.aval}) is {use} in another thread or context")
        return trace

    def process_primitive(self, primitive: Any, operands: tuple[Any, ...], params: Any) -> Any:
        """Add an operation on this and other values to the running trace."""
        return self._running_trace(f"used by {primitive.name}").process(
            primitive, operands, params
        )
