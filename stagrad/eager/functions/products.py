"""Products of vectors, matrices and tensors."""

from typing import Any

import numpy as np

from stagrad.eager.functions.registry import alias, function, numbers, returned
from stagrad.ir import aval_of

Slogdet = returned("slogdet", "sign", "logabsdet")


def _ndims(*operands: Any) -> tuple[int, ...]:
    return tuple(aval_of(operand).ndim for operand in operands)


def _matmul_name(input: Any, other: Any) -> str:
    first, second = _ndims(input, other)
    names = {
        (1, 1): "DotBackward0", (2, 2): "MmBackward0", (2, 1): "MvBackward0",
        (1, 2): "SqueezeBackward4", (2, 3): "CloneBackward0",
    }  # fmt: skip
    return names.get((first, second), "UnsafeViewBackward0")


@function(_matmul_name)
def matmul(input: Any, other: Any) -> Any:
    """Return the matrix product of the last two axes; vectors count as rows or columns."""
    shapes = [aval_of(operand).shape for operand in (input, other)]
    if not shapes[0] or not shapes[1]:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {len(shapes[0])}D and "
            f"{len(shapes[1])}D"
        )
    if shapes[0][-1] != shapes[1][max(len(shapes[1]) - 2, 0)]:
        first, second = ("x".join(map(str, shape)) for shape in shapes)
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({first} and {second})")
    return np.matmul(input, other)


@function("MatmulBackward0", module=False)
def __rmatmul__(input: Any, other: Any) -> Any:
    """Return other @ input."""
    return np.matmul(other, input)


def _checked(name: str, input: Any, other: Any, ndims: tuple[int, int]) -> Any:
    if _ndims(input, other) != ndims:
        raise RuntimeError(
            f"{name}: expected tensors of {ndims[0]} and {ndims[1]} dimensions, got "
            f"{list(aval_of(input).shape)} and {list(aval_of(other).shape)}"
        )
    shapes = aval_of(input).shape, aval_of(other).shape
    if shapes[0][-1] != shapes[1][max(ndims[1] - 2, 0)]:
        first, second = ("x".join(map(str, shape[-2:])) for shape in shapes)
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({first} and {second})")
    return np.matmul(input, other)


@function("MmBackward0")
def mm(input: Any, mat2: Any) -> Any:
    """Return the product of two matrices."""
    return _checked("mm", input, mat2, (2, 2))


@function("BmmBackward0")
def bmm(input: Any, mat2: Any) -> Any:
    """Return the products of two batches of matrices."""
    return _checked("bmm", input, mat2, (3, 3))


@function("MvBackward0")
def mv(input: Any, vec: Any) -> Any:
    """Return the product of a matrix and a vector."""
    return _checked("mv", input, vec, (2, 1))


@function("DotBackward0")
def dot(input: Any, tensor: Any) -> Any:
    """Return the sum of products of two vectors."""
    if _ndims(input, tensor) != (1, 1):
        first, second = _ndims(input, tensor)
        raise RuntimeError(f"1D tensors expected, but got {first}D and {second}D tensors")
    if aval_of(input).shape != aval_of(tensor).shape:
        raise RuntimeError(
            "inconsistent tensor size, expected tensor "
            f"[{aval_of(input).size}] and src [{aval_of(tensor).size}] to have the same number of "
            f"elements, but got {aval_of(input).size} and {aval_of(tensor).size} elements "
            "respectively"
        )
    return np.dot(input, tensor)


@function("VdotBackward0")
def vdot(input: Any, other: Any) -> Any:
    """Return the sum of products of two vectors, the first one conjugated."""
    return np.vdot(input, other)


@function("ViewBackward0")
def inner(input: Any, other: Any) -> Any:
    """Return the sums of products over the last axes."""
    return np.inner(input, other)


@function("MulBackward0")
def outer(input: Any, vec2: Any) -> Any:
    """Return all products of elements of two vectors."""
    for name, operand in (("self", input), ("vec2", vec2)):
        if aval_of(operand).ndim != 1:
            raise RuntimeError(
                f"outer: Expected 1-D argument {name}, but got {aval_of(operand).ndim}-D"
            )
    return np.reshape(input, (-1, 1)) * np.reshape(vec2, (1, -1))


alias("ger", outer)


@function("ViewBackward0", method=False)
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """Return the sums of products over several axes."""
    pairs = numbers(dims)
    if not isinstance(pairs, int):
        pairs = tuple(tuple(axes) if np.ndim(axes) else (axes,) for axes in pairs)
        for first, second in zip(*pairs, strict=True):
            # An axis of one element meets the sum over the other's.
            if aval_of(a).shape[first] == 1 != aval_of(b).shape[second]:
                b = np.sum(b, axis=second, keepdims=True)
            elif aval_of(b).shape[second] == 1 != aval_of(a).shape[first]:
                a = np.sum(a, axis=first, keepdims=True)
    return np.tensordot(a, b, pairs)


@function("ViewBackward0", method=False)
def einsum(equation: str, *operands: Any) -> Any:
    """Return sums of products by an equation: `einsum("ij,jk->ik", a, b)`."""
    is_list = len(operands) == 1 and isinstance(operands[0], list | tuple)
    terms = operands[0] if is_list else operands
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    if "..." in inputs and arrow and "..." not in output:
        # PyTorch sums over the axes of an ellipsis that the output leaves out.
        summed = np.einsum(f"{inputs}->...{output}", *terms)
        return np.sum(summed, axis=tuple(range(aval_of(summed).ndim - len(output))))
    return np.einsum(equation, *terms)


def _combined(input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    return (input if beta == 1 else input * beta) + product


@function("AddmmBackward0", in_place=True)
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return beta * input + alpha * mat1 @ mat2."""
    return _combined(input, _checked("addmm", mat1, mat2, (2, 2)), beta, alpha)


@function("AddmvBackward0", in_place=True)
def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return beta * input + alpha * mat @ vec."""
    return _combined(input, _checked("addmv", mat, vec, (2, 1)), beta, alpha)


@function("AddrBackward0", in_place=True)
def addr(input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return beta * input + alpha * outer(vec1, vec2)."""
    product = np.reshape(vec1, (-1, 1)) * np.reshape(vec2, (1, -1))
    return _combined(input, product, beta, alpha)


@function("BaddbmmBackward0", in_place=True)
def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return beta * input + alpha * batch1 @ batch2."""
    return _combined(input, _checked("baddbmm", batch1, batch2, (3, 3)), beta, alpha)


@function("AddbmmBackward0", in_place=True)
def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return beta * input + alpha * the sum of products of two batches of matrices."""
    product = np.sum(_checked("addbmm", batch1, batch2, (3, 3)), axis=0)
    return _combined(input, product, beta, alpha)


@function("LinalgCrossBackward0")
def cross(input: Any, other: Any, dim: int | None = None) -> Any:
    """Return the cross products of vectors along an axis of extent three."""
    if dim is None:
        shape = np.broadcast_shapes(aval_of(input).shape, aval_of(other).shape)
        dim = shape.index(3)
    return np.cross(input, other, axis=dim)


@function("UnsafeViewBackward0")
def kron(input: Any, other: Any) -> Any:
    """Return the Kronecker product."""
    return np.kron(input, other)


def _distances(difference: Any, p: float) -> Any:
    return np.linalg.vector_norm(difference, axis=-1, ord=p)


@function("CdistBackward0", method=False)
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: Any = None) -> Any:
    """Return the distances between all rows of two matrices, in the p-norm."""
    return _distances(np.expand_dims(x1, -2) - np.expand_dims(x2, -3), p)


@function("PdistBackward0", method=False)
def pdist(input: Any, p: float = 2.0) -> Any:
    """Return the distances between all pairs of rows of a matrix, in the p-norm."""
    rows, columns = np.triu_indices(aval_of(input).shape[0], 1)
    return _distances(np.take(input, rows, axis=0) - np.take(input, columns, axis=0), p)


@function("ChainMatmulBackward0", method=False)
def chain_matmul(*matrices: Any) -> Any:
    """Return the product of several matrices."""
    return np.linalg.multi_dot(list(matrices))


@function("LinalgSlogdetBackward0")
def slogdet(input: Any) -> Any:
    """Return the sign of the determinant and the logarithm of its size."""
    return Slogdet(*np.linalg.slogdet(input))
