"""What a write reaches: views write their base, copies and scalars do not, as in NumPy."""

import copy

import numpy as np
import pytest

import stagrad

WRITES = {}


def writing(function):
    WRITES[function.__name__] = function
    return function


@writing
def scalar_of_a_vector(x):
    entry = x[0, 0]
    entry += 1
    return entry


@writing
def entry_as_a_view(x):
    entry = x[0, 0, ...]
    entry += 1
    return entry


@writing
def row(x):
    line = x[0]
    line += 1
    return line


@writing
def row_written_after_it_was_taken(x):
    line, copied = x[0], x[0].copy()
    x[0] = 2
    return line, copied


@writing
def rows_of_a_loop(x):
    for line in x:
        line /= line.sum()
    return x


@writing
def unpacked_rows(x):
    first, second, _ = x
    first += second
    return second


@writing
def reshaped(x):
    flat = x.reshape(-1)
    flat += 1
    return flat


@writing
def reshaped_transpose_is_a_copy(x):
    flat = x.T.reshape(-1)
    flat += 1
    return flat


@writing
def reshaped_part_is_a_copy(x):
    flat = x[1:, 1:].reshape(-1)
    flat += 1
    return flat


@writing
def reshaped_rows_are_a_view(x):
    flat = x[1:].reshape(-1)
    flat += 1
    return flat


@writing
def reshaped_in_fortrans_order(x):
    other = x.reshape(3, 3, order="F")
    other[0] += 1
    return other


@writing
def reshaped_to_another_shape_in_fortrans_order_is_a_copy(x):
    other = x.reshape(9, order="F")
    other += 1
    return other


@writing
def raveled(x):
    flat, copied = x.ravel(), x.T.ravel()
    flat *= 2
    copied += 5
    return flat, copied


@writing
def flattened_is_a_copy(x):
    flat = x.flatten()
    flat += 1
    return flat


@writing
def flat(x):
    x.flat[::4] = 7


@writing
def new_axis(x):
    other = x[:, None].T
    other += 1
    return other


@writing
def squeezed(x):
    other = np.squeeze(x[None])
    other[0] = 0
    return other


@writing
def swapped(x):
    other = x.swapaxes(0, 1)
    other[0] = 0


@writing
def split(x):
    parts = np.split(x, 3)
    parts[1] += 1
    return parts


@writing
def flipped(x):
    other = np.flip(x, 0)
    other[0] = 5
    return np.rot90(other)


@writing
def gathered_is_a_copy(x):
    rows = x[[0, 1]]
    rows *= 2
    return rows


@writing
def repeated_and_tiled_are_copies(x):
    repeated, tiled = x.repeat(2, axis=0), np.tile(x, 2)
    repeated[0] = 1
    tiled[0] = 2
    return repeated, tiled


@writing
def copied_broadcast(x):
    other = np.broadcast_to(x, (2, 3, 3)).copy()
    other[0] = 1
    return other


@writing
def stacked_is_a_copy(x):
    other = np.stack([x])
    other[0] += 1
    return other


@writing
def methods_that_write(x):
    x.put([0, -1], [7, 8])
    x[1].sort()
    x[2].partition(1)


@writing
def views_and_copies_by_name(x):
    seen, copied, deep = x.view(), copy.copy(x), copy.deepcopy(x)
    seen += 1
    copied += 2
    deep += 3
    return seen, copied, deep


@writing
def conversion(x):
    same, copied, cast = np.asarray(x), np.array(x), x.astype(float)
    same += 1
    copied += 2
    cast += 3
    return same, copied, cast


@writing
def overlapping_stores(x):
    x[1:] += x[:-1]
    x[:] = x[::-1]
    x += x.T


@writing
def chained_indices(x):
    x[0][1] = 50
    x[[0, 2]][1] = 60
    x[0:2][1][::-1][0] = 70


@writing
def masked(x):
    x[x > 2] -= 1
    line = x[1]
    line[line > 3] = 0


@writing
def diagonal_of_the_elements_in_a_row(x):
    np.fill_diagonal(x, [1, 2])
    x.reshape(-1)[:: x.shape[0] + 1] *= 3


def parts(result):
    if result is None:
        return []
    return result if isinstance(result, tuple | list) else [result]


@pytest.mark.parametrize("name", WRITES)
def test_writes_reach_what_they_reach_in_numpy(name):
    function = WRITES[name]
    given, expected = np.arange(9.0).reshape(3, 3), np.arange(9.0).reshape(3, 3)
    got, want = stagrad.compile(function)(given), function(expected)
    np.testing.assert_array_equal(given, expected)
    for mine, numpys in zip(parts(got), parts(want), strict=True):
        np.testing.assert_array_equal(mine, numpys)


AT = {}


def at(function):
    AT[function.__name__] = function
    return function


@at
def a_row(x, i):
    line = x[i]
    line += 1
    return line


@at
def a_column(x, i):
    column = x[:, i]
    column[0] *= 5
    return column


@at
def a_part_written_through_its_base(x, i):
    part = x[i, 1:]
    part -= 3
    x[i] *= 2
    return part


@at
def a_view_of_a_row(x, i):
    backwards = x[i][::-1]
    backwards[0] = 3
    return backwards


@at
def a_scalar(x, i):
    entry = x[i, i]
    entry += 1
    return entry


@at
def a_row_of_a_view(x, i):
    line = x.reshape(1, 3, 3)[0, i]
    line += 1
    return line


@pytest.mark.parametrize("name", AT)
def test_integer_arguments_index_as_integers_do(name):
    function = AT[name]
    compiled = stagrad.compile(function)
    for place in (2, 0, -1):
        given, expected = np.arange(9.0).reshape(3, 3), np.arange(9.0).reshape(3, 3)
        np.testing.assert_array_equal(compiled(given, place), function(expected, place))
        np.testing.assert_array_equal(given, expected)


def test_what_broadcast_to_returns_is_read_only():
    def function(x):
        np.broadcast_to(x, (2, 3))[0] = 1

    with pytest.raises(ValueError, match="read-only"):
        stagrad.compile(function)(np.ones(3))
