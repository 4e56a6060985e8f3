"""Rows of scipy.linalg's functions."""

from typing import Any

import numpy as np
import scipy.linalg

from tests.op_cases.case import Case
from tests.op_cases.linalg import (
    case,
    complexes,
    hermitian,
    positive,
    reals,
    regular,
    spread,
    without_phase,
)

BANDS = reals(4, 5) + np.array([[0.0], [5.0], [0.0], [0.0]])
SINGLE = ("float32",)


def cho_solution(a: Any, b: Any, lower: bool) -> Any:
    return scipy.linalg.cho_solve(scipy.linalg.cho_factor(positive(a), lower), b)


def lu_solution(a: Any, b: Any, trans: int) -> Any:
    return scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b, trans)


def pair_problem(a: Any, b: Any) -> Any:
    w, v = scipy.linalg.eigh(hermitian(a), positive(b))
    return w, np.abs(v)


SOLVERS = [
    *(
        case(
            f"scipy solve {options}",
            lambda a, b, options=options: scipy.linalg.solve(a, b, **options),
            regular(reals(3, 3)),
            reals(3, 2),
        )
        for options in (
            {},
            {"transposed": True},
            {"assume_a": "lower triangular"},
            {"assume_a": "upper triangular"},
        )
    ),
    case(
        "scipy solve positive",
        lambda a, b: scipy.linalg.solve(positive(a), b, assume_a="pos"),
        complexes(3, 3),
        complexes(3),
    ),
    case(
        "scipy solve symmetric",
        lambda a, b: scipy.linalg.solve(hermitian(a), b, assume_a="sym"),
        regular(reals(3, 3)),
        reals(3),
    ),
    case(
        "scipy solve hermitian",
        lambda a, b: scipy.linalg.solve(hermitian(a), b, assume_a="her", lower=True),
        regular(complexes(3, 3)),
        reals(3),
    ),
    *(
        case(
            f"scipy solve_triangular {options}",
            lambda a, b, options=options: scipy.linalg.solve_triangular(a, b, **options),
            regular(draw(3, 3)),
            draw(3, 2),
            covers=("solve_triangular",),
            dtypes=SINGLE,
        )
        for draw in (reals, complexes)
        for options in (
            {"lower": draw is reals},
            {"trans": 1, "lower": draw is reals},
            {"trans": "C", "unit_diagonal": True, "check_finite": draw is reals},
        )
    ),
    case(
        "scipy solve_triangular vector",
        lambda a, b: scipy.linalg.solve_triangular(a, b, lower=True),
        regular(reals(3, 3)),
        reals(3),
    ),
    *(
        case(
            f"scipy cho_solve lower={lower}",
            lambda a, b, lower=lower: cho_solution(a, b, lower),
            complexes(3, 3),
            complexes(3, 2),
        )
        for lower in (False, True)
    ),
    case("scipy cholesky", lambda a: scipy.linalg.cholesky(positive(a)), reals(3, 3)),
    *(
        case(
            f"scipy lu_solve trans={trans}",
            lambda a, b, trans=trans: lu_solution(a, b, trans),
            complexes(3, 3),
            complexes(3),
            covers=("lu_factor", "pivot_order"),
        )
        for trans in (0, 1, 2)
    ),
    case("scipy lu", scipy.linalg.lu, reals(4, 4), dtypes=SINGLE),
    case("scipy lu permute_l", lambda a: scipy.linalg.lu(a, permute_l=True), reals(4, 4)),
    case("scipy lu p_indices", lambda a: scipy.linalg.lu(a, p_indices=True), reals(4, 4)),
    case(
        "scipy solve_banded",
        lambda ab, b: scipy.linalg.solve_banded((2, 1), ab, b),
        BANDS,
        reals(5),
        covers=("solve_banded",),
        dtypes=SINGLE,
    ),
    case(
        "scipy solve_banded matrix",
        lambda ab, b: scipy.linalg.solve_banded((1, 2), ab, b),
        BANDS[::-1] + 0j,
        complexes(5, 2),
    ),
    *(
        case(
            f"scipy solveh_banded lower={lower}",
            lambda ab, b, lower=lower: scipy.linalg.solveh_banded(ab, b, lower=lower),
            np.stack([reals(4), reals(4), 9 + reals(4)])[:: -1 if lower else 1],
            reals(4),
        )
        for lower in (False, True)
    ),
    case("scipy solve_toeplitz", scipy.linalg.solve_toeplitz, 3.0 / np.arange(1, 5), reals(4)),
    case(
        "scipy solve_sylvester",
        scipy.linalg.solve_sylvester,
        regular(reals(3, 3)),
        regular(reals(2, 2)),
        reals(3, 2),
        covers=("solve_sylvester",),
        dtypes=SINGLE,
    ),
    case(
        "scipy solve_sylvester complex",
        scipy.linalg.solve_sylvester,
        regular(complexes(2, 2)),
        regular(complexes(3, 3)),
        complexes(2, 3),
    ),
    case(
        "scipy solve_continuous_lyapunov",
        scipy.linalg.solve_continuous_lyapunov,
        regular(complexes(3, 3)),
        complexes(3, 3),
    ),
    case(
        "scipy solve_discrete_lyapunov",
        scipy.linalg.solve_discrete_lyapunov,
        0.3 * reals(3, 3),
        reals(3, 3),
    ),
]

DECOMPOSITIONS = [
    case("scipy inv", scipy.linalg.inv, regular(reals(3, 3))),
    case("scipy det", scipy.linalg.det, reals(3, 3)),
    case("scipy pinv", scipy.linalg.pinv, reals(3, 2)),
    case("scipy pinvh", lambda a: scipy.linalg.pinvh(positive(a)), reals(3, 3)),
    case("scipy lstsq", lambda a, b: scipy.linalg.lstsq(a, b)[:2], reals(4, 2), reals(4)),
    case("scipy norm", lambda a: scipy.linalg.norm(a, 1), reals(3, 2)),
    case("scipy svdvals", scipy.linalg.svdvals, spread(reals(3, 2))),
    case(
        "scipy svd",
        lambda a: (lambda u, s, vh: (s, without_phase(u, vh)))(
            *scipy.linalg.svd(a, full_matrices=False)
        ),
        spread(reals(3, 2)),
    ),
    case("scipy svd values", lambda a: scipy.linalg.svd(a, compute_uv=False), spread(reals(3, 2))),
    case("scipy qr economic", lambda a: scipy.linalg.qr(a, mode="economic"), reals(3, 2)),
    case("scipy qr full", scipy.linalg.qr, reals(3, 2), order=0),
    case("scipy qr r", lambda a: scipy.linalg.qr(a, mode="r"), reals(2, 3)),
    case("scipy eigh of a pair", pair_problem, spread(reals(3, 3)), reals(3, 3)),
    case(
        "scipy eigh subset",
        lambda a: scipy.linalg.eigh(hermitian(a), eigvals_only=True, subset_by_index=[1, 2]),
        spread(complexes(3, 3)),
    ),
    case(
        "scipy eigvalsh",
        lambda a: scipy.linalg.eigvalsh(hermitian(a), lower=False),
        spread(reals(3, 3)),
    ),
    case("scipy eigvals", scipy.linalg.eigvals, spread(reals(3, 3))),
    case(
        "scipy eig",
        lambda a: (lambda w, v: (w, np.abs(v)))(*scipy.linalg.eig(a)),
        spread(reals(3, 3)),
    ),
    case("scipy polar", scipy.linalg.polar, spread(reals(3, 3))),
    case("scipy polar left", lambda a: scipy.linalg.polar(a, "left"), spread(complexes(2, 3))),
]

MATRICES = [
    case("scipy expm", scipy.linalg.expm, reals(3, 3), covers=("expm",), dtypes=SINGLE, rtol=1e-10),
    case("scipy expm complex stack", scipy.linalg.expm, complexes(2, 3, 3)),
    case(
        "scipy logm",
        lambda a: scipy.linalg.logm(positive(a)),
        reals(3, 3),
        covers=("logm",),
        dtypes=SINGLE,
    ),
    case("scipy logm complex", scipy.linalg.logm, regular(complexes(3, 3))),
    case(
        "scipy sqrtm",
        lambda a: scipy.linalg.sqrtm(positive(a)),
        reals(3, 3),
        covers=("sqrtm",),
        dtypes=SINGLE,
    ),
    case("scipy sqrtm complex", scipy.linalg.sqrtm, regular(complexes(3, 3))),
    case("scipy block_diag", scipy.linalg.block_diag, reals(2, 1), reals(3), complexes(1, 2)),
    case("scipy toeplitz", scipy.linalg.toeplitz, complexes(3)),
    case("scipy toeplitz both", scipy.linalg.toeplitz, reals(3), reals(4)),
    case("scipy circulant", scipy.linalg.circulant, reals(4)),
    case("scipy hankel", scipy.linalg.hankel, reals(3)),
    case("scipy hankel both", scipy.linalg.hankel, reals(3), reals(4)),
    case("scipy khatri_rao", scipy.linalg.khatri_rao, reals(2, 3), reals(4, 3)),
]

CASES: list[Case] = [*SOLVERS, *DECOMPOSITIONS, *MATRICES]
