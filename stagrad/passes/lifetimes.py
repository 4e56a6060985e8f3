"""How long values live: which results of kernels must be stored, and who reads a value last."""

from stagrad.ir import Graph, Node, project_p
from stagrad.passes.access import Access
from stagrad.passes.fuse import Fusion, base_of


class Lifetimes:
    """What the clusters of a program, in running order, need of each other.

    `stored` holds the nodes of kernels that something outside their kernel reads. `last` gives, for
    each node that owns memory, the number of the last cluster that reads it; the program's results
    are read after the last cluster.
    """

    def __init__(self, graph: Graph, fusion: Fusion) -> None:
        access = fusion.accesses
        owner = {
            node: number for number, cluster in enumerate(fusion.clusters) for node in cluster.nodes
        }
        self.stored: set[Node] = set()
        self.last: dict[Node, int] = {}
        for number, cluster in enumerate(fusion.clusters):
            for node in cluster.nodes:
                for operand in node.inputs:
                    base = base_of(operand, access)
                    self.last[_memory_owner(base, access)] = number
                    if owner.get(base) != number:
                        self.stored.add(base)
        for node in graph.outputs:
            base = base_of(node, access)
            self.stored.add(base)
            self.last[_memory_owner(base, access)] = len(fusion.clusters)


def _memory_owner(base: Node, access: dict[Node, Access]) -> Node:
    """Return the node whose memory a base may share: a reshape shares its operand's."""
    while base.primitive.view is not None and base.primitive is not project_p:
        base = base_of(base.inputs[0], access)
    return base
