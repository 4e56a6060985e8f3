"""Rows of eigenvalues and singular values, and of functions of matrices spelled through them."""

from typing import Any

import numpy as np

from stagrad.ops.linalg.spectral import hermitian_function
from tests.op_cases.linalg import (
    ANY_ZERO,
    SINGLE,
    adjoint,
    case,
    complexes,
    hermitian,
    reals,
    spread,
    without_phase,
)


def eigh_parts(a: Any, uplo: str = "L") -> Any:
    w, v = np.linalg.eigh(hermitian(a), uplo)
    return w, without_phase(v)


def eig_parts(a: Any) -> Any:
    """Return eigenvalues in an order that does not depend on LAPACK, and moduli of vectors."""
    w, v = np.linalg.eig(a)
    return w * 1.0, np.abs(v)


def svd_parts(a: Any, full_matrices: bool = False) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=full_matrices)
    k = s.shape[-1]
    left, right = u[..., k:], vh[..., k:, :]
    return (
        s,
        without_phase(u[..., :k], vh[..., :k, :]),
        left @ adjoint(left),
        adjoint(right) @ right,
    )


SPECTRA = [
    case("eigh", eigh_parts, spread(reals(3, 3)), covers=("eigh",), dtypes=SINGLE),
    case("eigh upper", lambda a: eigh_parts(a, "U"), spread(reals(3, 3))),
    case("eigh complex stack", eigh_parts, spread(complexes(2, 3, 3))),
    case("eigh result", lambda a: np.linalg.eigh(hermitian(a)), reals(3, 3), order=0),
    case(
        "eigvalsh",
        lambda a: np.linalg.eigvalsh(hermitian(a)),
        spread(reals(3, 3)),
        covers=("eigvalsh", "eigh"),
        dtypes=SINGLE,
    ),
    case(
        "eigvalsh complex stack",
        lambda a: np.linalg.eigvalsh(hermitian(a), "U"),
        spread(complexes(2, 3, 3)),
    ),
    case("eig", eig_parts, spread(complexes(3, 3)), covers=("eig",), dtypes=SINGLE),
    case("eig stack", eig_parts, spread(complexes(2, 2, 2))),
    case(
        "eig of a rotation",
        lambda a: (lambda w, v: (w, np.abs(v)))(*np.linalg.eig(a)),
        np.array([[1.0, 2.0, 0.3], [-3.0, 1.5, 0.2], [0.1, 0.4, 7.0]]),
    ),
    case(
        "eigvals",
        lambda a: np.linalg.eigvals(a),
        np.array([[1.0, 2.0, 0.3], [-3.0, 1.5, 0.2], [0.1, 0.4, 7.0]]),
        covers=("eigvals",),
        dtypes=SINGLE,
    ),
    case("eigvals complex", lambda a: np.linalg.eigvals(a), spread(complexes(2, 3, 3))),
    *(
        case(f"svd {kind} {shape}", svd_parts, spread(draw(*shape)), covers=("svd",), dtypes=SINGLE)
        for kind, draw in (("real", reals), ("complex", complexes))
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2))
    ),
    *(
        case(f"svd full {kind} {shape}", lambda a: svd_parts(a, True), spread(draw(*shape)))
        for kind, draw in (("real", reals), ("complex", complexes))
        for shape in ((5, 2), (2, 4), (3, 3))
    ),
    case("svd result", np.linalg.svd, reals(3, 2), order=0),
    case(
        "svd values only",
        lambda a: np.linalg.svd(a, compute_uv=False),
        spread(reals(3, 4)),
        covers=("svdvals",),
        dtypes=SINGLE,
    ),
    case("svdvals complex", np.linalg.svdvals, spread(complexes(2, 3, 3))),
    case(
        "svd hermitian",
        lambda a: (lambda u, s, vh: (s, without_phase(u, vh)))(
            *np.linalg.svd(hermitian(a), hermitian=True)
        ),
        np.diag([1.0, -3.0, 2.0]) + 0.1 * reals(3, 3),
    ),
    case(
        "svd hermitian values",
        lambda a: np.linalg.svd(hermitian(a), compute_uv=False, hermitian=True),
        np.diag([1.0, -3.0, 2.0]) + 0.1 * reals(3, 3),
    ),
]


def smooth_function(a: Any) -> Any:
    """Return exp(a) of a Hermitian matrix, told to be a function of it."""
    a = hermitian(a)
    w, v = np.linalg.eigh(a)
    return hermitian_function(a, w, v, np.exp(w), np.exp(w))


def spelled_function(a: Any) -> Any:
    w, v = np.linalg.eigh(hermitian(a))
    return (v * np.exp(w)) @ adjoint(v)


REPEATED = np.diag([1.0, 1.0, 2.0])
TURN = np.linalg.qr(complexes(3, 3))[0]

SPECTRAL = [
    case(
        "hermitian_function",
        smooth_function,
        spread(reals(3, 3)),
        covers=("hermitian_function",),
        dtypes=SINGLE,
    ),
    case("hermitian_function complex stack", smooth_function, spread(complexes(2, 3, 3))),
    case("hermitian_function of equal eigenvalues", smooth_function, REPEATED, order=1),
    case("hermitian product", spelled_function, spread(complexes(3, 3))),
    case(
        "hermitian product of equal eigenvalues",
        spelled_function,
        TURN @ REPEATED @ adjoint(TURN),
        order=1,
    ),
    case(
        "projector on equal eigenvalues",
        lambda a: (lambda v: v[:, :2] @ adjoint(v[:, :2]))(np.linalg.eigh(hermitian(a))[1]),
        REPEATED,
        order=1,
        tags=ANY_ZERO | {"reverse only"},
    ),
]

CASES = [*SPECTRA, *SPECTRAL]
