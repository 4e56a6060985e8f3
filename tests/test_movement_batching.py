"""The batchers of movement and indexing do to a batch what the operation does to each element."""

import itertools

import numpy as np
import pytest

from stagrad.ir import PRIMITIVES, bind

SIZE = 4
RNG = np.random.default_rng(0)


def reals(*shape):
    return RNG.standard_normal(shape)


def places(*shape):
    return RNG.integers(-2, 2, shape)


# Operands of one element of the batch, and the params.
MOVEMENTS = [
    ("broadcast_to", (reals(3, 1),), {"shape": (2, 3, 5)}),
    ("reshape", (reals(3, 2),), {"shape": (6,)}),
    ("transpose", (reals(3, 2, 5),), {"axes": (2, 0, 1)}),
    ("slice", (reals(3, 5),), {"region": (1, (4, -1, -2))}),
    ("set_slice", (reals(3, 5), reals(3, 2)), {"region": (None, (1, 3, 1))}),
    ("add_slice", (reals(3, 5), reals(5)), {"region": (2, None)}),
    ("pad", (reals(2),), {"shape": (3, 5), "region": (0, (1, 4, 2))}),
    ("concatenate", (reals(3, 2), reals(1, 2), reals(2, 2)), {"axis": 0}),
]

# Shapes of the operand and of the indices, and the axes these address.
INDEXED = [
    ((3, 2), [(5,)], (0,)),
    ((3, 2), [(5,)], (1,)),
    ((3, 2, 3), [(2, 2), (2,)], (1, 2)),
    ((3, 2, 3), [(2, 1), (3,)], (0, 2)),
    ((2, 3, 2), [(), (3,), (2, 1)], (0, 1, 2)),
    ((2, 3, 2, 4), [(2,), (1,)], (1, 3)),
    ((3, 2), [()], (1,)),
]


def element(operands, batched, place):
    return tuple(
        operand[place] if is_batched else operand
        for operand, is_batched in zip(operands, batched, strict=True)
    )


def check(name, operands, batched, params):
    record = PRIMITIVES[name]
    got = record.batcher(SIZE, batched, operands, **params)
    for place in range(SIZE):
        want = bind(record, *element(operands, batched, place), **params)
        np.testing.assert_allclose(got[place], want, rtol=1e-14)


def subsets(count):
    """Yield every choice of batched operands but the empty one."""
    return [choice for choice in itertools.product([False, True], repeat=count) if any(choice)]


@pytest.mark.parametrize(
    ("name", "operands", "params"), MOVEMENTS, ids=lambda value: str(value)[:9]
)
def test_movements(name, operands, params):
    for batched in subsets(len(operands)):
        whole = tuple(
            reals(SIZE, *operand.shape) if is_batched else operand
            for operand, is_batched in zip(operands, batched, strict=True)
        )
        check(name, whole, batched, params)


@pytest.mark.parametrize(("shape", "index_shapes", "axes"), INDEXED)
@pytest.mark.parametrize("name", ["gather", "scatter", "scatter_add"])
def test_indexing(name, shape, index_shapes, axes):
    single = [places(*index_shape) for index_shape in index_shapes]
    taken = bind(PRIMITIVES["gather"], reals(*shape), *single, axes=axes)
    leading = [shape] if name == "gather" else [shape, np.shape(taken)]
    for batched in subsets(len(leading) + len(single)):
        front, back = batched[: len(leading)], batched[len(leading) :]
        values = [
            reals(*((SIZE, *extents) if is_batched else extents))
            for extents, is_batched in zip(leading, front, strict=True)
        ]
        indices = [
            places(*((SIZE, *extents) if is_batched else extents))
            for extents, is_batched in zip(index_shapes, back, strict=True)
        ]
        check(name, (*values, *indices), batched, {"axes": axes})
