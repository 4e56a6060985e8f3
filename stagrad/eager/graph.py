"""`stagrad.autograd.graph`: what is saved for backward passes, and the graph's nodes and edges."""

from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple, Self

from stagrad.eager import recording
from stagrad.eager.node import Node
from stagrad.eager.tape import edge_of


class saved_tensors_hooks:
    """Context in which what operations save goes through a pair of functions.

    `pack(tensor)` is called when an operation saves a tensor and may return anything, `unpack` of
    that when the backward pass needs the tensor, which it must return.

    >>> import stagrad
    >>> x = stagrad.tensor([2.0], requires_grad=True)
    >>> with stagrad.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), stagrad.tensor):
    ...     y = x * x
    >>> y.backward()
    >>> x.grad.item()
    4.0
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self._pair = (pack_hook, unpack_hook)

    def __enter__(self) -> Self:
        recording.saved_hooks.set((*recording.saved_hooks.get(), self._pair))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        recording.saved_hooks.set(recording.saved_hooks.get()[:-1])


class save_on_cpu(saved_tensors_hooks):
    """Context in which saved tensors are copied, so that writing the originals changes nothing."""

    def __init__(self, pin_memory: bool = False) -> None:
        super().__init__(lambda tensor: tensor.clone(), lambda tensor: tensor)


class GradientEdge(NamedTuple):
    """Where a tensor's gradient goes: a node, and which of its results the tensor is."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """Return the edge of a tensor that requires grad."""
    edge = edge_of(tensor)
    if edge is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    return GradientEdge(*edge)


class set_detect_anomaly:
    """Turn the search for anomalies on or off; as a context, until the block ends.

    While it is on, operations remember where they stand in the user's code, an error in a backward
    pass shows that place, and a NaN that a backward pass produces is an error.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = (recording.anomaly.get(), recording.check_nan.get())
        recording.anomaly.set(mode)
        recording.check_nan.set(check_nan)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        recording.anomaly.set(self._before[0])
        recording.check_nan.set(self._before[1])


class detect_anomaly(set_detect_anomaly):
    """Context in which anomalies are searched for; see `set_detect_anomaly`."""

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(True, check_nan)
