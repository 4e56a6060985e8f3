"""Rows of matrix products and of everything that is made of them."""

import numpy as np

from tests.op_cases.case import Case, rng

NOISE = rng("contraction")
TOLERANT = {"rtol": 1e-12, "atol": 1e-13}


def reals(*shape: int) -> np.ndarray:
    return NOISE.standard_normal(shape)


def complexes(*shape: int) -> np.ndarray:
    return reals(*shape) + 1j * reals(*shape)


INTEGERS = np.arange(6).reshape(2, 3), np.arange(12).reshape(3, 4) - 5
BOOLEANS = np.eye(3, dtype=bool), np.arange(6).reshape(3, 2) % 3 > 0

MATMUL = [
    Case(
        name="matmul matrices",
        function=np.matmul,
        operands=(reals(3, 4), reals(4, 2)),
        covers=("matmul",),
        dtypes=("float32", "float16", "complex64"),
        edges=(
            INTEGERS,
            BOOLEANS,
            (np.zeros((2, 0)), np.zeros((0, 3))),
            (np.zeros((0, 2)), reals(2, 2)),
        ),
        **TOLERANT,
    ),
    Case(
        name="matmul complex",
        function=lambda a, b: a @ b,
        operands=(complexes(3, 4), complexes(4, 2)),
        edges=((complexes(2, 2), reals(2, 2)), (np.arange(4).reshape(2, 2), complexes(2, 2))),
        **TOLERANT,
    ),
    Case(
        name="matmul real with complex",
        function=np.matmul,
        operands=(reals(2, 3), complexes(3, 2)),
        **TOLERANT,
    ),
    *(
        Case(
            name=f"matmul {left} {right}",
            function=np.matmul,
            operands=(reals(*left), reals(*right)),
            **TOLERANT,
        )
        for left, right in (
            ((5,), (5,)),
            ((3, 5), (5,)),
            ((5,), (5, 2)),
            ((3,), (4, 3, 2)),
            ((4, 2, 3), (3,)),
        )
    ),
    Case(
        name="matmul stacks",
        function=np.matmul,
        operands=(reals(2, 3, 4), reals(2, 4, 2)),
        dtypes=("float32",),
        **TOLERANT,
    ),
    Case(
        name="matmul stack and matrix",
        function=np.matmul,
        operands=(reals(2, 5, 3, 4), reals(1, 4, 2)),
        **TOLERANT,
    ),
    Case(
        name="matmul tall matrix and stack",
        function=np.matmul,
        operands=(reals(9, 3), reals(2, 1, 3, 2)),
        **TOLERANT,
    ),
    Case(
        name="matmul short matrix and stack",
        function=np.matmul,
        operands=(reals(2, 3), reals(2, 2, 3, 2)),
        **TOLERANT,
    ),
    Case(
        name="matmul broadcast both ways",
        function=np.matmul,
        operands=(reals(2, 1, 2, 3), reals(3, 3, 1)),
        **TOLERANT,
    ),
]

PRODUCTS = [
    *(
        Case(
            name=f"dot {len(left)}d {len(right)}d",
            function=np.dot,
            operands=(reals(*left), reals(*right)),
            edges=((np.full(left, 2), np.full(right, 3)),),
            **TOLERANT,
        )
        for left in ((), (3,), (2, 3), (2, 2, 3))
        for right in ((), (3,), (3, 2), (2, 3, 2))
    ),
    *(
        Case(
            name=f"inner {len(left)}d {len(right)}d",
            function=np.inner,
            operands=(reals(*left), reals(*right)),
            **TOLERANT,
        )
        for left in ((), (3,), (2, 3), (2, 2, 3))
        for right in ((), (3,), (4, 3))
    ),
    Case(name="vdot", function=np.vdot, operands=(complexes(2, 3), complexes(3, 2)), **TOLERANT),
    Case(
        name="outer of arrays",
        function=np.outer,
        operands=(reals(2, 2), reals(3)),
        dtypes=("float32",),
    ),
    Case(
        name="linalg.outer", function=np.linalg.outer, operands=(reals(2), complexes(3)), **TOLERANT
    ),
    *(
        Case(
            name=f"tensordot axes={axes}",
            function=lambda a, b, axes=axes: np.tensordot(a, b, axes=axes),
            operands=(reals(3, 2, 3), reals(3, 2, 3)),
            dtypes=("float32",),
            **TOLERANT,
        )
        for axes in (0, 1, 3, (0, 0), ([0, 1], [2, 1]), ((-1,), (0,)), ([], []))
    ),
    Case(
        name="tensordot complex",
        function=lambda a, b: np.tensordot(a, b, axes=2),
        operands=(complexes(4, 2, 3), complexes(2, 3, 2)),
        **TOLERANT,
    ),
    Case(
        name="vecdot",
        function=lambda a, b: np.vecdot(a, b),
        operands=(complexes(2, 3), complexes(3)),
        **TOLERANT,
    ),
    Case(name="vecdot vectors", function=np.vecdot, operands=(complexes(3), reals(3)), **TOLERANT),
    Case(
        name="linalg.vecdot axis",
        function=lambda a, b: np.linalg.vecdot(a, b, axis=0),
        operands=(reals(3, 2), reals(3, 2)),
        **TOLERANT,
    ),
    Case(name="matvec", function=np.matvec, operands=(reals(4, 2, 3), reals(4, 3)), **TOLERANT),
    Case(name="vecmat", function=np.vecmat, operands=(complexes(2), complexes(2, 3)), **TOLERANT),
    Case(
        name="cross",
        function=np.cross,
        operands=(reals(2, 3), reals(3)),
        dtypes=("float32",),
        **TOLERANT,
    ),
    Case(
        name="cross axes",
        function=lambda a, b: np.cross(a, b, axisa=0, axisb=1, axisc=0),
        operands=(reals(3, 2), reals(2, 3)),
        **TOLERANT,
    ),
    Case(
        name="linalg.cross",
        function=lambda a, b: np.linalg.cross(a, b, axis=0),
        operands=(reals(3, 2), complexes(3, 2)),
        **TOLERANT,
    ),
    Case(
        name="multi_dot",
        function=lambda *arrays: np.linalg.multi_dot(arrays),
        operands=(reals(2), reals(2, 5), reals(5, 3), reals(3, 2)),
        **TOLERANT,
    ),
    Case(
        name="multi_dot vector last",
        function=lambda *arrays: np.linalg.multi_dot(arrays),
        operands=(reals(4, 2), reals(2, 3), reals(3)),
        **TOLERANT,
    ),
]


def einsum_case(subscripts: str, *shapes: tuple[int, ...], complex_numbers: bool = False) -> Case:
    draw = complexes if complex_numbers else reals
    return Case(
        name=f"einsum {subscripts}{' complex' if complex_numbers else ''} {shapes}",
        function=lambda *arrays: np.einsum(subscripts, *arrays),
        operands=tuple(draw(*shape) for shape in shapes),
        dtypes=("float32",),
        edges=(tuple(np.full(shape, 2) for shape in shapes),),
        **TOLERANT,
    )


EINSUM = [
    einsum_case("i->", (4,)),
    einsum_case("ii->", (3, 3)),
    einsum_case("ii", (3, 3)),
    einsum_case("ii->i", (3, 3)),
    einsum_case("iii->i", (2, 2, 2)),
    einsum_case("iij->ij", (2, 2, 3)),
    einsum_case("jii->ij", (3, 2, 2)),
    einsum_case("iijj->ij", (2, 2, 3, 3)),
    einsum_case("ij->ji", (2, 3)),
    einsum_case("ba", (2, 3)),
    einsum_case("ij->", (2, 3)),
    einsum_case("abcd->bd", (2, 3, 2, 2)),
    einsum_case("ij,jk->ik", (2, 3), (3, 4)),
    einsum_case("ij,jk", (2, 3), (3, 4), complex_numbers=True),
    einsum_case("ij,jk->ki", (2, 3), (3, 4)),
    einsum_case("ji,jk->ik", (3, 2), (3, 4)),
    einsum_case("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
    einsum_case("ijb,bkj->bki", (2, 3, 2), (2, 4, 3)),
    einsum_case("bi,bi->b", (2, 3), (2, 3)),
    einsum_case("bi,bi->bi", (2, 3), (2, 3)),
    einsum_case("i,i->", (4,), (4,)),
    einsum_case("i,j->ij", (2,), (3,)),
    einsum_case("i,j->ji", (2,), (3,)),
    einsum_case("i,j->", (2,), (3,)),
    einsum_case("nd,nn->d", (2, 3), (2, 2)),
    einsum_case("ab,abcc->a", (2, 3), (2, 3, 2, 2)),
    einsum_case("i,i->", (2,), (1,)),
    einsum_case("ij,jk->ik", (1, 3), (1, 4)),
    einsum_case("ij,ij->ij", (2, 1), (1, 3)),
    einsum_case("...ij,...jk->...ik", (2, 2, 3), (3, 2)),
    einsum_case("...ij,...jk", (2, 1, 2, 3), (3, 3, 2)),
    einsum_case("i...,i...->...", (2, 3), (2, 4, 1)),
    einsum_case("...i->...", (2, 3, 4)),
    einsum_case("...->...", (2, 3)),
    einsum_case("i...i", (2, 3, 2)),
    einsum_case(" i j , j k -> i k ", (2, 3), (3, 2)),
    einsum_case(",ij->ij", (), (2, 3)),
    einsum_case("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    einsum_case("ij,jk,ki->", (2, 3), (3, 4), (4, 2)),
    einsum_case("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 2, 2, 4)),
    einsum_case("i,j,k->kij", (2,), (3,), (2,)),
    einsum_case("ii,ij,jj->i", (2, 2), (2, 3), (3, 3)),
    einsum_case("ij,kj,kl->il", (2, 3), (2, 3), (2, 3), complex_numbers=True),
    einsum_case("a,b,a,b->ab", (2,), (3,), (2,), (1,)),
    Case(
        name="einsum sublists",
        function=lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [2, 0]),
        operands=(reals(2, 3), reals(3, 4)),
        **TOLERANT,
    ),
    Case(
        name="einsum sublists with ellipsis, implicit",
        function=lambda a, b: np.einsum(a, [..., 1], b, [1, 0]),
        operands=(reals(2, 3), reals(3, 4)),
        **TOLERANT,
    ),
    Case(
        name="einsum optimize path",
        function=lambda a, b, c: np.einsum(
            "ij,jk,kl->il", a, b, c, optimize=["einsum_path", (1, 2), (0, 1)]
        ),
        operands=(reals(2, 3), reals(3, 4), reals(4, 2)),
        **TOLERANT,
    ),
    Case(
        name="einsum optimize optimal",
        function=lambda a, b, c: np.einsum("ij,jk,kl->il", a, b, c, optimize="optimal"),
        operands=(reals(2, 3), reals(3, 4), reals(4, 2)),
        **TOLERANT,
    ),
    Case(
        name="einsum dtype",
        function=lambda a, b: np.einsum("i,i->", a, b, dtype="complex128"),
        operands=(reals(3), reals(3)),
        **TOLERANT,
    ),
    Case(
        name="einsum mixed",
        function=lambda a, b: np.einsum("ij,j->i", a, b),
        operands=(reals(2, 3), complexes(3)),
        **TOLERANT,
    ),
    Case(
        name="einsum booleans",
        function=lambda a, b: np.einsum("ij,jk->ik", a, b),
        operands=BOOLEANS,
        order=0,
    ),
]

CASES = [*MATMUL, *PRODUCTS, *EINSUM]
