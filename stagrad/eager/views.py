"""Views: tensors on the memory of another one, their base, and the history of writes through them.

A view knows its base and the operations that lead there from the base. When the base's history is
rewritten by an in-place operation, through whichever of its views, a view's own history is made
again from the base's new one as soon as it is asked for.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from stagrad.eager import modes
from stagrad.eager.node import Edge, Node, freed_error, take_order
from stagrad.eager.tape import PrimitiveNode, apply, edge_of, make_tensor
from stagrad.ir import Primitive, bind

Chain = Sequence[tuple[Primitive, dict[str, Any]]]


def look(chain: Chain, base: Any) -> Any:
    """Return the view of a base, array or tensor, that a chain of operations makes."""
    value = base
    for primitive, params in chain:
        value = bind(primitive, value, **params)
    return value


def written_through(chain: Chain, base: Any, value: Any) -> Any:
    """Return the contents of a base after `value` was written into a view of it."""
    stages = [base]
    for primitive, params in chain[:-1]:
        stages.append(bind(primitive, stages[-1], **params))
    for (primitive, params), stage in zip(reversed(chain), reversed(stages), strict=False):
        assert primitive.view is not None
        value = primitive.view(stage, value, params)
    return value


def renew_view(view: Any) -> None:
    """Make a view's history again, from that of its base."""
    base = view._base
    view._seen = base._rewrites
    if view._origin is not None:
        return
    token = modes._recording.set(True)
    try:
        value = base
        for primitive, params in view._chain:
            value = apply(primitive, (value,), params)
    finally:
        modes._recording.reset(token)
    retained = let_go(view)
    view._edge = value._edge
    if value._edge is not None and isinstance(value._edge[0], PrimitiveNode):
        # PyTorch's name for a view whose history was made again.
        value._edge[0].title = "AsStridedBackward0"
    if retained:
        view.retain_grad()


def let_go(tensor: Any) -> bool:
    """Take back a tensor's wish to retain its gradient, which moves on with its history."""
    retained = bool(tensor.retains_grad)
    if retained:
        node, number = tensor._edge
        del node.retained[number]
    return retained


class RewriteNode(Node):
    """The history of a base after a write into a view of it, or over the whole of it.

    The cotangent of the region goes to what was written, that of all else to the old base.
    """

    label = "CopySlices"

    def __init__(self, chain: Chain, base: Edge | None, value: Edge | None, like: Any) -> None:
        self._chain = chain
        self._has_base, self._has_value = base is not None, value is not None
        self.edges = [edge for edge in (base, value) if edge is not None]
        self._view_shape = look(chain, like).shape
        self._freed = False
        self.order = take_order()

    def free(self) -> None:
        """Refuse to run again."""
        self._freed = True

    def run(self, cotangent: Any, record: bool) -> Sequence[Any]:
        """Return the cotangents of the old base and of the value written."""
        if self._freed:
            raise freed_error(self)
        if cotangent.dtype.kind == "c":
            return self._run_complex(cotangent, record)
        results = []
        if self._has_base:
            zeros = np.zeros(self._view_shape, cotangent.dtype)
            results.append(written_through(self._chain, cotangent, zeros))
        if self._has_value:
            results.append(look(self._chain, cotangent))
        return results

    def _run_complex(self, cotangent: Any, record: bool) -> Sequence[Any]:
        """Transpose the write itself: views of real and imaginary parts are not complex-linear."""
        from stagrad.eager.engine import Pass

        base = make_tensor(np.zeros(cotangent.shape, cotangent.dtype), None)
        part = np.asarray(look(self._chain, base._array))
        value = make_tensor(np.zeros(part.shape, part.dtype), None)
        base._requires_grad = value._requires_grad = True
        token = modes._recording.set(True)
        try:
            edges = [edge_of(base), edge_of(value)]
            root = edge_of(written_through(self._chain, base, value))
            assert root is not None
        finally:
            modes._recording.reset(token)
        places = {edge: place for place, edge in enumerate(edges) if edge is not None}
        inner = Pass(record=record, retain=True, boundary=places)
        inner.add(root, cotangent)
        inner.run()
        wanted = (self._has_base, self._has_value)
        return [found for found, want in zip(inner.arrived, wanted, strict=True) if want]
