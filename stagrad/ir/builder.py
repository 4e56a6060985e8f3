"""Builder: adds nodes one by one and makes equal ones identical (hash-consing)."""

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from stagrad.errors import DTypeError
from stagrad.ir.aval import Aval, dtype_name
from stagrad.ir.graph import Graph, Node, Source, next_serial
from stagrad.ir.leaves import constant_p, input_p, project_p
from stagrad.ir.literal import Literal
from stagrad.ir.primitive import Params, Primitive, params_key

_NO_PARAMS: Params = {}


class Builder:
    """Grows a program. Equal operations on equal operands give the same node, so CSE falls out.

    `source`, `name` and `primal` of the first of several equal nodes are kept. While `place` is
    set, nodes added without a source get that node's source and primal.

    >>> import stagrad
    >>> from stagrad.ir import PRIMITIVES, parse_aval
    >>> builder = Builder()
    >>> x = builder.input(parse_aval("f64[3]"))
    >>> builder.add(PRIMITIVES["sin"], (x,)) is builder.add(PRIMITIVES["sin"], (x,))
    True
    """

    def __init__(self) -> None:
        self.place: Node | None = None
        self._nodes: dict[Any, Node] = {}

    def adopt(self, nodes: Iterable[Node]) -> None:
        """Make existing nodes known, so that equal ones are not built again."""
        for node in nodes:
            if node.primitive is not input_p:
                self._nodes.setdefault(self._key(node.primitive, node.inputs, node.params), node)

    @staticmethod
    def _key(primitive: Primitive, inputs: tuple[Node, ...], params: Params) -> Any:
        return (primitive, inputs, params_key(params)) if params else (primitive, inputs)

    def input(self, aval: Aval, name: str | None = None, source: Source | None = None) -> Node:
        """Add a new input; never merged with another."""
        return Node(input_p, (), _NO_PARAMS, (aval,), source, name)

    def constant(self, value: Any, dtype: DTypeLike | None = None, *, weak: bool = False) -> Node:
        """Add a constant, snapshotting `value`; `weak` marks a Python scalar."""
        literal = value if isinstance(value, Literal) else Literal(value, dtype)
        params = {"value": literal, "weak": True} if weak else {"value": literal}
        return self.add(constant_p, (), params)

    def add(
        self,
        primitive: Primitive,
        inputs: tuple[Node, ...],
        params: Params = _NO_PARAMS,
        *,
        source: Source | None = None,
        name: str | None = None,
        primal: Node | None = None,
    ) -> Node:
        """Add one operation and return its node, or the equal one that exists.

        Raises DTypeError when an operand's dtype is not among the record's `dtypes`, and whatever
        the record's `abstract_eval` raises for shapes that do not fit.
        """
        key = self._key(primitive, inputs, params)
        node = self._nodes.get(key)
        if node is None:
            result = self._abstract_eval(primitive, inputs, params, source)
            avals = tuple(result) if primitive.multiple else (result,)
            if source is None and primal is None and self.place is not None:
                source, primal = self.place.source, self.place.primal
            node = Node(primitive, inputs, params, avals, source, name, primal)
            self._nodes[key] = node
        return node

    def rebuilt(self, node: Node, inputs: tuple[Node, ...], primal: Node | None) -> Node:
        """Add another graph's node over new operands of the same avals; keep what describes it."""
        key = self._key(node.primitive, inputs, node.params)
        known = self._nodes.get(key)
        if known is None:
            known = Node(
                node.primitive, inputs, node.params, node.avals, node.source, node.name, primal
            )
            self._nodes[key] = known
        return known

    def renamed(self, node: Node, name: str) -> Node:
        """Return a node under a name, in the place of the one without, which nothing reads yet."""
        node = dataclasses.replace(node, name=name, serial=next_serial())
        self._nodes[self._key(node.primitive, node.inputs, node.params)] = node
        return node

    @staticmethod
    def _abstract_eval(
        primitive: Primitive, inputs: tuple[Node, ...], params: Params, source: Source | None
    ) -> Any:
        if primitive is project_p:
            return inputs[0].avals[params["index"]]
        avals = tuple(node.aval for node in inputs)
        for position, aval in enumerate(avals):
            if aval.dtype.kind not in primitive.dtypes:
                where = f" (at {source})" if source else ""
                accepted = ", ".join(_KIND_WORDS[letter] for letter in primitive.dtypes)
                raise DTypeError(
                    f"{primitive.name}: operand {position} is {dtype_name(aval.dtype)}; "
                    f"accepted are {accepted}{where}"
                )
        return primitive.abstract_eval(avals, params)

    def graph(self, inputs: Iterable[Node], outputs: Iterable[Node]) -> Graph:
        """Return the finished program: only what the outputs reach is kept."""
        return Graph(inputs, outputs)


_KIND_WORDS = {
    "b": "bool", "i": "signed integer", "u": "unsigned integer", "f": "float", "c": "complex"
}  # fmt: skip


def is_inexact(aval: Aval) -> bool:
    """Say whether values of this aval carry derivatives (float and complex)."""
    return np.issubdtype(aval.dtype, np.inexact)
