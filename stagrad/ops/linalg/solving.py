"""Linear systems: solve, inv and triangular systems."""

import math
from typing import Any

import numpy as np
import numpy as xp

from stagrad.errors import ShapeError
from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.contraction import matmul, matrix_transpose
from stagrad.ops.convert import as_value
from stagrad.ops.define import implements
from stagrad.ops.linalg.common import (
    batch_stacked,
    broadcast_stacks,
    chain,
    keep_lower,
    keep_off_diagonal,
    keep_upper,
    lapack_dtype,
    matrix_operand,
    same_aval,
)
from stagrad.ops.movement import astype, reshape, transpose


def _right_hand_side(avals: tuple[Aval, ...], params: Params) -> Aval:
    a, b = avals
    if a.shape[:-2] != b.shape[:-2] or not a.shape[-1] == a.shape[-2] == b.shape[-2]:
        raise ShapeError(f"solve: {a} and {b} are not a stack of linear systems")
    return Aval(b.shape, b.dtype)


def _solve_systems(a: Any, b: Any) -> Any:
    """Solve systems whose batch shapes broadcast; one matrix is factored once for all of them."""
    if math.prod(aval_of(a).shape[:-2]) == 1 and math.prod(aval_of(b).shape[:-2]) > 1:
        return _as_one_system(a, b, lambda matrix, sides: bind(solve_p, matrix, sides))
    return bind(solve_p, *broadcast_stacks(a, b))


def _as_one_system(a: Any, b: Any, solve_one: Any) -> Any:
    """Solve stacked right-hand sides of a single matrix as the columns of one system."""
    (*batch_a, n, _), (*batch, _, columns) = aval_of(a).shape, aval_of(b).shape
    batch = [1] * (len(batch_a) - len(batch)) + list(batch)
    b = reshape(b, (*batch, n, columns))
    axes = len(batch)
    wide = reshape(transpose(b, (axes, *range(axes), axes + 1)), (n, math.prod(batch) * columns))
    solved = reshape(solve_one(reshape(a, (n, n)), wide), (n, *batch, columns))
    return transpose(solved, (*range(1, axes + 1), 0, axes + 1))


def _pull_side(ct: Any, a: Any) -> Any:
    return bind(solve_p, matrix_transpose(a), ct)


def _solve_jvp(primals: Any, tangents: Any, out: Any) -> Any:
    moved, side = tangents
    if moved is not None:
        pulled = -matmul(moved, out)
        side = pulled if side is None else side + pulled
    return bind(solve_p, primals[0], side)


solve_p: Primitive = register(
    Primitive(
        name="solve",
        kind=Kind.LIBRARY,
        dtypes="fc",
        abstract_eval=_right_hand_side,
        py="xp.linalg.solve({0}, {1})",
        vjps=(
            lambda ct, out, a, b: -matmul(_pull_side(ct, a), matrix_transpose(out)),
            lambda ct, out, a, b: _pull_side(ct, a),
        ),
        jvp=_solve_jvp,
        batcher=batch_stacked(_solve_systems),
        doc="Solutions x of a x = b, columns of b being separate right-hand sides.",
    )
)


@implements(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    """Solve a x = b, as `numpy.linalg.solve`: b is a vector only if it is 1-d."""
    a, b = matrix_operand("solve", a, square=True), as_value(b)
    shape = aval_of(b).shape
    n = aval_of(a).shape[-1]
    is_vector = len(shape) == 1
    if not shape or shape[-1 if is_vector else -2] != n:
        raise ShapeError(
            f"solve: the matrices are {n} x {n}, but b has shape {shape}: its "
            f"{'only' if is_vector else 'second-to-last'} axis must have {n} elements"
        )
    dtype = lapack_dtype("solve", aval_of(a).dtype, aval_of(b).dtype)
    side = reshape(b, (n, 1)) if is_vector else b
    result = _solve_systems(astype(a, dtype), astype(side, dtype))
    return reshape(result, aval_of(result).shape[:-1]) if is_vector else result


def _inv_rule(ct: Any, out: Any, a: Any) -> Any:
    turned = matrix_transpose(out)
    return -chain(turned, ct, turned)


inv_p: Primitive = register(
    Primitive(
        name="inv",
        kind=Kind.LIBRARY,
        dtypes="fc",
        abstract_eval=same_aval,
        py="xp.linalg.inv({0})",
        vjps=(_inv_rule,),
        jvp=lambda primals, tangents, out: -chain(out, tangents[0], out),
        batcher=batch_stacked(lambda a: bind(inv_p, a)),
        doc="Inverses of square matrices.",
    )
)


@implements(np.linalg.inv)
def inv(a: Any) -> Any:
    """Inverses of square matrices, as `numpy.linalg.inv`."""
    return bind(inv_p, matrix_operand("inv", a, square=True))


def each_matrix(function, *operands):  # type: ignore[no-untyped-def]
    """Apply a function of single matrices over all leading axes."""
    batch = operands[0].shape[:-2]
    if not batch:
        return function(*operands)
    if 0 in batch:
        return xp.zeros(operands[-1].shape, operands[-1].dtype)
    results = [function(*(operand[place] for operand in operands)) for place in xp.ndindex(batch)]
    return xp.stack(results).reshape(*batch, *results[0].shape)


def solve_each_triangle(solver, a, b, **options):  # type: ignore[no-untyped-def]
    """Solve stacks of triangular systems one by one with SciPy's solver for one."""
    if b.size == 0:
        return xp.zeros(b.shape, b.dtype)

    def solve_one(a, b):  # type: ignore[no-untyped-def]
        return solver(a, b, check_finite=False, **options)

    return each_matrix(solve_one, a, b)  # type: ignore[no-untyped-call]


def _triangle_text(params: Params, arity: int) -> str:
    unit = ", unit_diagonal=True" if params["unit_diagonal"] else ""
    lower = f", lower={params['lower']}"
    return f"solve_each_triangle(linalg.solve_triangular, {{0}}, {{1}}{lower}{unit})"


def _triangle_matrix_rule(
    ct: Any, out: Any, a: Any, b: Any, *, lower: bool, unit_diagonal: bool
) -> Any:
    side = triangular_solution(matrix_transpose(a), ct, not lower, unit_diagonal)
    keep = keep_lower if lower else keep_upper
    pulled = keep(-matmul(side, matrix_transpose(out)))
    return keep_off_diagonal(pulled) if unit_diagonal else pulled


def _triangle_jvp(
    primals: Any, tangents: Any, out: Any, *, lower: bool, unit_diagonal: bool
) -> Any:
    side = tangents[1]
    if tangents[0] is not None:
        moved = (keep_lower if lower else keep_upper)(tangents[0])
        moved = matmul(keep_off_diagonal(moved) if unit_diagonal else moved, out)
        side = -moved if side is None else side - moved
    return triangular_solution(primals[0], side, lower, unit_diagonal)


def triangular_solution(a: Any, b: Any, lower: bool, unit_diagonal: bool = False) -> Any:
    """Solve stacks of triangular systems whose batch shapes broadcast."""

    def solve_one(matrix: Any, sides: Any) -> Any:
        return bind(solve_triangular_p, matrix, sides, lower=lower, unit_diagonal=unit_diagonal)

    if math.prod(aval_of(a).shape[:-2]) == 1 and math.prod(aval_of(b).shape[:-2]) > 1:
        return _as_one_system(a, b, solve_one)
    return solve_one(*broadcast_stacks(a, b))


solve_triangular_p: Primitive = register(
    Primitive(
        name="solve_triangular",
        kind=Kind.LIBRARY,
        dtypes="fc",
        abstract_eval=_right_hand_side,
        py=_triangle_text,
        helpers=(each_matrix, solve_each_triangle),
        vjps=(
            _triangle_matrix_rule,
            lambda ct, out, a, b, *, lower, unit_diagonal: triangular_solution(
                matrix_transpose(a), ct, not lower, unit_diagonal
            ),
        ),
        jvp=_triangle_jvp,
        batcher=batch_stacked(triangular_solution),
        doc="Solutions of triangular systems; the other triangle is not read.",
    )
)
