"""Labels that stay with a value from pass to pass, so that stages can be compared as text."""

from collections import defaultdict, deque
from typing import Any

from stagrad.ir.graph import Graph, Node
from stagrad.ir.leaves import constant_p, input_p
from stagrad.ir.naming import Names, name_nodes
from stagrad.ir.primitive import params_key


class StageLabels:
    """Labels the graphs of one compilation, stage after stage.

    A pass rebuilds the graph, so nodes are matched: by what they compute from matched operands,
    then by operation, type and source line, then by the variable they are assigned to.

    >>> import stagrad
    >>> graph = stagrad.compile(lambda x: x * x).lower(stagrad.aval("f64[3]")).graph
    >>> labels = StageLabels()
    >>> labels.follow(graph) == labels.follow(graph)
    True
    """

    def __init__(self) -> None:
        self._names = Names()
        self._graph: Graph | None = None
        self._labels: dict[Node, str] = {}

    def follow(self, graph: Graph) -> dict[Node, str]:
        """Return labels for the next stage."""
        if self._graph is None:
            self._labels = name_nodes(graph.nodes, self._names)
        else:
            self._labels = _Matcher(self._graph, self._labels, graph, self._names).run()
        self._graph = graph
        return self._labels


class _Matcher:
    """Gives the nodes of `after` the labels that `before` had for the same values."""

    def __init__(self, before: Graph, labels: dict[Node, str], after: Graph, names: Names) -> None:
        self.after = after
        self.names = names
        self.result: dict[Node, str] = {}
        self.free = {label: node for node, label in labels.items()}
        self.exact: dict[Any, str] = {}
        self.alike: dict[Any, deque[str]] = defaultdict(deque)
        self.named: dict[Any, str] = {}
        for node in before.nodes:
            operands = tuple(labels[operand] for operand in node.inputs)
            self.exact.setdefault(_structure(node, operands), labels[node])
            self.alike[_appearance(node)].append(labels[node])
            if node.name is not None:
                self.named[node.name, node.origin] = labels[node]
        for old, new in zip(before.inputs, after.inputs, strict=False):
            if old.aval == new.aval:
                self._claim(new, labels[old])

    def run(self) -> dict[Node, str]:
        """Match exactly first, so that a node which only looks alike takes no label away."""
        for node in self.after.nodes:
            if all(operand in self.result for operand in node.inputs):
                self._match_exactly(node)
        for node in self.after.nodes:
            if node not in self.result and not self._match_exactly(node):
                self._match_by_appearance(node)
        fresh = [node for node in self.after.nodes if node not in self.result]
        self.result |= name_nodes(fresh, self.names)
        return {node: self.result[node] for node in self.after.nodes}

    def _claim(self, node: Node, label: str | None) -> bool:
        if label is None or label not in self.free or node in self.result:
            return False
        del self.free[label]
        self.result[node] = label
        return True

    def _match_exactly(self, node: Node) -> bool:
        if node.primitive is input_p:
            return False
        operands = tuple(self.result.get(operand, "") for operand in node.inputs)
        return self._claim(node, self.exact.get(_structure(node, operands)))

    def _match_by_appearance(self, node: Node) -> bool:
        alike = self.alike[_appearance(node)] if node.primitive is not constant_p else ()
        while alike:
            if self._claim(node, alike.popleft()):
                return True
        return node.name is not None and self._claim(node, self.named.get((node.name, node.origin)))


def _structure(node: Node, operands: tuple[str, ...]) -> Any:
    return node.primitive, operands, params_key(node.params)


def _appearance(node: Node) -> Any:
    return node.primitive, params_key(node.params), node.avals, node.name, node.origin
