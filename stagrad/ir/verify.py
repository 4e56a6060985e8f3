"""The invariants of a graph, checked after every pass."""

from typing import NoReturn

from stagrad.errors import VerifyError
from stagrad.ir.graph import Graph, Node
from stagrad.ir.leaves import constant_p, input_p, project_p
from stagrad.ir.literal import Literal
from stagrad.ir.primitive import Kind, params_key


def verify_graph(graph: Graph) -> None:
    """Raise VerifyError, naming the node and its source line, when an invariant does not hold.

    - Inputs are distinct `input` nodes, and no other input is reachable.
    - Operands are made before the nodes that read them, and are part of the graph.
    - An operation has as many operands as derivative rules, of dtypes its record accepts.
    - Params are hashable, and avals are what the record's `abstract_eval` says.
    - Elementwise operations have operands of one shape: nothing is broadcast implicitly.
    - Only `project` reads an operation with several results.

    >>> import numpy as np
    >>> import stagrad
    >>> verify_graph(stagrad.compile(lambda x: x * x).lower(np.ones(3)).graph)
    """
    if len(set(graph.inputs)) != len(graph.inputs):
        raise VerifyError("an input of the graph occurs twice among its inputs")
    given = set(graph.inputs)
    known: set[Node] = set()
    for node in graph.nodes:
        if (node.primitive is input_p) != (node in given):
            _fail(node, "is an input that the graph does not list, or is listed and is none")
        for operand in node.inputs:
            if operand not in known:
                _fail(node, f"reads {operand}, which is not made before it in the graph")
            if operand.serial >= node.serial:
                _fail(node, f"is older than its operand {operand}: it is part of a cycle")
        known.add(node)
        if node.primitive is not input_p:
            _verify_types(node)
    for node in graph.outputs:
        if node not in known or node.primitive.multiple:
            _fail(node, "is an output, but no single value of the graph")


def _verify_types(node: Node) -> None:
    primitive = node.primitive
    try:
        hash(params_key(node.params))
    except TypeError:
        _fail(node, f"has params that cannot be hashed: {dict(node.params)}")
    if isinstance(primitive.vjps, tuple) and len(primitive.vjps) != len(node.inputs):
        _fail(node, f"has {len(node.inputs)} operands where its record has {len(primitive.vjps)}")
    if primitive is project_p:
        whole = node.inputs[0]
        index = node.params["index"]
        if not whole.primitive.multiple or not 0 <= index < len(whole.avals):
            _fail(node, f"takes result {index} of {whole}")
        if node.avals != (whole.avals[index],):
            _fail(node, f"has avals {node.avals}, its part is {whole.avals[index]}")
        return
    if primitive is constant_p and not isinstance(node.params.get("value"), Literal):
        _fail(node, "holds no Literal")
    for operand in node.inputs:
        if operand.primitive.multiple:
            _fail(node, f"reads {operand}, which has several results, without a project")
        if operand.aval.dtype.kind not in primitive.dtypes:
            _fail(node, f"does not accept an operand of dtype {operand.aval.dtype}")
    avals = tuple(operand.aval for operand in node.inputs)
    if primitive.kind is Kind.ELEMENTWISE and len({aval.shape for aval in avals}) > 1:
        _fail(node, f"broadcasts implicitly: its operands are {', '.join(map(str, avals))}")
    result = primitive.abstract_eval(avals, node.params)
    expected = tuple(result) if primitive.multiple else (result,)
    if node.avals != expected:
        _fail(node, f"has avals {node.avals} where its record gives {expected}")


def _fail(node: Node, fault: str) -> NoReturn:
    where = f" (at {node.source})" if node.source else ""
    raise VerifyError(f"{node!r}{where} {fault}")
