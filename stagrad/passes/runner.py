"""Running passes one after another."""

from collections.abc import Callable, Sequence

from stagrad.errors import VerifyError
from stagrad.ir import Graph
from stagrad.ir.verify import verify_graph

Pass = Callable[[Graph], Graph]
Pipeline = Sequence[tuple[str, Pass]]
Observer = Callable[[str, Graph], None]


def run(
    graph: Graph,
    pipeline: Pipeline,
    *,
    verify: bool = True,
    observer: Observer | None = None,
) -> tuple[Graph, dict[str, Graph]]:
    """Return the graph after all passes, and after each by the pass's name.

    With `verify`, what each pass returns is checked. `observer` is told the name and graph of each
    stage as soon as it exists. Raises VerifyError naming the pass whose graph breaks an invariant.
    """
    stages: dict[str, Graph] = {}
    for name, function in pipeline:
        before = graph
        graph = function(graph)
        if verify and graph is not before:
            _verify(name, before, graph)
        stages[name] = graph
        if observer is not None:
            observer(name, graph)
    return graph, stages


def _verify(name: str, before: Graph, after: Graph) -> None:
    try:
        verify_graph(after)
    except VerifyError as error:
        raise VerifyError(f"after the pass {name}: {error}") from error
    if before.inputs != after.inputs:
        raise VerifyError(f"after the pass {name}: the inputs are no longer the same")
    given, made = ([node.aval for node in graph.outputs] for graph in (before, after))
    if given != made:
        raise VerifyError(f"after the pass {name}: the outputs' avals are {made}, were {given}")
