"""Nodes of the tape: what `tensor.grad_fn` is.

An edge is a pair (node, number of the node's output). Edges lead from results to operands, and a
node never holds the tensors that came out of it, so that a graph is freed by reference counting.
"""

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from stagrad.eager.hooks import Hooks, RemovableHandle, add_hook

if TYPE_CHECKING:
    from stagrad.eager.tensor import Tensor

# Numbers of nodes, falling: what was recorded last is smallest and runs backward first. An edge
# always leads to an older node, so this is a topological order.
take_order = itertools.count(0, -1).__next__


_CPLUSPLUS = ("AccumulateGrad", "CopySlices")
"""Nodes that PyTorch names with their place in its C++ library."""


class Node:
    """One recorded operation.

    - edges: where the cotangents that `run` returns go, in order.
    - outputs: how many results the operation has.
    - watched: hooks may be registered, on the node or on tensors that came out of it.
    """

    edges: "Sequence[tuple[Node, int]]" = ()
    outputs = 1
    order: int
    label = "Node"
    hooks: dict[int, Hooks] | None = None
    retained: "dict[int, weakref.ref[Tensor]] | None" = None
    before: Hooks | None = None
    after: Hooks | None = None
    trace: Any = None
    watched = False
    __slots__ = ("__dict__", "__weakref__")

    def run(self, cotangent: Any, record: bool) -> Sequence[Any]:
        """Return the cotangents of the operands; a list of cotangents where `outputs` is not 1."""
        raise NotImplementedError

    def free(self) -> None:
        """Forget what was kept for `run`, which raises from now on."""

    def name(self) -> str:
        """Return the name as PyTorch prints it: `MulBackward0`."""
        return f"torch::autograd::{self.label}" if self.label in _CPLUSPLUS else self.label

    @property
    def next_functions(self) -> "tuple[tuple[Node | None, int], ...]":
        """For each operand the node that made it and which of its results it is."""
        return tuple(self.edges)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for whatever the user wants to note about this node."""
        return self.__dict__.setdefault("_metadata", {})  # type: ignore[no-any-return]

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after each run; it may replace grad_inputs."""
        self.watched = True
        if self.after is None:
            self.after = {}
        return add_hook(self.after, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad_outputs)` before this node runs; it may replace grad_outputs."""
        self.watched = True
        if self.before is None:
            self.before = {}
        return add_hook(self.before, hook)

    def __repr__(self) -> str:
        return f"<{self.label} object at {id(self):#x}>"


Edge = tuple[Node, int]


def freed_error(node: Node) -> RuntimeError:
    """Return the error for running a node a second time."""
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed). Saved intermediate values of the graph are freed "
        "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
        "backward through the graph a second time or if you need to access saved tensors after "
        f"calling backward. This node is {node.label}."
    )
