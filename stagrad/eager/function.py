"""Function: operations whose forward and backward a user writes."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stagrad.eager import modes, tape
from stagrad.eager.engine import hidden, shown
from stagrad.eager.inplace import rebase
from stagrad.eager.node import Edge, Node, freed_error, take_order
from stagrad.eager.recording import note_trace
from stagrad.eager.tape import Version, edge_of, fit, make_tensor
from stagrad.ops.movement import sum_to


@dataclass(frozen=True, slots=True)
class _Saved:
    """A tensor given to save_for_backward, without holding the tensor itself."""

    array: np.ndarray
    version: Version
    count: int
    edge: Edge | None


class FunctionContext(Node):
    """The node of a custom Function, and the `ctx` its forward and backward are given."""

    needs_input_grad: tuple[bool, ...] = ()
    _to_save: Sequence[Any] = ()
    _saved: list[_Saved | None] | None = None
    _dirty: Sequence[Any] = ()
    _constant: Sequence[Any] = ()
    _materialize = True
    _freed = False
    _shapes: Sequence[Any] = ()

    def __init__(self, function: type["Function"], inputs: Sequence[Any]) -> None:
        self._function = function
        self.label = f"{function.__name__}Backward"
        self._count = len(inputs)
        edges = [edge_of(x) if isinstance(x, tape.tensor_type) else None for x in inputs]
        self._places = [place for place, edge in enumerate(edges) if edge is not None]
        self.edges = [edge for edge in edges if edge is not None]
        self._likes = [(inputs[place].shape, inputs[place].dtype) for place in self._places]
        self.needs_input_grad = tuple(edge is not None for edge in edges)

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for backward, where they are `ctx.saved_tensors`.

        Inputs and outputs belong here rather than in attributes of ctx: they are checked for
        in-place changes, and make no reference cycle.
        """
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, tape.tensor_type):
                raise TypeError(
                    "save_for_backward can only save variables, but got "
                    f"{type(tensor).__name__}; keep other things as attributes of ctx"
                )
        self._to_save = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Say which inputs forward has changed in place; it must return them."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Say which outputs carry no gradient."""
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Say whether backward gets zeros (True, the default) or None for unused outputs."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What save_for_backward was given."""
        if self._freed:
            raise freed_error(self)
        if self._saved is None:
            return tuple(self._to_save)
        return tuple(map(self._unpacked, self._saved))

    def _unpacked(self, saved: _Saved | None) -> Any:
        if saved is None:
            return None
        if saved.version[0] != saved.count:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an "
                f"inplace operation: a tensor of shape {list(saved.array.shape)} that {self.label} "
                f"saved is at version {saved.version[0]}; expected version {saved.count} instead."
            )
        tensor = make_tensor(saved.array, saved.edge)
        tensor._counter = saved.version
        return tensor

    def finish(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """Hang the outputs on this node and settle what is saved."""
        self.outputs = len(outputs)
        self.order = take_order()
        note_trace(self)
        for tensor in self._dirty:
            if not any(output is tensor for output in outputs):
                raise RuntimeError(
                    f"{self.label}: a tensor marked as dirty with mark_dirty must be returned by "
                    "forward"
                )
        results = [
            self._hung(output, place, inputs) if isinstance(output, tape.tensor_type) else output
            for place, output in enumerate(outputs)
        ]
        self._saved = [None if tensor is None else self._kept(tensor) for tensor in self._to_save]
        self._to_save = self._dirty = self._constant = ()
        return results

    def _kept(self, tensor: Any) -> _Saved:
        return _Saved(tensor._array, tensor._counter, tensor._counter[0], edge_of(tensor))

    def _hung(self, output: Any, place: int, inputs: Sequence[Any]) -> Any:
        is_constant = any(output is tensor for tensor in self._constant)
        if is_constant or output._array.dtype.kind not in "fc":
            return output
        if any(output is tensor for tensor in self._dirty):
            rebase(output, (self, place))
            return output
        if any(output is tensor for tensor in inputs):
            alias = make_tensor(output._array, (self, place))
            alias._counter = output._counter
            alias._origin = self.label
            return alias
        arrays = [tensor._array for tensor in inputs if isinstance(tensor, tape.tensor_type)]
        if any(np.may_share_memory(output._array, array) for array in arrays):
            output._origin = self.label
            output._base = None
        output._edge = (self, place)
        return output

    def free(self) -> None:
        """Forget what was saved."""
        self._saved = None
        self._freed = True

    def run(self, cotangent: Any, record: bool) -> Sequence[Any]:
        """Call the user's backward."""
        if self._freed:
            raise freed_error(self)
        parts = cotangent if self.outputs != 1 else [cotangent]
        gradients = [
            self._zeros(place) if part is None else shown(part) for place, part in enumerate(parts)
        ]
        mode = modes._recording.set(record)
        try:
            results = self._function.backward(self, *gradients)
        finally:
            modes._recording.reset(mode)
        if not isinstance(results, tuple | list):
            results = (results,)
        results = list(results)
        while len(results) > self._count and results[-1] is None:
            results.pop()
        if len(results) != self._count:
            raise RuntimeError(
                f"function {self.label} returned an incorrect number of gradients (expected "
                f"{self._count}, got {len(results)})"
            )
        return [
            self._checked(results[place], like, place, record)
            for place, like in zip(self._places, self._likes, strict=True)
        ]

    def _zeros(self, place: int) -> Any:
        shape, dtype = self._shapes[place]
        return make_tensor(np.zeros(shape, dtype), None) if self._materialize else None

    def _checked(self, gradient: Any, like: Any, place: int, record: bool) -> Any:
        shape, dtype = like
        if gradient is None:
            return None
        if not isinstance(gradient, tape.tensor_type):
            raise TypeError(
                f"function {self.label}: expected a Tensor or None as gradient {place}, got "
                f"{type(gradient).__name__}"
            )
        if gradient.shape != shape:
            try:
                fits = np.broadcast_shapes(gradient.shape, shape) == gradient.shape
            except ValueError:
                fits = False
            if not fits:
                raise RuntimeError(
                    f"Function {self.label} returned an invalid gradient at index {place} - got "
                    f"{list(gradient.shape)} but expected shape compatible with {list(shape)}"
                )
            gradient = sum_to(gradient, shape)
        return fit(hidden(gradient, record), shape, dtype)


class Function:
    """Base of operations with a derivative of the user's own; call them with `apply`.

    >>> import stagrad
    >>> class Square(stagrad.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return grad * 2 * x
    >>> x = stagrad.tensor(3.0, requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad.item()
    6.0
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result: `forward(ctx, *inputs)`, or `forward(*inputs)` with setup_context."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save in ctx what backward needs; only where forward takes no ctx."""

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return the gradient of each input of forward, None where there is none."""
        raise NotImplementedError(
            "You must implement the backward method for your custom autograd.Function to use it "
            "with backward mode AD."
        )

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run forward and record this Function."""
        context = FunctionContext(cls, args)
        recording = modes.is_grad_enabled() and bool(context.edges)
        mode = modes._recording.set(False)
        try:
            if cls.setup_context is not Function.setup_context:
                output = cls.forward(*args)
                cls.setup_context(context, args, output)
            else:
                output = cls.forward(context, *args)
        finally:
            modes._recording.reset(mode)
        if not recording:
            return output
        for tensor in context._dirty:
            if tensor._requires_grad and tensor._edge is None:
                raise RuntimeError(
                    "a leaf Variable that requires grad is being used in an in-place operation. "
                    f"It is {cls.__name__}, which marks it as dirty."
                )
        outputs = output if isinstance(output, tuple) else (output,)
        context._shapes = [
            (part.shape, part._array.dtype)
            if isinstance(part, tape.tensor_type)
            else ((), np.float32)
            for part in outputs
        ]
        results = context.finish(outputs, args)
        return tuple(results) if isinstance(output, tuple) else results[0]


class _OnceDifferentiated(Node):
    """Stands behind gradients that were computed without being recorded."""

    label = "DelayedError"

    def __init__(self, edges: Sequence[Edge]) -> None:
        self.edges = edges
        self.order = take_order()

    def run(self, cotangent: Any, record: bool) -> Sequence[Any]:
        """Refuse."""
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a Function's backward as not differentiable itself: doing so raises RuntimeError."""

    @functools.wraps(backward)
    def run(ctx: Any, *gradients: Any) -> Any:
        mode = modes._recording.set(False)
        try:
            results = backward(ctx, *gradients)
        finally:
            modes._recording.reset(mode)
        if not modes.is_grad_enabled():
            return results
        given = [edge_of(g) for g in gradients if isinstance(g, tape.tensor_type)]
        edges = [edge for edge in given if edge is not None] + list(ctx.edges)
        listed = results if isinstance(results, tuple) else (results,)
        for result in listed:
            if isinstance(result, tape.tensor_type):
                result._edge = (_OnceDifferentiated(edges), 0)
        return results

    return run
