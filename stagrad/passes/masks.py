"""Settling the masks of derivative rules, once nothing will be differentiated any more.

Rules mask products of a cotangent with a partial derivative, because a zero cotangent must
contribute zero where the partial is infinite. Where the partial is finite at all finite inputs the
plain product is the same; elsewhere the mask becomes a selection. Before, masks are needed whole:
second derivatives turn a partial into a cotangent.
"""

from collections.abc import Callable
from typing import Any

from stagrad.ir import Graph, Node, Primitive
from stagrad.ir.facts import Facts
from stagrad.ops.arithmetic import (
    divide_p,
    masked_divide_p,
    masked_multiply_p,
    masked_product_p,
    multiply_p,
)
from stagrad.ops.movement import astype_p
from stagrad.ops.selection import select
from stagrad.passes.facts import KnownFacts
from stagrad.passes.rewrite import Rewriter, rewrite

_PLAIN: dict[Primitive, tuple[Primitive, Callable[[Facts, Facts], bool]]] = {
    masked_multiply_p: (multiply_p, lambda ct, partial: ct.nonzero or partial.finite),
    masked_divide_p: (divide_p, lambda ct, y: ct.nonzero or (y.finite and y.nonzero)),
    masked_product_p: (
        multiply_p,
        lambda x, y: (x.finite and y.finite) or (x.nonzero and y.nonzero),
    ),
}
_SELECTED: dict[Primitive, Callable[[Any, Any], Any]] = {
    masked_multiply_p: lambda ct, partial: select(ct == 0, ct, ct * partial),
    masked_divide_p: lambda ct, y: select(ct == 0, ct, ct / y),
    masked_product_p: lambda x, y: select((x == 0) | (y == 0), 0, x * y),
}


def settle_masks(graph: Graph) -> Graph:
    """Return the graph without masked products; its inputs are taken to be finite."""
    if not any(node.primitive in _PLAIN for node in graph.nodes):
        return graph
    known = KnownFacts()

    def settle(rewriter: Rewriter, node: Node) -> Node | None:
        """A masked product is a plain one where the partial is finite, a selection elsewhere."""
        plain, needs_no_mask = _PLAIN[node.primitive]
        if needs_no_mask(*map(known.of, node.inputs)):
            return rewriter.make(plain, *node.inputs)
        selected = rewriter.apply(_SELECTED[node.primitive], *node.inputs)
        if selected.aval.weak == node.aval.weak:
            return selected
        return rewriter.make(astype_p, selected, dtype=node.aval.dtype, weak=node.aval.weak)

    return rewrite(graph, dict.fromkeys(_PLAIN, (settle,)))
