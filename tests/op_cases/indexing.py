"""Rows of reads and stores by index, and of the functions that pick or place elements."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.op_cases.case import Case
from tests.op_cases.movement import CUBE, MATRIX, SCALAR, VECTOR, reals, row

ROWS = np.array([2, 0, 2, -1])
COLUMNS = np.array([[1], [3]])
MASK = np.array([True, False, True])
MASK_OF_MATRIX = MATRIX > 0

READS: dict[str, tuple[np.ndarray, Any]] = {
    "an integer": (VECTOR, -2),
    "a NumPy integer": (MATRIX, np.int32(1)),
    "a slice": (MATRIX, np.s_[1:, ::2]),
    "a negative step": (MATRIX, np.s_[::-1, 3:0:-2]),
    "an empty slice": (MATRIX, np.s_[2:1]),
    "new axes": (MATRIX, np.s_[None, :, None, 1]),
    "an ellipsis": (CUBE, np.s_[..., 1]),
    "an ellipsis for nothing": (MATRIX, np.s_[1, ..., 2]),
    "no index": (SCALAR, ()),
    "repeated integers": (VECTOR, np.array([0, 0, 4, -1])),
    "an array of many axes": (VECTOR, np.array([[0, 1], [2, 2]])),
    "a list": (MATRIX, [2, 0]),
    "an empty list": (MATRIX, []),
    "a 0-d array": (MATRIX, np.array(1)),
    "small integers": (VECTOR, np.array([1, 0], np.uint8)),
    "two arrays": (MATRIX, (ROWS, ROWS + 1)),
    "two arrays that broadcast": (MATRIX, (ROWS, COLUMNS)),
    "an array after a slice": (CUBE, np.s_[:, ROWS]),
    "an array before a slice": (CUBE, np.s_[[1, 0], 1:]),
    "arrays parted by a slice": (CUBE, np.s_[[1, 0], :, [3, 3]]),
    "arrays parted by an axis": (CUBE, np.s_[[1, 0], None, [2, 1]]),
    "an integer beside an array": (CUBE, np.s_[:, 1, [0, 3]]),
    "an integer parted from an array": (CUBE, np.s_[1, :, [0, 3]]),
    "an array, an integer and a slice": (CUBE, np.s_[[0, 1], 2, ::2]),
    "slices around arrays": (reals(2, 3, 3, 2), np.s_[::-1, [0, 2], COLUMNS % 3, 1:]),
    "a mask": (MATRIX, MASK),
    "a mask of all axes": (MATRIX, MASK_OF_MATRIX),
    "a mask of the last axis": (MATRIX, np.s_[:, np.array([True, True, False, True])]),
    "a mask beside an array": (CUBE, np.s_[[0, 1], np.array([True, False, True])]),
    "a list of truths": (MATRIX, [True, False, True]),
    "a mask of nothing": (VECTOR, np.zeros(5, bool)),
    "true": (MATRIX, True),
    "false": (MATRIX, np.s_[False, 1:]),
    "a grid": (MATRIX, np.ix_([0, 2, 2], [1, 3])),
    "a grid with a mask": (MATRIX, np.ix_(MASK, [1, 3, 1])),
    "nothing of nothing": (np.zeros((0, 3)), np.s_[np.zeros(0, int), 1]),
}


def written(
    base: np.ndarray, index: Any, value: np.ndarray, store: Callable[[Any, Any, Any], None]
) -> Callable[..., Any]:
    def function(x: Any, v: Any) -> Any:
        y = x.copy()
        store(y, index, v)
        return y * y

    return function


def assign(y: Any, index: Any, value: Any) -> None:
    y[index] = value


def reading(name: str, operand: np.ndarray, index: Any) -> Case:
    covers = ("gather", "scatter_add") if name == "repeated integers" else ()
    return row(f"x[i], i is {name}", lambda x: x[index] * 2.0, operand, covers=covers)


def storing(name: str, operand: np.ndarray, index: Any, what: str = "set") -> Case:
    store = assign if what == "set" else np.add.at
    value = reals(*np.shape(operand[index]))
    covers = {
        ("set", "a slice"): ("set_slice",),
        ("set", "repeated integers"): ("scatter",),
        ("add", "a slice"): ("add_slice",),
    }.get((what, name), ())
    return row(
        f"x[i] = v, i is {name}" if what == "set" else f"add.at(x, i, v), i is {name}",
        written(operand, index, value, store),
        operand,
        value,
        covers=covers,
        rtol=1e-14,
        order=0 if name == "no index" else 2,  # the checker hands over a scalar, which is read-only
    )


def stored(name: str, function: Callable[..., Any], *operands: np.ndarray, **fields: Any) -> Case:
    """A row whose function changes a copy of its first operand and returns it."""

    def run(x: Any, *others: Any) -> Any:
        y = x.copy()
        function(y, *others)
        return y * y

    return row(name, run, *operands, **{"rtol": 1e-14, **fields})


def _view_of_a_view(y: Any, v: Any) -> None:
    y.T[1:][::-1][:, 2] = v


def _in_place(y: Any, v: Any) -> None:
    y[1:, ::2] *= v
    y[[0, 0]] += 1.0
    y[..., 0] -= v[0, 0]


def _stored_column(x: Any, v: Any) -> Any:
    y = x.copy()
    y[:, :, 1:2] = v
    return y


def _swap(y: Any) -> None:
    y[0], y[2] = y[2].copy(), y[0].copy()


def _fill_rows(y: Any) -> None:
    for number, line in enumerate(y):
        line[number] = number * line.sum()


STORES = [
    *(storing(name, *where) for name, where in READS.items()),
    *(storing(name, *where, what="add") for name, where in READS.items() if name != "no index"),
    stored("x[i] = a scalar", lambda y, v: assign(y, np.s_[1:, 0], v), MATRIX, SCALAR),
    stored("x[i] = a Python number", lambda y: assign(y, np.s_[[0, 2], 1:3], 2), MATRIX),
    stored("x[i] = a row", lambda y, v: assign(y, ROWS, v), MATRIX, reals(4)),
    stored("x[i] = more axes", lambda y, v: assign(y, np.s_[1], v), MATRIX, reals(1, 1, 4)),
    stored("x[mask] = a scalar", lambda y, v: assign(y, MASK_OF_MATRIX, v), MATRIX, SCALAR),
    stored("x[mask] = a row", lambda y, v: assign(y, MASK, v), MATRIX, reals(4)),
    stored("x[x > 0] = a scalar", lambda y, v: assign(y, y > 0, v), MATRIX, SCALAR),
    stored("x[x > 0] = 0", lambda y: assign(y, y > 0, 0), CUBE),
    stored("x[traced mask] = a row", lambda y, v: assign(y, y[:, 0] > 0, v), MATRIX, reals(4)),
    stored("x[:] = v", lambda y, v: assign(y, np.s_[:], v), MATRIX, reals(4)),
    row(
        "a store, summed over the axis it was made in",
        lambda x, v: np.sum(_stored_column(np.broadcast_to(x, (2, 3, 4)), v), axis=2),
        reals(1, 4),
        reals(2, 1, 1),
        rtol=1e-14,
    ),
    stored("writing a view of a view", _view_of_a_view, MATRIX, reals(3)),
    stored("in-place arithmetic", _in_place, MATRIX, reals(2, 2)),
    stored("swapping rows", _swap, MATRIX),
    stored("filling rows in a loop", _fill_rows, MATRIX),
    stored("fill", lambda y, v: y.fill(v), MATRIX, SCALAR),
    stored("put", lambda y, v: np.put(y, [0, 5, -1], v), MATRIX, reals(3)),
    stored("put fewer", lambda y, v: np.put(y, [[0, 13], [22, 5]], v, "wrap"), MATRIX, reals(3)),
    stored("put clipped", lambda y, v: np.put(y, [-3, 50], v, mode="clip"), MATRIX, reals(2)),
    stored("putmask", lambda y, v: np.putmask(y, y > 0, v), MATRIX, reals(5)),
    stored("place", lambda y, v: np.place(y, y > 0, v), MATRIX, reals(2)),
    stored("copyto", lambda y, v: np.copyto(y, v), MATRIX, reals(4)),
    stored("copyto where", lambda y, v: np.copyto(y, v, where=y > 0), MATRIX, reals(3, 1)),
    stored(
        "put_along_axis",
        lambda y, v: np.put_along_axis(y, np.argsort(y, axis=1)[:, :2], v, axis=1),
        MATRIX,
        reals(3, 2),
    ),
    stored(
        "put_along_axis in a row",
        lambda y, v: np.put_along_axis(y, np.array([7, 7, 1]), v, axis=None),
        MATRIX,
        reals(3),
    ),
    *(
        stored(f"fill_diagonal of {list(x.shape)}", np.fill_diagonal, x, reals(2))
        for x in (MATRIX, reals(5, 2), reals(3, 3, 3))
    ),
    stored("fill_diagonal wrapping", lambda y: np.fill_diagonal(y, 4.0, wrap=True), reals(7, 3)),
]

TRACED = [
    row("x[i], i traced", lambda x, i: x[i], VECTOR, np.array(-2)),
    row("x[i], i traced, of a matrix", lambda x, i: x[i] * x[:, i], reals(3, 3), np.array(1)),
    row("x[i], i a traced array", lambda x, i: x[i], VECTOR, np.array([1, 1, -1])),
    row("x[i], i a list of traced", lambda x, i: x[[i, 0, i + 1]], VECTOR, np.array(2)),
    row("x[argmax(x)]", lambda x: x[np.argmax(x)] * x[np.argsort(x)[0]], VECTOR),
    row("x[i, j], i and j traced", lambda x, i: x[i, i + 1], MATRIX, np.array([0, 2, 0])),
    row("x[i + arange], i traced", lambda x, i: x[i + np.arange(2)], VECTOR, np.array(3)),
    stored(
        "x[i] = v, i traced",
        lambda y, v, i: assign(y, i, v),
        VECTOR,
        reals(4),
        np.array([3, 1, 3, 0]),
    ),
    stored(
        "x[:, i] = v, i traced",
        lambda y, v, i: assign(y, np.s_[:, i], v),
        CUBE,
        reals(2, 3, 4),
        np.array([2, 0, 2]),
    ),
]

PICKING = [
    row("take", lambda x: np.take(x, [0, 5, -1, 5]), MATRIX),
    row("take along an axis", lambda x: x.take(ROWS, axis=0), MATRIX),
    row("take a scalar", lambda x: np.take(x, 2, axis=-1), MATRIX),
    row("take a matrix", lambda x: np.take(x, COLUMNS, axis=2), CUBE),
    row("take wrapping", lambda x: np.take(x, [-7, 3, 9], mode="wrap"), VECTOR),
    row("take clipping", lambda x: np.take(x, [-7, 3, 9], mode="clip"), VECTOR),
    row("take at traced places", lambda x, i: np.take(x, i * 3, mode="wrap"), VECTOR, np.arange(4)),
    row(
        "take_along_axis",
        lambda x: np.take_along_axis(x, np.argsort(x, axis=0), axis=0),
        MATRIX,
    ),
    row(
        "take_along_axis that broadcasts",
        lambda x: np.take_along_axis(x, np.array([[[1]], [[0]]]), 1),
        CUBE,
    ),
    row("take_along_axis in a row", lambda x: np.take_along_axis(x, ROWS, None), MATRIX),
    row("compress", lambda x: np.compress([True, False, True], x, axis=1), MATRIX),
    row("compress a row", lambda x: x.compress([False, True, True]), MATRIX),
    row("extract", lambda x: np.extract(MASK_OF_MATRIX, x), MATRIX),
    row(
        "choose",
        lambda x, y: np.choose(np.array([[0, 1, 2, 0]] * 3), [x, y, 7.0]),
        MATRIX,
        reals(4),
    ),
    row(
        "choose by a traced number",
        lambda x, i: np.choose(i, [x, 2.0 * x], mode="clip"),
        VECTOR,
        np.array([-1, 0, 1, 2, 9]),
    ),
    row(
        "select",
        lambda x, y: np.select([x > 0.5, x > 0, y > 1], [x * x, y, 3.0], default=x),
        MATRIX,
        reals(4),
    ),
    row(
        "select between Python numbers",
        lambda x: np.select([x > 0.5, x > 0], [1, 2.5]) * x,
        VECTOR,
    ),
    row(
        "as_strided",
        lambda x: np.lib.stride_tricks.as_strided(x[::2], (2, 3), (x.strides[0], 8)),
        reals(6),
        dtypes=(),
    ),
    row(
        "as_strided of a part",
        lambda x: np.lib.stride_tricks.as_strided(x[1:, ::-1], strides=(x.strides[1], 0)),
        MATRIX,
    ),
    row(
        "ndenumerate",
        lambda x: [value * place[0] for place, value in np.ndenumerate(x)],
        MATRIX,
    ),
    row("require", lambda x: np.require(x[::-1], float, ["C", "W"]), VECTOR, dtypes=()),
    row(
        "piecewise",
        lambda x: np.piecewise(x, [x < 0, x > 1], [lambda t: -t, np.exp, lambda t: t * t]),
        VECTOR,
        rtol=1e-15,
    ),
    row("piecewise without default", lambda x: np.piecewise(x, x > 0, [np.sqrt]), VECTOR),
]

CASES = [
    *(reading(name, *where) for name, where in READS.items()),
    *STORES,
    *TRACED,
    *PICKING,
]
