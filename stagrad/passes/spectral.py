"""Recognising functions of Hermitian matrices: products v g(w) vᴴ of what one eigh returned."""

from collections.abc import Sequence

from stagrad.ir import Along, Builder, Graph, Kind, Node, is_inexact, project_p
from stagrad.ir.index import Index, compose, identity
from stagrad.ops.arithmetic import multiply_p
from stagrad.ops.complex import conjugate_p
from stagrad.ops.contraction import matmul_p
from stagrad.ops.linalg.eigen import eigh_p, eigvalsh_p
from stagrad.ops.linalg.spectral import hermitian_function
from stagrad.ops.movement import broadcast_to, broadcast_to_p, reshape_p, transpose_p
from stagrad.ops.slicing import pad_p
from stagrad.passes.forward import forward
from stagrad.passes.rewrite import Rewriter
from stagrad.trace import Tracer, replay


def hermitian_function_of_product(rewriter: Rewriter, node: Node) -> Node | None:
    """A product v diag(g) vᴴ, g being a function of eigenvalues, is a function of the matrix."""
    left, right = node.inputs
    vectors, g = _scaled(left, axis=-1)
    if vectors is None:
        vectors = left
        other, g = _scaled(right, axis=-2)
    else:
        other = right
    if g is None or other is None or not _are_adjoint(vectors, other):
        return None
    eigh = vectors.inputs[0] if vectors.primitive is project_p else None
    if eigh is None or eigh.primitive is not eigh_p or vectors.params["index"] != 1:
        return None
    if not is_inexact(g.aval):
        return None
    a, uplo = eigh.inputs[0], eigh.params["uplo"]
    for values in (
        rewriter.builder.add(project_p, (eigh,), {"index": 0}),
        rewriter.builder.add(eigvalsh_p, (a,), {"uplo": uplo}),
    ):
        between = _elementwise_between(values, g)
        if between is not None:
            return _as_function(rewriter, a, values, vectors, g, between)
    return None


def _scaled(node: Node, axis: int) -> tuple[Node | None, Node | None]:
    """Return x and g of a matrix x with its columns (axis -1) or rows (axis -2) times g."""
    if node.primitive is multiply_p:
        for x, factor in (node.inputs, node.inputs[::-1]):
            g = _vector(factor, node.aval.ndim + axis)
            if g is not None:
                return x, g
    if node.primitive is matmul_p:
        x, factor = node.inputs if axis == -1 else node.inputs[::-1]
        g = _diagonal(factor)
        if g is not None:
            return x, g
    return None, None


def _vector(node: Node, axis: int) -> Node | None:
    """Return the vectors that a stack of matrices repeats along all but one of its two axes."""
    ndim = node.aval.ndim
    index: Index = identity(ndim)
    expected = (*(Along(place) for place in range(ndim - 2)), Along(axis))
    while node.primitive in (broadcast_to_p, reshape_p):
        assert node.primitive.access is not None
        access = node.primitive.access(node.inputs[0].aval, node.params)
        if access is None:
            return None
        index, node = compose(access, index), node.inputs[0]
        if index == expected:
            return node
    return None


def _diagonal(node: Node) -> Node | None:
    """Return the vector that a matrix has on its diagonal, all else being zero."""
    if node.primitive is not reshape_p or node.inputs[0].primitive is not pad_p:
        return None
    placed = node.inputs[0]
    n = node.aval.shape[-1]
    if node.aval.shape != (n, n) or placed.aval.shape != (n * n,):
        return None
    vector = placed.inputs[0]
    spread = placed.params["region"] == ((0, n * n, n + 1),)
    return vector if spread and vector.aval.shape == (n,) else None


def _are_adjoint(vectors: Node, other: Node) -> bool:
    """Say whether one matrix is the conjugate transpose of another."""
    conjugated = vectors.aval.dtype.kind != "c"
    transposed = False
    while other is not vectors:
        if other.primitive is conjugate_p:
            conjugated = conjugated if vectors.aval.dtype.kind != "c" else not conjugated
        elif other.primitive is transpose_p and not transposed:
            ndim = other.aval.ndim
            if other.params["axes"] != (*range(ndim - 2), ndim - 1, ndim - 2):
                return False
            transposed = True
        else:
            return False
        other = other.inputs[0]
    return conjugated and transposed


def _elementwise_between(start: Node, end: Node) -> list[Node] | None:
    """Return the operations from `start` to `end` if each works element by element, else None."""
    found: dict[Node, bool] = {start: True}
    order: list[Node] = []
    stack = [(end, False)]
    while stack:
        node, is_left = stack.pop()
        if is_left:
            found[node] = any(found[operand] for operand in node.inputs)
            if found[node]:
                if (
                    node.primitive.kind is not Kind.ELEMENTWISE
                    or node.aval.shape != start.aval.shape
                ):
                    return None
                order.append(node)
        elif node not in found:
            found[node] = False
            stack.append((node, True))
            stack.extend((operand, False) for operand in node.inputs)
    return order if found[end] else None


def _as_function(
    rewriter: Rewriter, a: Node, w: Node, v: Node, g: Node, between: Sequence[Node]
) -> Node:
    function, others = _cut_out(w, g, between)
    tangent = forward(function, [0], [0])

    def build(a: Tracer, w: Tracer, v: Tracer, g: Tracer, *others: Tracer) -> Tracer:
        one = broadcast_to(w.lift(w.dtype.type(1)), w.shape)
        slope = replay(w.recording, tangent, [w, *others, one])[1]
        return hermitian_function(a, w, v, g, slope)  # type: ignore[no-any-return]

    return rewriter.apply(build, a, w, v, g, *others)


def _cut_out(start: Node, end: Node, between: Sequence[Node]) -> tuple[Graph, list[Node]]:
    """Return the operations between as a graph of `start` and other values, and those values."""
    inside = {start, *between}
    others = [operand for node in between for operand in node.inputs if operand not in inside]
    builder = Builder()
    new = {node: builder.input(node.aval) for node in dict.fromkeys([start, *others])}
    inputs = list(new.values())
    for node in between:
        operands = tuple(new[operand] for operand in node.inputs)
        new[node] = builder.add(node.primitive, operands, node.params)
    return builder.graph(inputs, [new[end]]), list(dict.fromkeys(others))
