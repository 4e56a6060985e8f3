"""Arguments of shape functions: what is refused, and as whose error; metadata; conversions."""

import numpy as np
import pytest

import stagrad
from stagrad.errors import UnsupportedError

X = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.reshape(x, (5, -1)),
        lambda x: np.reshape(x, (-2, -6)),
        lambda x: np.reshape(x, (-1, -2)),
        lambda x: np.reshape(x, (-1, -1)),
        lambda x: np.reshape(x, 12, order="X"),
        lambda x: np.transpose(x, (0, 0)),
        lambda x: np.transpose(x, (0,)),
        lambda x: np.transpose(x, (0, 2)),
        lambda x: np.matrix_transpose(x[0]),
        lambda x: np.swapaxes(x, 0, 2),
        lambda x: np.moveaxis(x, [0, 1], [0]),
        lambda x: np.rollaxis(x, 0, 3),
        lambda x: np.squeeze(x, 0),
        lambda x: np.squeeze(x, 2),
        lambda x: np.expand_dims(x, (0, 0)),
        lambda x: np.broadcast_to(x, (3, 3)),
        lambda x: np.broadcast_arrays(x, x.T),
        lambda x: np.fliplr(x[0]),
        lambda x: np.rot90(x, axes=(0, 0)),
        lambda x: np.concatenate([]),
        lambda x: np.concatenate([x, x[0]]),
        lambda x: np.concatenate([x, x.T]),
        lambda x: np.concatenate([x[0, 0], x[0, 0]]),
        lambda x: np.concatenate([x, x], axis=2),
        lambda x: np.concatenate([x, x], dtype=int, casting="safe"),
        lambda x: np.stack([x, x.T]),
        lambda x: np.stack([x, x], axis=3),
        lambda x: np.vstack([x, x.T]),
        lambda x: np.block([[x], x]),
        lambda x: np.block([x, []]),
        lambda x: np.block((x, x)),
        lambda x: np.split(x, 2),
        lambda x: np.array_split(x, 0),
        lambda x: np.vsplit(x[0], 2),
        lambda x: np.dsplit(x, 2),
        lambda x: np.unstack(x[0, 0]),
        lambda x: np.repeat(x, -1),
        lambda x: np.repeat(x, [1, 2], axis=0),
        lambda x: np.roll(x, (1, 2, 3), axis=(0, 1)),
        lambda x: np.delete(x, 7, axis=0),
        lambda x: np.insert(x, 9, 0.0, axis=0),
        lambda x: np.resize(x, (-1, 2)),
        lambda x: np.pad(x, -1),
        lambda x: np.pad(x, 1.5),
        lambda x: np.pad(x, 1, mode="strange"),
        lambda x: np.pad(x, 1, mode="edge", constant_values=1),
        lambda x: np.pad(x[:0], 1, mode="reflect"),
        lambda x: np.pad(x, 1, mode="maximum", stat_length=0),
        lambda x: np.diag(x[None]),
        lambda x: np.diagonal(x, axis1=1, axis2=1),
        lambda x: np.diagonal(x[0]),
        lambda x: np.meshgrid(x[0], indexing="ab"),
        lambda x: np.take(x, np.array([0.5])),
        lambda x: np.take(x, 12),
        lambda x: np.take(x, 0, mode="odd"),
        lambda x: np.take_along_axis(x, np.array([0]), 0),
        lambda x: np.take_along_axis(x, np.array([[9]]), 0),
        lambda x: np.take_along_axis(x, np.zeros((2, 3), int), 0),
        lambda x: np.compress([[True]], x, axis=0),
        lambda x: np.choose([0, 3], [x[0, :2], x[0, :2]]),
        lambda x: np.select([], [x]),
        lambda x: np.select([x > 1, x > 2], [x]),
        lambda x: np.select([x], [x]),
        lambda x: np.piecewise(x, [x > 1], [1, 2, 3]),
        lambda x: np.putmask(x, np.ones(3, bool), 1.0),
        lambda x: np.put(x, [40], 1.0),
        lambda x: np.copyto(x, np.ones(3)),
        lambda x: np.copyto(x, 1j * np.ones(4)),
        lambda x: np.fill_diagonal(x[0], 1.0),
        lambda x: np.linspace(x[0, 0], 1, -1),
        lambda x: np.vander(x),
        lambda x: x.astype(int, casting="safe"),
        lambda x: len(x[0, 0]),
        lambda x: list(x[0, 0]),
    ],
)
def test_bad_arguments_raise_numpys_kind_of_error(function):
    with pytest.raises(Exception) as plain:  # noqa: PT011 - whatever NumPy raises
        function(X.copy())
    kinds = (ValueError, IndexError, TypeError)
    kind = next(kind for kind in kinds if isinstance(plain.value, kind))
    with pytest.raises(kind):
        stagrad.compile(function)(X.copy())


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (lambda x: np.pad(x, 1, mode=lambda *arguments: None), "modes constant"),
        (lambda x: np.pad(x, np.argmax(x)), "pad_width"),
        (lambda x: np.repeat(x, np.argmax(x)), "static"),
        (lambda x: np.roll(x, x.argmax(axis=0), axis=(0, 1)), "one number"),
        (lambda x: np.diag(x, np.argmax(x)), "offset"),
        (lambda x: np.trim_zeros(x[0]), "mask"),
        (lambda x: np.insert(x, np.argmax(x), 0.0), "known"),
    ],
)
def test_shapes_that_depend_on_numbers_are_refused_with_advice(function, advice):
    with pytest.raises(UnsupportedError, match=advice):
        stagrad.compile(function)(X.copy())


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.int8, np.bool_])
def test_metadata_is_known_while_tracing(dtype):
    answers = []

    def function(x, weak):
        answers.append(
            [
                np.shape(x),
                np.ndim(x),
                np.size(x),
                np.size(x, 1),
                len(x),
                x.itemsize,
                x.nbytes,
                np.result_type(x, np.float32),
                np.result_type(x, 1),
                np.result_type(x, x),
                np.can_cast(x if not isinstance(x, np.ndarray) else x.dtype, np.float64),
                np.iscomplexobj(x),
                np.isrealobj(x),
            ]
        )
        return x

    x = np.ones((2, 3), dtype)
    stagrad.compile(function)(x, 1.0)
    function(x, 1.0)
    assert answers[0] == answers[1]


def test_layout_is_that_of_an_array_in_cs_order():
    def function(x):
        part = x[1:, ::-2].T
        assert part.strides == np.zeros((3, 4), np.float32)[1:, ::-2].T.strides
        assert x.flags.c_contiguous
        assert not part.flags.c_contiguous
        return part

    stagrad.compile(function)(np.ones((3, 4), np.float32))


@pytest.mark.parametrize(("shape", "strides"), [((7,), (8,)), ((2,), (-8,)), ((2,), (3,))])
def test_strides_that_leave_the_array_are_refused(shape, strides):
    with pytest.raises(ValueError, match="as_strided"):
        stagrad.compile(lambda x: np.lib.stride_tricks.as_strided(x, shape, strides))(np.ones(6))


def test_a_weak_argument_promotes_as_a_python_number():
    found = []

    def function(x, number):
        found.append(np.result_type(x, number))
        return x * number

    assert stagrad.compile(function)(np.ones(2, np.float32), 2.0).dtype == np.float32
    assert found == [np.dtype(np.float32)]


def test_traced_values_in_nested_lists_are_stacked():
    def function(x):
        table = np.array([[x[0], 1], [2.5, x[1]]])
        column = np.asarray([x, x + 1])[:, :1]
        return table, column, np.array([x[0]], dtype=np.float32), np.array(x[0], ndmin=3)

    x = np.array([3.0, 4.0])
    for got, want in zip(stagrad.compile(function)(x), function(x), strict=True):
        np.testing.assert_array_equal(got, want, strict=True)


def test_lists_of_traced_numbers_take_the_dtype_numpy_finds():
    def function(x):
        return np.array([x, 1]), np.array([x, True]), np.array([x, 1.0]), np.array([x, 1j])

    x = np.float32(2.0)
    for got, want in zip(stagrad.compile(function)(x), function(x), strict=True):
        np.testing.assert_array_equal(got, want, strict=True)


def test_repeats_and_masks_held_outside_are_looked_at_again():
    repeats, condition = np.array([1, 2]), np.array([True, False])
    function = stagrad.compile(lambda x: (np.repeat(x, repeats), np.compress(condition, x)))
    x = np.array([3.0, 4.0])
    assert [part.tolist() for part in function(x)] == [[3, 4, 4], [3]]
    repeats[0] = 0
    condition[:] = True
    assert [part.tolist() for part in function(x)] == [[4, 4], [3, 4]]
