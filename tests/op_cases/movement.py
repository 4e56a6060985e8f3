"""Rows of shape functions, repetition, padding and diagonals: elements move, none is computed."""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.ops.recompute import recompute
from tests.op_cases.case import Case, rng

NOISE = rng("movement")
DTYPES = ("float32", "complex64")


def reals(*shape: int) -> np.ndarray:
    return NOISE.standard_normal(shape)


def row(
    name: str,
    function: Callable[..., Any],
    *operands: np.ndarray,
    covers: tuple[str, ...] = (),
    **fields: Any,
) -> Case:
    fields = {"rtol": 0.0, "dtypes": DTYPES, **fields}
    return Case(name=name, function=function, operands=operands, covers=covers, **fields)


MATRIX = reals(3, 4)
CUBE = reals(2, 3, 4)
VECTOR = reals(5)
SCALAR = np.array(1.5)
EMPTY = np.zeros((0, 3))

SHAPES = [
    row("astype", lambda x: x.astype("float32") * 2, MATRIX, covers=("astype",), order=0),
    row("astype to complex", lambda x: np.astype(x, complex) * (1 + 2j), MATRIX, dtypes=()),
    row("astype drops the imaginary part", lambda x: x.real.astype(float), reals(3) + 1j),
    row("reshape", lambda x: np.reshape(x, (2, -1)), MATRIX, covers=("reshape",)),
    row("reshape in Fortran's order", lambda x: np.reshape(x, (2, 6), order="F"), MATRIX),
    row("reshape method", lambda x: x.reshape(4, 3) + x.reshape((4, -1)), MATRIX),
    row("reshape to 0-d", lambda x: x.reshape(()), reals(1, 1)),
    row("reshape of nothing", lambda x: x.reshape(3, 0, 2), EMPTY, order=1),
    row("ravel", lambda x: np.ravel(x) * x.ravel("F") * x.flatten(), MATRIX),
    row("flatten in Fortran's order", lambda x: x.flatten("F"), CUBE),
    row("transpose", lambda x: np.transpose(x, (2, 0, 1)), CUBE, covers=("transpose",)),
    row("transpose reversing", lambda x: x.T * np.transpose(x), CUBE),
    row("transpose method", lambda x: x.transpose(1, 0, 2) + x.transpose((1, -3, 2)), CUBE),
    row("permute_dims", lambda x: np.permute_dims(x, (1, 0, -1)), CUBE),
    row("matrix_transpose", lambda x: np.matrix_transpose(x) * x.mT, CUBE),
    row("swapaxes", lambda x: np.swapaxes(x, 0, -1) * x.swapaxes(-1, 0), CUBE),
    row("moveaxis", lambda x: np.moveaxis(x, [0, -1], [-1, 0]), CUBE),
    row("rollaxis", lambda x: np.rollaxis(x, 2) + np.rollaxis(np.rollaxis(x, 2), 0, 1), CUBE),
    row("squeeze", lambda x: np.squeeze(x) * np.squeeze(x, (0, -1)), reals(1, 3, 1)),
    row("expand_dims", lambda x: np.expand_dims(x, (0, -1)) * np.expand_dims(x, 1), MATRIX),
    row(
        "broadcast_to",
        lambda x: np.broadcast_to(x, (2, 3, 4)),
        reals(3, 1),
        covers=("broadcast_to",),
        edges=((SCALAR,),),
    ),
    row("broadcast_to nothing", lambda x: np.broadcast_to(x, (0, 3)), reals(1, 3), order=1),
    row(
        "broadcast_arrays",
        lambda x, y: np.broadcast_arrays(x, y, 2.0),
        reals(3, 1),
        reals(1, 4),
    ),
    row("atleast_1d", lambda x, y: np.atleast_1d(x, y), SCALAR, VECTOR),
    row("atleast_2d", lambda x, y: np.atleast_2d(x, y), SCALAR, VECTOR),
    row("atleast_3d", lambda x, y, z: np.atleast_3d(x, y, z), SCALAR, VECTOR, MATRIX),
    row("atleast_3d of one", lambda x: np.atleast_3d(x), VECTOR),
    row("flip", lambda x: np.flip(x) * np.flip(x, (0, -1)), CUBE, covers=("slice",)),
    row("flip of one", lambda x: np.flip(x, 0), reals(1, 3), edges=((EMPTY,),)),
    row("fliplr", lambda x: np.fliplr(x) * np.flipud(x), MATRIX),
    *(row(f"rot90({k})", lambda x, k=k: np.rot90(x, k), MATRIX) for k in range(-1, 4)),
    row("rot90 of other axes", lambda x: np.rot90(x, 1, (2, 0)), CUBE),
]

REPEATING = [
    *(
        row(f"tile({reps})", lambda x, reps=reps: np.tile(x, reps), MATRIX)
        for reps in (2, (2, 3), (2, 1, 3), 0, (1, 0))
    ),
    row("tile of a scalar", lambda x: np.tile(x, 3), SCALAR),
    row("repeat", lambda x: np.repeat(x, 2), MATRIX),
    row("repeat along an axis", lambda x: x.repeat(3, axis=-1), CUBE),
    row("repeat each", lambda x: np.repeat(x, [2, 0, 3], axis=0), MATRIX),
    row("repeat each of a vector", lambda x: np.repeat(x, np.array([2, 0, 3, 1, 1])), VECTOR),
    row("repeat none", lambda x: np.repeat(x, 0, axis=1), MATRIX),
    *(row(f"roll({shift})", lambda x, s=shift: np.roll(x, s), MATRIX) for shift in (0, 2, -5, 13)),
    row("roll along an axis", lambda x: np.roll(x, -1, axis=1), MATRIX, edges=((EMPTY,),)),
    row("roll along axes", lambda x: np.roll(x, (1, -2), axis=(0, 1)), MATRIX),
    row("roll by one, along axes", lambda x: np.roll(x, 1, axis=(0, -1)), CUBE),
    row("roll twice along one axis", lambda x: np.roll(x, (1, 1), axis=(0, 0)), MATRIX),
    row("roll by a traced shift", lambda x, s: np.roll(x, s), MATRIX, np.array(4)),
    row("resize", lambda x: np.resize(x, (3, 5)), MATRIX),
    row("resize to less", lambda x: np.resize(x, 5), MATRIX, edges=((EMPTY,),)),
    row("delete", lambda x: np.delete(x, 1, axis=0), MATRIX),
    row("delete several", lambda x: np.delete(x, [0, -1, 0]), VECTOR),
    row("delete a slice", lambda x: np.delete(x, slice(None, None, 2), axis=1), MATRIX),
    row("delete by a mask", lambda x: np.delete(x, np.array([True, False, True]), 0), MATRIX),
    row("insert", lambda x, v: np.insert(x, 1, v, axis=1), MATRIX, reals(3)),
    row("insert a scalar", lambda x, v: np.insert(x, 2, v), VECTOR, SCALAR),
    row("insert several", lambda x, v: np.insert(x, [0, 2, 2], v), VECTOR, reals(3)),
    row("insert rows", lambda x, v: np.insert(x, [1, -1], v, axis=0), MATRIX, reals(2, 4)),
    row("insert one value in places", lambda x, v: np.insert(x, slice(0, 4, 2), v), VECTOR, SCALAR),
    row("insert many at one place", lambda x, v: np.insert(x, [1], v), VECTOR, reals(3)),
    row("append", lambda x, v: np.append(x, v), MATRIX, VECTOR),
    row("append along an axis", lambda x, v: np.append(x, v, axis=0), MATRIX, reals(2, 4)),
]


def padding(mode: str, operand: np.ndarray, width: Any, order: int = 2, **settings: Any) -> Case:
    shown = "".join(f", {key}={value}" for key, value in settings.items())
    return row(
        f"pad({list(operand.shape)}, {width}, {mode}{shown})",
        lambda x: np.pad(x, width, mode, **settings),
        operand,
        covers=("pad",) if mode == "constant" and not settings else (),
        dtypes=("float32",),
        rtol=1e-14,
        order=order,
    )


UNEVEN = ((1, 2), (3, 0))
PADDING = [
    padding("constant", MATRIX, 2),
    padding("constant", MATRIX, UNEVEN),
    padding("constant", VECTOR, (2, 0), constant_values=(1.5, 2.5)),
    padding("constant", MATRIX, UNEVEN, constant_values=((1, 2), (3, 4))),
    padding("constant", np.zeros((0, 2)), 1),
    padding("empty", VECTOR, 0),
    *(padding(mode, MATRIX, UNEVEN) for mode in ("edge", "wrap")),
    *(padding(mode, VECTOR, (7, 12)) for mode in ("edge", "wrap")),
    *(
        padding(mode, operand, width, reflect_type=kind)
        for mode in ("reflect", "symmetric")
        for kind in ("even", "odd")
        for operand, width in ((MATRIX, UNEVEN), (VECTOR, (7, 14)), (reals(1, 2), (2, 3)))
    ),
    padding("linear_ramp", MATRIX, UNEVEN),
    padding("linear_ramp", MATRIX, UNEVEN, end_values=((1, 2), (3, 4))),
    *(
        padding(mode, operand, width)
        for mode in ("maximum", "minimum", "mean", "median")
        for operand, width in ((MATRIX, UNEVEN), (VECTOR, 2))
    ),
    *(
        padding(mode, MATRIX, UNEVEN, stat_length=((2, 1), (3, 9)))
        for mode in ("maximum", "minimum", "mean", "median")
    ),
    row(
        "pad by a dictionary",
        lambda x: np.pad(x, {-1: (1, 2)}),
        MATRIX,
    ),
    row(
        "pad with a traced value",
        lambda x, v: np.pad(x, (1, 2), constant_values=v),
        VECTOR,
        np.array(2.5),
    ),
    row(
        "pad integers",
        lambda x: [
            np.pad(x, 2, "mean"),
            np.pad(x, 2, "linear_ramp", end_values=-4),
            np.pad(x, 3, "reflect", reflect_type="odd"),
            np.pad(x, 1, constant_values=2.7),
        ],
        np.array([3, 9, 4, 20]),
        order=0,
        dtypes=(),
    ),
]

DIAGONALS = [
    *(row(f"diag of a vector, {k}", lambda x, k=k: np.diag(x, k), VECTOR) for k in (0, 2, -1)),
    *(
        row(f"diagonal of {list(operand.shape)}, {k}", lambda x, k=k: np.diagonal(x, k), operand)
        for operand in (MATRIX, reals(4, 2), CUBE)
        for k in (0, 1, -1, 9)
    ),
    row("diag of a matrix", lambda x: np.diag(x, -1) * x.diagonal(1)[:2], MATRIX),
    row("diagonal of other axes", lambda x: np.diagonal(x, 1, 2, 0), CUBE),
    row("linalg.diagonal", lambda x: np.linalg.diagonal(x, offset=1), CUBE),
    row("diagflat", lambda x: np.diagflat(x, 1), reals(2, 2)),
    *(
        row(f"tril and triu, {k}", lambda x, k=k: np.tril(x, k) + 2 * np.triu(x, k), CUBE)
        for k in (0, 1, -2)
    ),
    row("tril of a vector", lambda x: np.tril(x), VECTOR),
    row("tril of infinities", lambda x: np.tril(x), np.full((2, 2), np.inf), order=0, dtypes=()),
    row("kron", lambda x, y: np.kron(x, y), MATRIX, reals(2, 3)),
    row("kron of unequal ranks", lambda x, y: np.kron(x, y), VECTOR, MATRIX),
    row("kron with a scalar", lambda x, y: np.kron(x, y), SCALAR, MATRIX),
    row("meshgrid", lambda x, y, z: np.meshgrid(x, y, z), reals(2), reals(3), reals(4)),
    row("meshgrid ij", lambda x, y: np.meshgrid(x, y, indexing="ij"), reals(2), reals(3)),
    row("meshgrid sparse", lambda x, y: np.meshgrid(x, y, sparse=True), reals(2), reals(3)),
]

MARKS = [
    row("recompute", lambda x: recompute(x, x * 2) * x, MATRIX, covers=("recompute",)),
]

CASES = [*SHAPES, *REPEATING, *PADDING, *DIAGONALS, *MARKS]
