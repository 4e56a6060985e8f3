"""Tracer: the traced value that a user's NumPy function computes with.

A tracer behaves as a NumPy array does, mutation included. It holds the node of its current value;
`y[i] = v` replaces that node. A view (a slice, a transpose, …) remembers its base and the operation
that made it: reading it after the base was written recomputes it, writing it writes the base.
"""

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from stagrad.errors import DTypeError, TraceError
from stagrad.ir import Aval, Node, aval_of
from stagrad.ops.define import FUNCTIONS, UFUNCS
from stagrad.ops.gather import scatter
from stagrad.ops.operators import Operators
from stagrad.trace.state import current_trace

if TYPE_CHECKING:
    from stagrad.trace.trace import Trace


class SpecializeInput(BaseException):
    """A traced integer argument is needed as a number; the tracer of the function starts again.

    Not an Exception, so that a user's `except Exception` cannot swallow it.
    """

    def __init__(self, trace: "Trace", position: int, convert: Callable[[Any], Any]) -> None:
        super().__init__(position)
        self.trace = trace
        self.position = position
        self.specialized = convert


class BeginAgain(BaseException):
    """The trace starts again, with functions replaced in one more module."""


class Tracer(Operators):
    """A value of the function being traced, answering NumPy's protocols.

    `scalar` marks what NumPy would return as a scalar rather than a 0-d array: it is immutable.
    """

    __slots__ = (
        "__weakref__",
        "_base",
        "_made_by",
        "_node",
        "_seen",
        "_version",
        "recording",
        "scalar",
    )

    # NumPy defers to us in binary operations with arrays on the left.
    __array_priority__ = 1000.0

    def __init__(
        self, trace: "Trace", node: Node, *, base: "Tracer | None" = None, scalar: bool = False
    ) -> None:
        self.recording = trace
        self.scalar = scalar
        self._node = node
        self._base = base
        self._made_by = node
        self._version = 0
        self._seen = 0 if base is None else base.root._version

    @property
    def aval(self) -> Aval:  # type: ignore[override]
        """Shape and dtype; they never change, whatever is written."""
        return self._node.avals[0]

    @property
    def device(self) -> str:
        """Where NumPy's array API says its arrays live."""
        return "cpu"

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
            made_by = view._made_by
            operands = (view._base._node, *made_by.inputs[1:])
            view._node = view.recording.builder.add(
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
            self._base.write(self._written_through(Tracer(self.recording, self._base.node), value))
            self._node = node
            self._seen = self.root._version
        else:
            self._node = node
            self._version += 1

    def _written_through(self, base: "Tracer", value: "Tracer") -> "Tracer":
        """Return the contents of the base after `value` was written into this view of it."""
        made_by = self._made_by
        if made_by.primitive.view is not None:
            return made_by.primitive.view(base, value, made_by.params)  # type: ignore[no-any-return]
        indices = [Tracer(self.recording, operand) for operand in made_by.inputs[1:]]
        return scatter(base, value, indices, **made_by.params)  # type: ignore[no-any-return]

    def entry(self, gathered: "Tracer") -> "Tracer":
        """Return what was gathered from this array at traced integers as the view NumPy gives."""
        return Tracer(self.recording, gathered.node, base=self)

    def can_view(self, shape: tuple[int, ...]) -> bool:
        """Say whether NumPy gives this array another shape without copying it."""
        _, memory, view = self.layout(np.bool_)
        return view is memory or np.may_share_memory(np.reshape(view, shape), memory)

    def layout(self, dtype: Any = None) -> tuple["Tracer", np.ndarray, np.ndarray]:
        """Return the array that owns the memory, and arrays that lie as it and this one do.

        What is no view counts as contiguous in C's order. The views are made again of memory that
        is never touched; an entry at traced integers, whose place is unknown, counts as no view.
        """
        made_by = []
        owner = self
        while owner._base is not None and owner._made_by.primitive.view is not None:
            made_by.append(owner._made_by)
            owner = owner._base
        memory = np.empty(owner.shape, owner.dtype if dtype is None else dtype)
        view: Any = memory
        for node in reversed(made_by):
            view = node.primitive.evaluate((view,), node.params)
        return owner, memory, view

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis."""
        return self.layout()[2].strides

    @property
    def flags(self) -> Any:
        """How the elements lie in memory."""
        return self.layout()[2].flags

    def require_live(self, use: str) -> None:
        """Raise TraceError when the function this value belongs to is no longer being traced."""
        if not self.recording.alive:
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

    def rely_on(self, array: Any) -> None:
        """Note that the running trace is shaped by an array's numbers; see Trace.rely_on."""
        self._running_trace("read").rely_on(array)

    def _running_trace(self, use: str) -> "Trace":
        trace = current_trace()
        if trace is None:
            self.require_live(use)
            raise TraceError(f"a traced value ({self.aval}) is {use} in another thread or context")
        return trace

    def process_primitive(self, primitive: Any, operands: tuple[Any, ...], params: Any) -> Any:
        """Add an operation on this and other values to the running trace."""
        return self._running_trace(f"used by {primitive.name}").process(primitive, operands, params)

    def detached(self) -> "Tracer":
        """Return the same value as an array of its own: no view, not this object."""
        return Tracer(self.recording, self.node, scalar=self.scalar)

    def __getitem__(self, index: Any) -> Any:
        from stagrad.trace.selection import selected

        selection = selected(self, index)
        if selection is not None:
            return selection
        result = super().__getitem__(index)
        if result.shape == () and not _has_ellipsis(index):
            return Tracer(result.recording, result.node, scalar=True)
        return result

    def __setitem__(self, index: Any, value: Any) -> None:
        from stagrad.ops.indexing import store
        from stagrad.trace.selection import Selection

        if isinstance(value, Selection):
            self._store_selection(index, value)
            return
        if self.scalar:
            raise TypeError(f"a NumPy scalar ({self.aval}) does not support item assignment")
        written = self.lift(store(self, index, value))
        if not _is_same_store(self.node, written.node):
            self.write(written)

    def _store_selection(self, index: Any, selection: Any) -> None:
        """Write `y[mask] = x[mask]`, which is elementwise whatever the mask selects."""
        from stagrad.trace.selection import unknown_length

        if not isinstance(index, Tracer) or index.node is not selection.mask.node:
            raise unknown_length("a store at another index")
        values = FUNCTIONS[np.where](index, selection.values, self)
        self.write(self.lift(values.astype(self.dtype)))

    def assign(self, result: Any, name: str) -> "Tracer":
        """Write the result of an in-place operation, with NumPy's checks, and return this array."""
        aval = aval_of(result)
        if self.scalar:
            return result  # type: ignore[no-any-return]
        if not np.can_cast(aval.dtype, self.dtype, casting="same_kind"):
            raise DTypeError(
                f"in-place {name}: cannot cast the result from {aval.dtype} to {self.dtype}; "
                f"write x = x.astype({aval.dtype}) first"
            )
        self[...] = result
        return self

    def fill(self, value: Any) -> None:
        """Set every element to a scalar."""
        self[...] = value

    def sort(self, axis: int = -1, **keywords: Any) -> None:
        """Sort in place along an axis."""
        self[...] = np.sort(self, axis=axis, **keywords)

    def partition(self, kth: Any, axis: int = -1, **keywords: Any) -> None:
        """Partition in place along an axis."""
        self[...] = np.partition(self, kth, axis=axis, **keywords)

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        """Write values at positions of the elements in a row."""
        np.put(self, indices, values, mode=mode)  # type: ignore[arg-type]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        from stagrad.trace.protocols import call_ufunc

        return call_ufunc(ufunc, method, *inputs, **keywords)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from stagrad.trace.protocols import call_function

        return call_function(function, args, kwargs)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return NumPy, whose functions answer for traced values through the protocols."""
        return np

    def __index__(self) -> int:
        self.specialize()
        self._refuse(
            "needed as a Python integer (a shape, an axis, a range)",
            "Pass it as a static argument: stagrad.compile(f, static_argnames=...)",
        )

    def specialize(self) -> None:
        """Trace again with the arguments fixed that this is computed from, if all are Python ints.

        Does nothing for what is computed from anything else.
        """
        captured = {node: value for node, value in self.recording.captures}
        pending = [self._node] if self.recording.alive else []
        found: list[Node] = []
        seen = set(pending)
        while pending:
            node = pending.pop()
            if node.primitive.name == "input":
                if not (node.aval.weak and node.aval.dtype.kind == "i"):
                    return
                found.append(node)
            pending += [operand for operand in node.inputs if operand not in seen]
            seen.update(node.inputs)
        for node in found:
            if isinstance(captured.get(node), Tracer):
                captured[node].specialize()
            elif node in (inputs := self.recording.input_positions):
                raise SpecializeInput(self.recording, inputs[node], operator.index)

    def __bool__(self) -> bool:
        self.specialize()
        self._refuse(
            "used as a condition",
            "Python's if, while, and, or, not and assert need one concrete answer while the "
            "function is traced. Write np.where(condition, a, b), or make the argument static",
        )

    def __float__(self) -> float:
        self.specialize()
        self._refuse(
            "converted to a Python float (or written into a plain NumPy array)",
            "Leave it an array, and call np.sin instead of math.sin; create the array it is "
            "written into inside the traced function with np.zeros, or pass it as an argument",
        )

    __complex__ = __float__

    def __int__(self) -> int:
        self.specialize()
        self._refuse(
            "converted to a Python int (or written into a plain NumPy array)",
            "As an index, x[i.astype(int)] does; a shape or a range needs a static argument",
        )

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        self._refuse(
            "converted to a NumPy array",
            "A function outside NumPy's protocols asked for its numbers, which do not exist while "
            "the function is traced. Call a NumPy or SciPy function stagrad supports instead",
        )

    def item(self, *index: Any) -> Any:
        """Refuse: a traced value has no concrete numbers."""
        self._refuse("asked for .item()", "Leave it an array")

    def tolist(self) -> Any:
        """Refuse: a traced value has no concrete numbers."""
        self._refuse("asked for .tolist()", "Leave it an array")

    def _refuse(self, use: str, advice: str) -> NoReturn:
        from stagrad.trace.replacement import begin_again_for
        from stagrad.trace.sources import quote_user_line, user_frame

        if self.recording.alive and current_trace() is not None and begin_again_for(user_frame()):
            raise BeginAgain
        name = f"'{self._node.name}' " if self._node.name else ""
        raise TraceError(
            f"a traced value {name}({self.aval}{self.birth()}) is {use}."
            f"{quote_user_line()}\n{advice}."
        )

    def __repr__(self) -> str:
        return f"Tracer({self.aval})"


def _has_ellipsis(index: Any) -> bool:
    return any(part is Ellipsis for part in (index if isinstance(index, tuple) else (index,)))


def _is_same_store(now: Node, then: Node) -> bool:
    """Say whether `then` stores what `now` stored just before, as `y[i] += v` makes Python do."""
    return (
        now.primitive is then.primitive
        and now.primitive.name in ("set_slice", "scatter")
        and now.inputs[1:] == then.inputs[1:]
        and dict(now.params) == dict(then.params)
        and then.inputs[0] is now
    )


def _in_place(name: str) -> Callable[[Tracer, Any], Tracer]:
    def apply(self: Tracer, other: Any) -> Tracer:
        return self.assign(UFUNCS[name](self, other), name)

    return apply


for _operator, _name in (
    ("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide"),
    ("floordiv", "floor_divide"), ("mod", "remainder"), ("pow", "power"), ("matmul", "matmul"),
    ("and", "bitwise_and"), ("or", "bitwise_or"), ("xor", "bitwise_xor"),
    ("lshift", "left_shift"), ("rshift", "right_shift"),
):  # fmt: skip
    setattr(Tracer, f"__i{_operator}__", _in_place(_name))
