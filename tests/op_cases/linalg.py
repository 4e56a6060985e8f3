"""Rows of linear algebra, but for eigenvalues and singular values.

Matrices that are assumed symmetric are made so inside the function.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import stagrad
from tests.op_cases.case import Case, rng

NOISE = rng("linalg")
ANY_ZERO = frozenset({"any zero sign"})
SINGLE = ("float32",)


def reals(*shape: int) -> np.ndarray:
    return NOISE.standard_normal(shape)


def complexes(*shape: int) -> np.ndarray:
    return reals(*shape) + 1j * reals(*shape)


def regular(a: np.ndarray) -> np.ndarray:
    """Add to square matrices what makes them well-conditioned."""
    return a + 3.0 * np.eye(a.shape[-1])


def spread(a: np.ndarray) -> np.ndarray:
    """Add to matrices what keeps their singular values and eigenvalues well apart."""
    apart = np.zeros(a.shape[-2:])
    np.fill_diagonal(apart, 3.0 + 4.0 * np.arange(min(apart.shape)))
    return a + apart


def adjoint(a: Any) -> Any:
    return np.conj(np.swapaxes(a, -1, -2))


def hermitian(a: Any) -> Any:
    return (a + adjoint(a)) / 2


def positive(a: Any) -> Any:
    return a @ adjoint(a) + 2 * np.eye(a.shape[-1])


def case(name: str, function: Callable[..., Any], *operands: Any, **claims: Any) -> Case:
    claims = {"rtol": 1e-11, "atol": 1e-12, "grad_rtol": 2e-5, "tags": ANY_ZERO, **claims}
    return Case(name=name, function=function, operands=operands, **claims)


SOLVING = [
    case(
        "solve vector",
        np.linalg.solve,
        regular(reals(3, 3)),
        reals(3),
        covers=("solve",),
        dtypes=(*SINGLE, "complex64"),
        edges=((np.arange(4).reshape(2, 2) + np.eye(2, dtype=int), np.arange(2)),),
    ),
    case("solve matrix", np.linalg.solve, regular(reals(3, 3)), reals(3, 2)),
    case("solve complex", np.linalg.solve, regular(complexes(3, 3)), complexes(3, 2)),
    case("solve real by complex", np.linalg.solve, regular(reals(2, 2)), complexes(2)),
    case("solve stacks", np.linalg.solve, regular(reals(2, 3, 3)), reals(2, 3, 2), dtypes=SINGLE),
    case("solve stack by one matrix", np.linalg.solve, regular(reals(3, 3)), reals(2, 4, 3, 2)),
    case(
        "solve stack of matrices by one side", np.linalg.solve, regular(reals(2, 3, 3)), reals(3, 2)
    ),
    case("solve stack of matrices by a vector", np.linalg.solve, regular(reals(2, 3, 3)), reals(3)),
    case("solve broadcast", np.linalg.solve, regular(reals(2, 1, 3, 3)), reals(4, 3, 1)),
    case("inv", np.linalg.inv, regular(reals(3, 3)), covers=("inv",), dtypes=SINGLE),
    case("inv complex stack", np.linalg.inv, regular(complexes(2, 2, 2))),
    case("inv of a 1 x 1 matrix", np.linalg.inv, np.array([[2.5]])),
    case(
        "tensorsolve",
        lambda a, b: np.linalg.tensorsolve(a, b),
        regular(reals(6, 6)).reshape(2, 3, 6),
        reals(2, 3),
    ),
    case(
        "tensorsolve axes",
        lambda a, b: np.linalg.tensorsolve(a, b, axes=(1,)),
        np.moveaxis(regular(reals(6, 6)).reshape(2, 3, 6), 2, 1),
        reals(2, 3),
    ),
    case("tensorinv", lambda a: np.linalg.tensorinv(a, 1), regular(reals(4, 4)).reshape(4, 2, 2)),
]

DETERMINANTS = [
    case("det", np.linalg.det, reals(3, 3), covers=("det", "cofactors"), dtypes=SINGLE),
    case("det complex stack", np.linalg.det, complexes(2, 3, 3), order=3),
    case("det of a 1 x 1 matrix", np.linalg.det, np.array([[0.0]])),
    case("det of a singular matrix", np.linalg.det, np.array([[1.0, 2.0], [2.0, 4.0]])),
    case(
        "det of rank n - 1",
        np.linalg.det,
        np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [5.0, 7.0, 9.0]]),
        atol=1e-11,
    ),
    case(
        "det of rank n - 2", np.linalg.det, np.outer([1.0, 2.0, -1.0], [1.0, 0.5, 3.0]), atol=1e-11
    ),
    case(
        "gradient of det",
        lambda a, e: np.sum(np.linalg.det(a) * e) ** 2,
        reals(2, 3, 3),
        reals(2),
        covers=("cofactors",),
    ),
    case(
        "second derivative of det",
        lambda a, e: np.sum(stagrad.grad(np.linalg.det)(a) * e),
        reals(3, 3),
        reals(3, 3),
        covers=("cofactor_change",),
        order=1,
    ),
    case("slogdet", np.linalg.slogdet, reals(3, 3), covers=("slogdet",), dtypes=SINGLE),
    case("slogdet complex stack", np.linalg.slogdet, complexes(2, 3, 3)),
    case("slogdet negative", lambda a: np.linalg.slogdet(a)[1], np.array([[0.0, 2.0], [1.0, 3.0]])),
]

FACTORIZATIONS = [
    case(
        "cholesky",
        lambda a: np.linalg.cholesky(positive(a)),
        reals(3, 3),
        covers=("cholesky", "solve_triangular"),
        dtypes=SINGLE,
    ),
    case("cholesky complex stack", lambda a: np.linalg.cholesky(positive(a)), complexes(2, 3, 3)),
    case("cholesky upper", lambda a: np.linalg.cholesky(positive(a), upper=True), complexes(3, 3)),
    *(
        case(f"qr {kind} {shape}", np.linalg.qr, draw(*shape), covers=("qr",), dtypes=SINGLE)
        for kind, draw in (("real", reals), ("complex", complexes))
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2))
    ),
    case("qr r", lambda a: np.linalg.qr(a, "r"), reals(3, 2)),
    case("qr q", lambda a: np.linalg.qr(a)[0], reals(2, 4)),
    case("qr complete square", lambda a: np.linalg.qr(a, "complete"), reals(2, 3)),
    case("qr complete tall", lambda a: np.linalg.qr(a, "complete"), reals(4, 2), order=0),
]


def without_phase(v: Any, vh: Any = None) -> Any:
    """Return what does not depend on the phases of eigenvectors or singular vectors."""
    return (
        np.abs(v) if vh is None else v[..., :, None, :] * np.swapaxes(vh, -1, -2)[..., None, :, :]
    )


LEAST_SQUARES = [
    *(
        case(f"pinv {kind} {shape}", np.linalg.pinv, draw(*shape), covers=("pinv",), dtypes=SINGLE)
        for kind, draw in (("real", reals), ("complex", complexes))
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2))
    ),
    case(
        "pinv of a product of low rank",
        lambda a, b: np.linalg.pinv(a @ b, rcond=1e-10),
        reals(4, 2),
        reals(2, 3),
    ),
    case("pinv rtol", lambda a: np.linalg.pinv(a, rtol=None), reals(2, 3)),
    case("pinv hermitian", lambda a: np.linalg.pinv(positive(a), hermitian=True), reals(3, 3)),
    *(
        case(
            f"lstsq {kind} {shape}",
            lambda a, b: np.linalg.lstsq(a, b, rcond=None)[:2],
            draw(*shape),
            draw(shape[0], 2),
            covers=("lstsq",),
            dtypes=SINGLE,
        )
        for kind, draw in (("real", reals), ("complex", complexes))
        for shape in ((3, 3), (4, 2), (2, 4))
    ),
    case(
        "lstsq vector",
        lambda a, b: np.linalg.lstsq(a, b, rcond=1e-9),
        reals(5, 2),
        reals(5),
        dtypes=SINGLE,
    ),
    case(
        "lstsq of low rank",
        lambda a, b, c: np.linalg.lstsq(a @ b, c, rcond=1e-9)[0],
        reals(4, 2),
        reals(2, 3),
        reals(4),
    ),
]

NORMS = [
    *(
        case(
            f"norm vector ord={order} {kind}",
            lambda x, order=order: np.linalg.norm(x, ord=order),
            draw(4),
            dtypes=SINGLE,
        )
        for kind, draw in (("real", reals), ("complex", complexes))
        for order in (None, 1, 2, 3, 0.5, -1, 2.5, np.inf, -np.inf, 0)
    ),
    *(
        case(
            f"norm matrix ord={order} {kind}",
            lambda x, order=order: np.linalg.norm(x, ord=order),
            spread(draw(3, 4)),
            dtypes=SINGLE,
        )
        for kind, draw in (("real", reals), ("complex", complexes))
        for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
    ),
    *(
        case(
            f"norm ord={order} axis={axis}",
            lambda x, order=order, axis=axis: np.linalg.norm(x, order, axis, True),
            reals(2, 3, 4),
            dtypes=SINGLE,
        )
        for order, axis in (
            (None, 1),
            (3, -1),
            (np.inf, 0),
            (None, (0, 2)),
            ("nuc", (2, 0)),
            (1, (0, 2)),
            (1, (2, 1)),
            (-np.inf, (2, 0)),
        )
    ),
    case("norm of everything", np.linalg.norm, reals(2, 3, 2)),
    case("norm keepdims", lambda x: np.linalg.norm(x, keepdims=True), reals(2, 2)),
    case("norm of integers", np.linalg.norm, np.arange(4), order=0),
    case("vector_norm", lambda x: np.linalg.vector_norm(x, axis=(0, 1)), reals(2, 3, 2)),
    case("vector_norm ord", lambda x: np.linalg.vector_norm(x, ord=3, keepdims=True), reals(2, 3)),
    case("matrix_norm", lambda x: np.linalg.matrix_norm(x, ord=1), reals(2, 3, 2)),
    *(
        case(
            f"cond p={order}",
            lambda a, order=order: np.linalg.cond(a, order),
            regular(reals(3, 3)),
            edges=((np.ones((2, 2)),), (np.zeros((2, 3, 3)),)),
        )
        for order in (None, 2, -2, 1, np.inf, "fro")
    ),
    case(
        "matrix_rank",
        lambda a: (np.linalg.matrix_rank(a), np.linalg.matrix_rank(a @ adjoint(a), hermitian=True)),
        reals(2, 3, 2) @ reals(2, 3),
        order=0,
    ),
    case("matrix_rank of a vector", np.linalg.matrix_rank, np.zeros(3), order=0),
    case(
        "matrix_rank tol", lambda a: np.linalg.matrix_rank(a, tol=0.5), np.diag([2.0, 0.1]), order=0
    ),
]

FUNCTIONS = [
    *(
        case(
            f"matrix_power {n}",
            lambda a, n=n: np.linalg.matrix_power(a, n),
            regular(reals(2, 3, 3)),
        )
        for n in (-2, -1, 0, 1, 2, 3, 6)
    ),
    case(
        "matrix_power of integers",
        lambda a: np.linalg.matrix_power(a, 5),
        np.arange(4).reshape(2, 2),
        order=0,
    ),
    case("trace", np.trace, reals(3, 3), dtypes=SINGLE),
    case("trace tall", np.trace, reals(4, 2)),
    case("trace offset", lambda a: np.trace(a, 1, 2, 0), reals(3, 2, 4)),
    case("trace offset below", lambda a: np.trace(a, offset=-2), reals(4, 3)),
    case(
        "trace dtype",
        lambda a: np.trace(a, dtype=np.float64),
        reals(2, 2).astype("float32"),
        order=0,
    ),
    case("trace of integers", np.trace, np.arange(9, dtype=np.int8).reshape(3, 3), order=0),
    case("linalg.trace", lambda a: np.linalg.trace(a, offset=1), reals(2, 3, 4)),
]

CASES = [
    *SOLVING,
    *DETERMINANTS,
    *FACTORIZATIONS,
    *LEAST_SQUARES,
    *NORMS,
    *FUNCTIONS,
]
