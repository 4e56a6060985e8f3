"""Functions of matrices: exponential, logarithm and square root; Sylvester's equation."""

from typing import Any

import numpy as xp

from stagrad.errors import ShapeError
from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.contraction import matmul, matrix_transpose
from stagrad.ops.define import implements_scipy
from stagrad.ops.linalg.common import (
    adjoint,
    batch_stacked,
    broadcast_stacks,
    lapack_dtype,
    matrix_operand,
    same_aval,
)
from stagrad.ops.linalg.solving import each_matrix
from stagrad.ops.movement import astype
from stagrad.ops.slicing import pad


# A function of [[a, e], [0, a]] holds its derivative at a in direction e in the corner (Najfeld and
# Havel 1995). Transposed, that is the derivative rule, and all orders follow.
def _change(record: Primitive, a: Any, e: Any) -> Any:
    *batch, n, _ = aval_of(a).shape
    whole = (*batch, 2 * n, 2 * n)
    everywhere = (None,) * len(batch)
    first, second = (0, n, 1), (n, 2 * n, 1)
    blocks = (
        pad(a, whole, (*everywhere, first, first))
        + pad(a, whole, (*everywhere, second, second))
        + pad(e, whole, (*everywhere, first, second))
    )
    return bind(record, blocks)[..., :n, n:]


def _matrix_function(name: str, py: str, helpers: tuple[Any, ...], doc: str) -> Primitive:
    record: Primitive = register(
        Primitive(
            name=name,
            kind=Kind.LIBRARY,
            dtypes="fc",
            abstract_eval=same_aval,
            py=py,
            helpers=helpers,
            vjps=(lambda ct, out, a: _change(record, matrix_transpose(a), ct),),
            jvp=lambda primals, tangents, out: _change(record, primals[0], tangents[0]),
            batcher=batch_stacked(lambda a: bind(record, a)),
            doc=doc,
        )
    )
    return record


def of_each_matrix(function, name, a):  # type: ignore[no-untyped-def]
    """Apply one of SciPy's matrix functions to each matrix, in the dtype that was given."""
    if a.size == 0:
        return a
    result = each_matrix(function, a)  # type: ignore[no-untyped-call]
    if a.dtype.kind != "c" and result.dtype.kind == "c" and xp.any(result.imag != 0):
        raise ValueError(f"{name} of this real matrix is complex; give it a complex one: a + 0j")
    return (result if a.dtype.kind == "c" else result.real).astype(a.dtype)


expm_p = _matrix_function("expm", "linalg.expm({0})", (), "Exponentials of square matrices.")

logm_p = _matrix_function(
    "logm",
    "of_each_matrix(linalg.logm, 'logm', {0})",
    (each_matrix, of_each_matrix),
    "Logarithms of square matrices.",
)


@implements_scipy("scipy.linalg.expm")
def expm(A: Any) -> Any:
    """Matrix exponentials, as `scipy.linalg.expm`."""
    return bind(expm_p, matrix_operand("expm", A, square=True))


@implements_scipy("scipy.linalg.logm")
def logm(A: Any, disp: Any = True) -> Any:
    """Matrix logarithms, as `scipy.linalg.logm`; one of a real matrix must be real."""
    return bind(logm_p, matrix_operand("logm", A, square=True))


def _sylvester_aval(avals: tuple[Aval, ...], params: Params) -> Aval:
    a, b, q = avals
    if a.shape[-2:] != (q.shape[-2],) * 2 or b.shape[-2:] != (q.shape[-1],) * 2:
        raise ShapeError(f"solve_sylvester: {a}, {b} and {q} do not fit a x + x b = q")
    return q


def _sylvester(a: Any, b: Any, q: Any) -> Any:
    return bind(sylvester_p, a, b, q)


def _pull_sylvester(ct: Any, a: Any, b: Any) -> Any:
    return _sylvester(matrix_transpose(a), matrix_transpose(b), ct)


def _sylvester_jvp(primals: Any, tangents: Any, out: Any) -> Any:
    (a, b, _), (da, db, dq) = primals, tangents
    side = dq
    for term in (
        None if da is None else matmul(da, out),
        None if db is None else matmul(out, db),
    ):
        if term is not None:
            side = -term if side is None else side - term
    return _sylvester(a, b, side)


sylvester_p: Primitive = register(
    Primitive(
        name="solve_sylvester",
        kind=Kind.LIBRARY,
        dtypes="fc",
        abstract_eval=_sylvester_aval,
        py="each_matrix(linalg.solve_sylvester, {0}, {1}, {2})",
        helpers=(each_matrix,),
        vjps=(
            lambda ct, out, a, b, q: -matmul(_pull_sylvester(ct, a, b), matrix_transpose(out)),
            lambda ct, out, a, b, q: -matmul(matrix_transpose(out), _pull_sylvester(ct, a, b)),
            lambda ct, out, a, b, q: _pull_sylvester(ct, a, b),
        ),
        jvp=_sylvester_jvp,
        batcher=batch_stacked(lambda a, b, q: _sylvester(*broadcast_stacks(a, b, q))),
        doc="Solutions x of a x + x b = q.",
    )
)


@implements_scipy("scipy.linalg.solve_sylvester")
def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """Solve a x + x b = q, as `scipy.linalg.solve_sylvester`."""
    a = matrix_operand("solve_sylvester", a, square=True)
    b = matrix_operand("solve_sylvester", b, square=True)
    q = matrix_operand("solve_sylvester", q)
    dtype = lapack_dtype("solve_sylvester", *(aval_of(x).dtype for x in (a, b, q)))
    return _sylvester(astype(a, dtype), astype(b, dtype), astype(q, dtype))


@implements_scipy("scipy.linalg.solve_continuous_lyapunov", "scipy.linalg.solve_lyapunov")
def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """Solve a x + x aᴴ = q, as `scipy.linalg.solve_continuous_lyapunov`."""
    a = matrix_operand("solve_continuous_lyapunov", a, square=True)
    return solve_sylvester(a, adjoint(a), q)


def _sqrtm_rule(ct: Any, out: Any, a: Any) -> Any:
    return _pull_sylvester(ct, out, out)


sqrtm_p: Primitive = register(
    Primitive(
        name="sqrtm",
        kind=Kind.LIBRARY,
        dtypes="fc",
        abstract_eval=same_aval,
        py="of_each_matrix(linalg.sqrtm, 'sqrtm', {0})",
        helpers=(each_matrix, of_each_matrix),
        vjps=(_sqrtm_rule,),
        jvp=lambda primals, tangents, out: _sylvester(out, out, tangents[0]),
        batcher=batch_stacked(lambda a: bind(sqrtm_p, a)),
        doc="Square roots of square matrices.",
    )
)


@implements_scipy("scipy.linalg.sqrtm")
def sqrtm(A: Any, disp: Any = True, blocksize: Any = None) -> Any:
    """Matrix square roots, as `scipy.linalg.sqrtm`; that of a real matrix must be real."""
    A = matrix_operand("sqrtm", A, square=True)
    if aval_of(A).ndim > 2:
        raise ShapeError(f"sqrtm: one matrix is expected, not a stack of shape {aval_of(A).shape}")
    return bind(sqrtm_p, A)
