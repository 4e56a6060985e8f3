"""Order: when each cluster runs."""

import heapq
from collections.abc import Iterator, Sequence

from stagrad.ir import Node, project_p
from stagrad.passes.access import Access
from stagrad.passes.fuse import Cluster, Fusion, base_of


def ordered(fusion: Fusion) -> Iterator[Cluster]:
    """Yield clusters after what they read, otherwise as they were written in the program."""
    clusters, access = fusion.clusters, fusion.accesses
    owner = {node: number for number, cluster in enumerate(clusters) for node in cluster.nodes}
    waiting = [0] * len(clusters)
    readers: list[set[int]] = [set() for _ in clusters]
    for number, cluster in enumerate(clusters):
        for node in cluster.nodes:
            for operand in node.inputs:
                base = base_of(operand, access)
                if base.primitive is project_p:
                    base = base.inputs[0]
                producer = owner.get(base, number)
                if producer != number and number not in readers[producer]:
                    readers[producer].add(number)
                    waiting[number] += 1
    order = _preferred_order(clusters, readers, owner, access)
    heap = [(order[number], number) for number, count in enumerate(waiting) if count == 0]
    heapq.heapify(heap)
    while heap:
        _, number = heapq.heappop(heap)
        yield clusters[number]
        for reader in readers[number]:
            waiting[reader] -= 1
            if waiting[reader] == 0:
                heapq.heappush(heap, (order[reader], reader))


def _preferred_order(
    clusters: Sequence[Cluster],
    readers: list[set[int]],
    owner: dict[Node, int],
    access: dict[Node, Access],
) -> list[float]:
    """Return for each cluster when it would best run: when the program's text had got there.

    An operation that can update its operand in place comes after the operand's other readers, which
    saves the copy that they would need.
    """
    order: list[float] = [max(node.serial for node in cluster.nodes) for cluster in clusters]
    for number, cluster in enumerate(clusters):
        node = cluster.nodes[0]
        if cluster.space is None and node.primitive.update is not None:
            producer = owner.get(base_of(node.inputs[0], access))
            if producer is not None:
                others = (order[other] for other in readers[producer] if other != number)
                order[number] = max(order[number], max(others, default=0) + 0.5)
    return order
