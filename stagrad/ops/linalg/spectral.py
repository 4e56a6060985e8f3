"""Functions of Hermitian matrices: v g(w) vᴴ, with w and v the matrix's eigenvalues and vectors.

As a product of its factors such a function has the derivative of eigenvectors, which do not exist
where eigenvalues coincide. As a function of the matrix it has a derivative there too: the divided
differences of g become its slope. The pass `recognize` finds such products before differentiation.
"""

from typing import Any

from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.complex import real
from stagrad.ops.contraction import matrix_transpose
from stagrad.ops.linalg.common import (
    adjoint,
    chain,
    columns,
    conj,
    diagonal_of,
    hermitian_part,
)
from stagrad.ops.linalg.gaps import divided_differences
from stagrad.ops.movement import astype, broadcast_to


def _product_aval(avals: tuple[Aval, ...], params: Params) -> Aval:
    _, _, v, g, _ = avals
    dtype = v.dtype if g.dtype.kind != "c" else g.dtype
    return Aval(v.shape, dtype)


def _turned(ct: Any, v: Any) -> Any:
    """Return the cotangent as it is seen from the eigenvectors."""
    return chain(matrix_transpose(v), ct, conj(v))


# What moves the eigenvalues comes through g; the matrix itself only turns the eigenvectors. The
# operands w, v and slope are functions of the matrix, so nothing comes through them.
def _matrix_rule(ct: Any, out: Any, a: Any, w: Any, v: Any, g: Any, slope: Any) -> Any:
    inner = _turned(ct, v) * divided_differences(w, g, slope)
    pulled = hermitian_part(chain(conj(v), inner, matrix_transpose(v)))
    return astype(pulled if aval_of(a).dtype.kind == "c" else real(pulled), aval_of(a).dtype)


def _function_rule(ct: Any, out: Any, a: Any, w: Any, v: Any, g: Any, slope: Any) -> Any:
    pulled = diagonal_of(_turned(ct, v))
    return astype(pulled if aval_of(g).dtype.kind == "c" else real(pulled), aval_of(g).dtype)


def _jvp(primals: Any, tangents: Any, out: Any) -> Any:
    (_, w, v, g, slope), (da, _, _, dg, _) = primals, tangents
    inner = None
    if da is not None:
        change = chain(adjoint(v), hermitian_part(da), v)
        inner = chain(v, change * divided_differences(w, g, slope), adjoint(v))
    if dg is not None:
        moved = chain(v * columns(dg), adjoint(v))
        inner = moved if inner is None else inner + moved
    return inner


def _nothing(ct: Any, out: Any, *primals: Any) -> None:
    return None


def _batcher(size: int, batched: Any, operands: Any) -> Any:
    full = (
        operand if is_batched else broadcast_to(operand, (size, *aval_of(operand).shape))
        for operand, is_batched in zip(operands, batched, strict=True)
    )
    return bind(hermitian_function_p, *full)


hermitian_function_p: Primitive = register(
    Primitive(
        name="hermitian_function",
        kind=Kind.LIBRARY,
        dtypes="fc",
        abstract_eval=_product_aval,
        py="xp.matmul({2} * {3}[..., None, :], xp.swapaxes({2}.conj(), -1, -2))",
        vjps=(_matrix_rule, _nothing, _nothing, _function_rule, _nothing),
        jvp=_jvp,
        batcher=_batcher,
        doc="Functions of Hermitian matrices by eigenvalues w, vectors v, values g(w) and slopes.",
    )
)


def hermitian_function(a: Any, w: Any, v: Any, g: Any, slope: Any) -> Any:
    """Return v g vᴴ as a function of the matrix `a`, `w` and `v` being what eigh made of it.

    - g: values of a function of the eigenvalues, element by element.
    - slope: the derivatives of g at the eigenvalues.
    """
    return bind(hermitian_function_p, a, w, v, g, slope)
