"""The text form of a graph: for people to read, and complete, so that `parse` gives the graph back.

docs/ir.md has the grammar. The form of single values (params, constants) is in `ir/values.py`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from stagrad.ir.graph import Graph, Node, Source
from stagrad.ir.leaves import constant_p
from stagrad.ir.naming import name_nodes
from stagrad.ir.values import elements_text, value_text

GENERATED = re.compile(r"[xvc]\d+")
"""Labels that stand for no variable of the user's."""

_WIDTH = 100
_COMMENT_COLUMN = 64
_PLAIN_FILE = re.compile(r"[\w.<>/\\@+~:()\[\] -]+")
_PLAIN_NAME = re.compile(r"[\w.<>]+")


def text(graph: Graph, *, labels: Mapping[Node, str] | None = None, elide: bool = False) -> str:
    """Return the text of a graph, one operation a line, from which `parse` makes it again.

    `labels` gives the nodes other names than `name_nodes` does. With `elide`, what only `parse`
    needs is left out: the folders of files, and the middle of arrays, without which it refuses.

    >>> import numpy as np, stagrad
    >>> lowered = stagrad.compile(lambda x: np.sin(x) * 2.0).lower(stagrad.aval("f64[3]"))
    >>> print(text(lowered.graph))
    graph(x: f64[3]) {
      v0: f64[3] = sin(x) # <doctest ...>:1 in <lambda>
      c0: f64[] = constant(2.0)
      v1: f64[3] = broadcast_to(c0, shape=(3,)) # <doctest ...>:1 in <lambda>
      v2: f64[3] = multiply(v0, v1) # <doctest ...>:1 in <lambda>
      return v2
    }
    """
    return "\n".join(_Writer(graph, elide).lines(labels))


class _Writer:
    """Prints one graph and those in its params, all with one table of files."""

    def __init__(self, graph: Graph, elide: bool) -> None:
        self.graph = graph
        self.elide = elide
        self.files = short_names(_files(graph))

    def lines(self, labels: Mapping[Node, str] | None) -> Iterator[str]:
        """Yield the lines of the text: the table of files, then the graph."""
        for file, short in self.files.items():
            if short != file and not self.elide:
                yield f"# {quoted(short, _PLAIN_FILE)} = {file!r}"
        yield from self._graph(self.graph, labels)

    def _graph(self, graph: Graph, labels: Mapping[Node, str] | None = None) -> Iterator[str]:
        label = name_nodes(graph.nodes) if labels is None else labels
        inputs = [f"{label[node]}: {node.avals[0]}" for node in graph.inputs]
        comments = [self._comment(node, label) for node in graph.inputs]
        head = f"graph({', '.join(inputs)}) {{"
        if any(comments) or len(head) > _WIDTH:
            yield "graph("
            for line, comment in zip(inputs, comments, strict=True):
                yield _with_comment(f"  {line},", comment)
            yield ") {"
        else:
            yield head
        for node in graph.nodes[len(graph.inputs) :]:
            *lines, last = self._node(node, label).split("\n")
            yield from (f"  {line}" for line in lines)
            yield _with_comment(f"  {last}", self._comment(node, label))
        yield f"  return {', '.join(label[node] for node in graph.outputs)}".rstrip()
        yield "}"

    def _node(self, node: Node, label: Mapping[Node, str]) -> str:
        avals = ", ".join(map(str, node.avals))
        if node.primitive.multiple:
            avals = f"({avals})"
        arguments = [label[operand] for operand in node.inputs]
        params = dict(sorted(node.params.items()))
        if node.primitive is constant_p:
            arguments.append(elements_text(params.pop("value").array, self.elide))
            if params.get("weak") is True:
                del params["weak"]
        arguments += [f"{name}={self._param(value)}" for name, value in params.items()]
        return f"{label[node]}: {avals} = {node.primitive.name}({', '.join(arguments)})"

    def _param(self, value: Any) -> str:
        return value_text(value, elide=self.elide, graph_text=self._nested)

    def _nested(self, graph: Graph) -> str:
        return "\n".join(self._graph(graph))

    def _comment(self, node: Node, label: Mapping[Node, str]) -> str:
        parts = []
        origin = node.origin
        if origin is not None:
            file = quoted(self.files[origin.file], _PLAIN_FILE)
            parts.append(f"{file}:{origin.line} in {quoted(origin.function, _PLAIN_NAME)}")
        if node.primal is not None:
            primal = label.get(node.primal)
            parts.append(f"for {primal or f'{node.primal.primitive.name}()'}")
        shown = label[node]
        if node.name not in (None, shown) and not GENERATED.fullmatch(shown):
            parts.append(f"as {quoted(str(node.name), _PLAIN_NAME)}")
        elif node.name == shown and GENERATED.fullmatch(shown):
            parts.append(f"as {shown}")
        return ", ".join(parts)


def _with_comment(line: str, comment: str) -> str:
    return f"{line:<{_COMMENT_COLUMN}}  # {comment}" if comment else line


def quoted(value: str, plain: re.Pattern[str]) -> str:
    """Return a file's or a function's name, in quotes where it would not read back bare."""
    return value if plain.fullmatch(value) and value == value.strip() else repr(value)


def _files(graph: Graph) -> Iterator[str]:
    """Yield the files named in a graph and in the graphs its params hold."""
    for node in graph.nodes:
        source: Source | None = node.origin
        if source is not None:
            yield source.file
        for inner in graphs_in(node.params.values()):
            yield from _files(inner)


def graphs_in(values: Iterable[Any]) -> Iterator[Graph]:
    """Yield the graphs among the values, and in tuples of them."""
    for value in values:
        if isinstance(value, Graph):
            yield value
        elif isinstance(value, tuple):
            yield from graphs_in(value)


def short_names(files: Iterable[str]) -> dict[str, str]:
    """Return for each file the shortest end of its path that no other of the files has.

    >>> short_names(["/a/one/model.py", "/a/two/model.py", "/a/main.py"])
    {'/a/one/model.py': 'one/model.py', '/a/two/model.py': 'two/model.py', '/a/main.py': 'main.py'}
    """
    parts = {file: re.split(r"[/\\]", file) for file in files}
    result = {}
    for file, own in parts.items():
        length = 1
        others = [other for name, other in parts.items() if name != file]
        while length < len(own) and any(other[-length:] == own[-length:] for other in others):
            length += 1
        short = "/".join(own[-length:])
        result[file] = short if length < len(own) and short else file
    return result
