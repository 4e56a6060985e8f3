"""Small NumPy programs with stores, views and fresh arrays, as users write them.

Each takes one float64 array of shape (4,) and returns an array or a scalar.
"""

from collections.abc import Callable

import numpy as np

PROGRAMS: dict[str, Callable[[np.ndarray], object]] = {}


def program(function: Callable[[np.ndarray], object]) -> Callable[[np.ndarray], object]:
    PROGRAMS[function.__name__] = function
    return function


@program
def fill_zeros(x):
    a = np.zeros(4)
    for i in range(4):
        a[i] = x[i] * (i + 1)
    return a


@program
def fill_then_accumulate(x):
    a = np.zeros(4)
    a[0] = x[0]
    for i in range(1, 4):
        a[i] = a[i - 1] * x[i]
        a[i - 1] += a[i]
    return a


@program
def view_made_before_the_store(x):
    a = np.zeros((2, 4))
    row = a[1]
    column = a[:, 2]
    row[:] = x
    column += x[:2]
    return a


@program
def store_through_transpose(x):
    a = np.ones((4, 2))
    a.T[1] = x
    a.T[0, 1:3] *= x[:2]
    return a


@program
def store_through_reshape(x):
    y = x.copy()
    y.reshape(2, 2)[0, :] = 7.0
    y.reshape(2, 2)[1, 0] *= 3.0
    return y


@program
def ravel_is_a_view(x):
    y = x.reshape(2, 2) * 2.0
    y.ravel()[1] = x[3]
    return y


@program
def flatten_is_a_copy(x):
    y = x.reshape(2, 2) * 2.0
    y.flatten()[1] = 100.0
    return y


@program
def negative_step_store(x):
    y = x.copy()
    y[::-2] = x[:2] * 5.0
    return y


@program
def augmented_with_repeats(x):
    y = x.copy()
    y[[0, 0, 1]] += 1.0
    return y


@program
def last_write_wins(x):
    y = x.copy()
    y[[0, 0, 1]] = x[:3] * 10.0
    return y


@program
def chained_views(x):
    y = x * 1.0
    v = y[1:]
    w = v[::2]
    w *= 4.0
    y[1] += 1.0
    return y, v, w


@program
def alias_is_the_same_array(x):
    y = x * 2.0
    z = y
    z += 1.0
    return y * z


@program
def scalars_do_not_alias(x):
    s = np.sum(x)
    t = s
    s += 1.0
    return s * t


@program
def mask_store(x):
    y = x * 1.0
    y[y < 0.5] = 0.25
    y[x > 1.0] *= 2.0
    return y


@program
def static_mask_store(x):
    y = x * 1.0
    y[np.array([True, False, True, False])] = x[2:] * 3.0
    return y


@program
def out_argument(x):
    y = np.empty(4)
    np.multiply(x, 3.0, out=y)
    np.add(y, x, out=y)
    return y


@program
def out_with_where(x):
    y = np.ones(4)
    np.divide(1.0, x, out=y, where=x > 0.6)
    return y


@program
def array_of_traced(x):
    return np.array([[x[0], 1.0], [x[1] * x[2], x[3]]])


@program
def list_of_traced(x):
    values = [x[i] ** 2 for i in range(4)]
    return np.sum(values) + np.stack(values)[1] + sum(values)


@program
def asarray_passes_through(x):
    y = np.asarray(x)
    z = np.asarray(x, dtype=np.float32)
    return y[0] + z[1]


@program
def zeros_like_filled(x):
    y = np.zeros_like(x)
    y[1:-1] = 0.5 * (x[2:] - x[:-2])
    return y


@program
def full_like_and_copyto(x):
    y = np.full_like(x, 3.0)
    np.copyto(y, x * 2.0, where=np.array([True, False, True, True]))
    return y


@program
def swap_by_index(x):
    y = x.copy()
    y[[0, 1]] = y[[1, 0]]
    y[2], y[3] = y[3] * 1.0, y[2] * 1.0
    return y


@program
def heat_steps(x):
    u = x.copy()
    for _ in range(3):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


@program
def triangular_solve(x):
    matrix = np.array([[2.0, 0, 0, 0], [1, 3, 0, 0], [1, 1, 4, 0], [0.5, 1, 1, 5]])
    y = np.zeros(4)
    for i in range(4):
        y[i] = (x[i] - matrix[i, :i] @ y[:i]) / matrix[i, i]
    return y


@program
def integer_array_truncates(x):
    a = np.zeros(4, dtype=np.int64)
    a[:] = x * 3.0
    return a


@program
def empty_like_two_dimensional(x):
    a = np.empty((4, 4))
    for i in range(4):
        for j in range(4):
            a[i, j] = x[i] * x[j] + i
    return a


@program
def iterate_rows(x):
    total = 0.0
    for row in x.reshape(2, 2):
        total = total + row[0] * row[1]
    return total


@program
def in_place_operators(x):
    y = x * 1.0
    y -= 0.1
    y *= x
    y /= 2.0
    y **= 2
    return y


@program
def swapaxes_view(x):
    a = np.zeros((2, 1, 2))
    b = np.swapaxes(a, 0, 2)
    b[0, 0, :] = x[:2]
    return a


@program
def diagonal_fill(x):
    a = np.zeros((4, 4))
    np.fill_diagonal(a, x)
    a[np.arange(4), np.arange(4)] *= x
    return a


@program
def fresh_arrays_stay_plain(x):
    a = np.zeros(3)
    a[0] = 2.0
    b = a * 3.0
    if b[0] > 5.0:
        return x * b[0]
    return x


@program
def eye_updated(x):
    a = np.eye(2)
    a[0] += x[:2]
    a[:, 1] = a[:, 0] * x[3]
    return a @ a
