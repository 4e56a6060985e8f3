"""The node at a leaf: it adds what arrives to the leaf's `.grad`."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stagrad.eager.hooks import Hooks
from stagrad.eager.node import Node, take_order

if TYPE_CHECKING:
    from stagrad.eager.tensor import Tensor

_accumulating = threading.Lock()


class AccumulateGrad(Node):
    """Holds its leaf, which knows it only weakly."""

    label = "AccumulateGrad"
    watched = True

    def __init__(self, variable: "Tensor") -> None:
        self.variable = variable
        self.order = take_order()

    @property
    def hooks(self) -> dict[int, Hooks] | None:  # type: ignore[override]
        """The hooks of the leaf."""
        hooks = self.variable._hooks
        return None if not hooks else {0: hooks}

    def run(self, cotangent: Any, record: bool) -> Sequence[Any]:
        """Add the cotangent to the leaf's gradient."""
        from stagrad.eager.engine import keep_gradient

        variable = self.variable
        with _accumulating:
            keep_gradient(variable, cotangent, record)
        hooks = variable._after_accumulation
        if hooks:
            for hook in list(hooks.values()):
                hook(variable)
        return ()
