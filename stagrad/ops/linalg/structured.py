"""scipy.linalg's banded systems, LU factors and matrices built from vectors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy as xp

from stagrad.errors import ShapeError, UnsupportedError
from stagrad.ir import ZERO, Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.contraction import matmul, matrix_transpose
from stagrad.ops.convert import as_value
from stagrad.ops.define import FUNCTIONS, implements_scipy
from stagrad.ops.linalg.common import (
    adjoint,
    batch_stacked,
    broadcast_stacks,
    conj,
    keep_lower,
    keep_off_diagonal,
    keep_upper,
    lapack_dtype,
    matrix_operand,
    rows,
)
from stagrad.ops.linalg.solving import each_matrix, solve, triangular_solution
from stagrad.ops.movement import astype, constant, reshape, zeros
from stagrad.ops.reduction import sum as sum_
from stagrad.ops.slicing import axis_slice, pad


def _shifted(row: Any, offset: int) -> Any:
    """Return vectors y with y[j] = row[j + offset], zero where there is none."""
    *batch, n = aval_of(row).shape
    if abs(offset) >= n:
        return zeros((*batch, n), aval_of(row).dtype, like=row)
    kept = axis_slice(row, len(batch), max(offset, 0), n + min(offset, 0))
    start = max(-offset, 0)
    span = (start, start + n - abs(offset), 1)
    return pad(kept, (*batch, n), (*(None for _ in batch), span))


def _transposed_bands(bands: Any, lower: int, upper: int) -> Any:
    """Return the bands of the transposed matrix, whose first one is its highest."""
    count = lower + upper
    rows = [_shifted(bands[..., count - r, :], r - lower) for r in range(count + 1)]
    return FUNCTIONS[np.stack](rows, axis=-2)


def _pull_bands(ct: Any, out: Any, bands: Any, b: Any, *, lower: int, upper: int) -> Any:
    """Return the cotangent of the bands: those of -(pulled side) xᵀ."""
    side = _pull_banded_side(ct, bands, lower, upper)
    across, along = matrix_transpose(side), matrix_transpose(out)
    rows = [-sum_(_shifted(across, r - upper) * along, axis=-2) for r in range(lower + upper + 1)]
    return FUNCTIONS[np.stack](rows, axis=-2)


def _pull_banded_side(ct: Any, bands: Any, lower: int, upper: int) -> Any:
    turned = _transposed_bands(bands, lower, upper)
    return bind(solve_banded_p, turned, ct, lower=upper, upper=lower)


def _banded_aval(avals: tuple[Aval, ...], params: Params) -> Aval:
    bands, b = avals
    count = params["lower"] + params["upper"] + 1
    if bands.shape[:-2] != b.shape[:-2] or bands.shape[-2:] != (count, b.shape[-2]):
        raise ShapeError(
            f"solve_banded: bands {bands} and right-hand sides {b} do not fit "
            f"{params['lower']} lower and {params['upper']} upper diagonals"
        )
    return b


def solve_each_banded(solver, diagonals, bands, b):  # type: ignore[no-untyped-def]
    """Solve stacks of banded systems one by one with SciPy's solver for one."""

    def solve_one(bands, b):  # type: ignore[no-untyped-def]
        return solver(diagonals, bands, b, check_finite=False)

    return each_matrix(solve_one, bands, b)  # type: ignore[no-untyped-call]


solve_banded_p: Primitive = register(
    Primitive(
        name="solve_banded",
        kind=Kind.LIBRARY,
        dtypes="fc",
        abstract_eval=_banded_aval,
        py="solve_each_banded(linalg.solve_banded, ({lower}, {upper}), {0}, {1})",
        helpers=(each_matrix, solve_each_banded),
        vjps=(
            _pull_bands,
            lambda ct, out, bands, b, *, lower, upper: _pull_banded_side(ct, bands, lower, upper),
        ),
        batcher=batch_stacked(
            lambda bands, b, **params: bind(solve_banded_p, *broadcast_stacks(bands, b), **params)
        ),
        doc="Solutions of banded systems, given by their diagonals.",
    )
)


@implements_scipy("scipy.linalg.solve_banded")
def solve_banded(
    l_and_u: tuple[int, int],
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """Solve a banded system, as `scipy.linalg.solve_banded`."""
    ab, b = matrix_operand("solve_banded", ab), as_value(b)
    dtype = lapack_dtype("solve_banded", aval_of(ab).dtype, aval_of(b).dtype)
    is_vector = aval_of(b).ndim == 1
    side = reshape(b, (aval_of(b).shape[0], 1)) if is_vector else b
    lower, upper = (int(count) for count in l_and_u)
    result = bind(solve_banded_p, astype(ab, dtype), astype(side, dtype), lower=lower, upper=upper)
    return reshape(result, aval_of(b).shape) if is_vector else result


@implements_scipy("scipy.linalg.solveh_banded")
def solveh_banded(
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
) -> Any:
    """Solve a Hermitian banded system, as `scipy.linalg.solveh_banded`."""
    ab = matrix_operand("solveh_banded", ab)
    count = aval_of(ab).shape[0] - 1
    if lower:
        above = [conj(_shifted(ab[r], -r)) for r in range(count, 0, -1)]
        bands = FUNCTIONS[np.stack]([*above, *(ab[r] for r in range(count + 1))])
    else:
        below = [conj(_shifted(ab[count - r], r)) for r in range(1, count + 1)]
        bands = FUNCTIONS[np.stack]([*(ab[r] for r in range(count + 1)), *below])
    return solve_banded((count, count), bands, b)


def row_order(pivots):  # type: ignore[no-untyped-def]
    """Return the permutations that LAPACK's row exchanges make."""
    order = xp.empty(pivots.shape, xp.int64)
    order[...] = xp.arange(pivots.shape[-1])
    for place in xp.ndindex(pivots.shape[:-1]):
        for row, other in enumerate(pivots[place]):
            order[place][[row, other]] = order[place][[other, row]]
    return order


def packed_lu(factorize, a):  # type: ignore[no-untyped-def]
    """Return packed LU factors of square matrices, LAPACK's row exchanges and the permutations."""
    factors = xp.empty(a.shape, a.dtype)
    pivots = xp.empty(a.shape[:-1], xp.int32)
    for place in xp.ndindex(a.shape[:-2]):
        factors[place], pivots[place] = factorize(a[place], check_finite=False)
    return factors, pivots, row_order(pivots)  # type: ignore[no-untyped-call]


def _lu_avals(avals: tuple[Aval, ...], params: Params) -> tuple[Aval, Aval, Aval]:
    shape = avals[0].shape
    pivots, order = np.dtype(np.int32), np.dtype(np.int64)
    return avals[0], Aval(shape[:-1], pivots), Aval(shape[:-1], order)


def _unit_lower(lu: Any) -> Any:
    return keep_off_diagonal(keep_lower(lu))


# With a[p] = l u and f = l⁻¹ da[p] u⁻¹: dl = l tril(f, -1) and du = triu(f) u.
def _lu_rule(ct: Any, out: Any, a: Any) -> Any:
    packed = ct[0]
    lu, _, order = out
    if packed is None:
        return None
    lower_ct = keep_off_diagonal(keep_lower(packed))
    turned = _unit_lower(lu)
    inner_l = keep_off_diagonal(keep_lower(lower_ct + matmul(matrix_transpose(turned), lower_ct)))
    inner_u = keep_upper(matmul(keep_upper(packed), matrix_transpose(keep_upper(lu))))
    left = triangular_solution(matrix_transpose(lu), inner_l + inner_u, False, True)
    pulled = matrix_transpose(triangular_solution(lu, matrix_transpose(left), False))
    back = FUNCTIONS[np.argsort](order, axis=-1)
    return FUNCTIONS[np.take_along_axis](pulled, rows(back), -2)


lu_p: Primitive = register(
    Primitive(
        name="lu_factor",
        kind=Kind.LIBRARY,
        dtypes="fc",
        multiple=True,
        abstract_eval=_lu_avals,
        py="packed_lu(linalg.lu_factor, {0})",
        helpers=(row_order, packed_lu),
        vjps=(_lu_rule,),
        batcher=batch_stacked(lambda a: bind(lu_p, a)),
        doc="LU factors of square matrices in one, row exchanges, and the permutation they make.",
    )
)


pivot_order_p: Primitive = register(
    Primitive(
        name="pivot_order",
        kind=Kind.LIBRARY,
        dtypes="i",
        abstract_eval=lambda avals, params: Aval(avals[0].shape, np.dtype(np.int64)),
        py="row_order({0})",
        helpers=(row_order,),
        vjps=(ZERO,),
        batcher=lambda size, batched, operands: bind(pivot_order_p, operands[0]),
        doc="The permutation that LAPACK's row exchanges make.",
    )
)


def _one_square(name: str, a: Any) -> Any:
    a = matrix_operand(name, a, square=True)
    if aval_of(a).ndim != 2:
        raise UnsupportedError(f"{name}: stacks of matrices are not supported, given {aval_of(a)}")
    return a


@implements_scipy("scipy.linalg.lu_factor")
def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, Any]:
    """LU factors of a square matrix for `lu_solve`, as `scipy.linalg.lu_factor`."""
    lu, pivots, _ = bind(lu_p, _one_square("lu_factor", a))
    return lu, pivots


@implements_scipy("scipy.linalg.lu_solve")
def lu_solve(
    lu_and_piv: tuple[Any, Any],
    b: Any,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """Solve a x = b by LU factors of a, as `scipy.linalg.lu_solve`."""
    lu, pivots = lu_and_piv
    lu, b = _one_square("lu_solve", lu), as_value(b)
    dtype = lapack_dtype("lu_solve", aval_of(lu).dtype, aval_of(b).dtype)
    lu, b = astype(lu, dtype), astype(b, dtype)
    shape = aval_of(b).shape
    side = reshape(b, (*shape, 1)) if len(shape) == 1 else b
    order = bind(pivot_order_p, as_value(pivots))
    if trans == 0:
        result = triangular_solution(lu, side[order], True, True)
        result = triangular_solution(lu, result, False)
    elif trans in (1, 2):
        turned = matrix_transpose(lu) if trans == 1 else adjoint(lu)
        result = triangular_solution(turned, side, True)
        result = triangular_solution(turned, result, False, True)
        result = result[FUNCTIONS[np.argsort](order)]
    else:
        raise ValueError(f"lu_solve: trans is {trans!r}; it is 0, 1 or 2")
    return reshape(result, shape)


@implements_scipy("scipy.linalg.lu")
def lu(
    a: Any,
    permute_l: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
    p_indices: bool = False,
) -> Any:
    """Permutation, unit lower and upper triangular factors, as `scipy.linalg.lu`."""
    packed, _, order = bind(lu_p, _one_square("lu", a))
    n = aval_of(packed).shape[0]
    unit = constant(np.arange(n), like=packed)
    lower = _unit_lower(packed) + astype(
        reshape(unit, (n, 1)) == reshape(unit, (1, n)), aval_of(packed).dtype
    )
    upper, back = keep_upper(packed), FUNCTIONS[np.argsort](order)
    if permute_l:
        return lower[back], upper
    if p_indices:
        return astype(back, np.int32), lower, upper
    permutation = reshape(back, (n, 1)) == reshape(unit, (1, n))
    return astype(permutation, aval_of(packed).dtype), lower, upper


@implements_scipy("scipy.linalg.block_diag")
def block_diag(*arrs: Any) -> Any:
    """Matrices along the diagonal of one, as `scipy.linalg.block_diag`."""
    blocks = [_as_block(block) for block in (arrs or ([],))]
    dtype = np.result_type(*(aval_of(block).dtype for block in blocks))
    shapes = [aval_of(block).shape for block in blocks]
    rows, columns = sum(shape[0] for shape in shapes), sum(shape[1] for shape in shapes)
    result, row, column = None, 0, 0
    for block, (m, n) in zip(blocks, shapes, strict=True):
        region = ((row, row + m, 1), (column, column + n, 1))
        placed = pad(astype(block, dtype), (rows, columns), region)
        result = placed if result is None else result + placed
        row, column = row + m, column + n
    return result


def _as_block(block: Any) -> Any:
    block = as_value(block)
    shape = aval_of(block).shape
    if len(shape) > 2:
        raise ShapeError(f"block_diag: arguments must have dimension at most 2, not {shape}")
    return reshape(block, (1,) * (2 - len(shape)) + shape)


def _vector(name: str, x: Any) -> Any:
    x = as_value(x)
    if aval_of(x).ndim > 1:
        raise UnsupportedError(f"{name}: one vector is expected, not {aval_of(x)}")
    return reshape(x, (aval_of(x).size,))


@implements_scipy("scipy.linalg.toeplitz")
def toeplitz(c: Any, r: Any = None) -> Any:
    """The matrix of constant diagonals by first column and row, as `scipy.linalg.toeplitz`."""
    column = _vector("toeplitz", c)
    row = conj(column) if r is None else _vector("toeplitz", r)
    m, n = aval_of(column).size, aval_of(row).size
    values = FUNCTIONS[np.concatenate]([column[::-1], row[1:]])
    return values[constant(np.arange(n) - np.arange(m)[:, None] + m - 1, like=values)]


@implements_scipy("scipy.linalg.circulant")
def circulant(c: Any) -> Any:
    """The matrix whose columns are rotations of a vector, as `scipy.linalg.circulant`."""
    column = _vector("circulant", c)
    n = aval_of(column).size
    return column[constant((np.arange(n)[:, None] - np.arange(n)) % n, like=column)]


@implements_scipy("scipy.linalg.hankel")
def hankel(c: Any, r: Any = None) -> Any:
    """The matrix of constant antidiagonals, as `scipy.linalg.hankel`."""
    column = _vector("hankel", c)
    m = aval_of(column).size
    row = zeros((m,), aval_of(column).dtype, like=column) if r is None else _vector("hankel", r)
    values = FUNCTIONS[np.concatenate]([column, row[1:]])
    places = np.arange(m)[:, None] + np.arange(aval_of(row).size)
    return values[constant(places, like=values)]


@implements_scipy("scipy.linalg.solve_toeplitz")
def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> Any:
    """Solve a Toeplitz system, as `scipy.linalg.solve_toeplitz`."""
    pair: Sequence[Any] = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr,)
    return solve(toeplitz(*pair), b)


@implements_scipy("scipy.linalg.khatri_rao")
def khatri_rao(a: Any, b: Any) -> Any:
    """Kronecker products of columns, as `scipy.linalg.khatri_rao`."""
    a, b = as_value(a), as_value(b)
    (m, n), (k, other) = aval_of(a).shape, aval_of(b).shape
    if n != other:
        raise ShapeError(f"khatri_rao: numbers of columns differ: {n} and {other}")
    return reshape(reshape(a, (m, 1, n)) * reshape(b, (1, k, n)), (m * k, n))
