"""C programs at the edges: large ones, tiny arrays, shared memory, many threads, errors."""

import threading
from typing import Any

import numpy as np
import pytest

import stagrad

pytestmark = pytest.mark.compiler


def in_c(function: Any, **options: Any) -> Any:
    return stagrad.compile(function, backend="c", **options)


def close(got: Any, want: Any, rtol: float = 1e-12) -> None:
    np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-13)


NUMBERS = np.random.default_rng(0).normal(size=(20, 50)) + 5


def test_a_row_that_all_rows_read_stays_until_all_have() -> None:
    """The sums of a kernel are cleared before its first row: not in memory that it reads."""

    def loss(x: Any) -> Any:
        return np.sum(np.var(x, axis=0) ** 2)

    close(in_c(stagrad.grad(loss))(NUMBERS), stagrad.compile(stagrad.grad(loss), backend="numpy")(
        NUMBERS
    ))  # fmt: skip


def test_a_value_returned_twice_is_two_arrays() -> None:
    def program(x: Any) -> Any:
        reverse = np.sin(x)[::-1]
        return reverse, reverse, x

    first, second, same = in_c(program)(NUMBERS)
    assert not np.shares_memory(first, second)
    assert not np.shares_memory(same, NUMBERS)
    close(first, np.sin(NUMBERS)[::-1])
    close(second, first, rtol=0)


def test_operands_that_are_one_array_are_not_changed() -> None:
    before = NUMBERS.copy()
    close(in_c(lambda x, y: np.exp(x - 5.0) * y + x.sum(axis=0))(NUMBERS, NUMBERS),
          np.exp(NUMBERS - 5.0) * NUMBERS + NUMBERS.sum(axis=0))  # fmt: skip
    np.testing.assert_array_equal(NUMBERS, before)


def test_operands_may_have_any_strides() -> None:
    program = in_c(lambda x, y: x * y + x.sum(axis=0))
    for x in (NUMBERS[::-2, ::3], NUMBERS.T[::5, ::2], np.asfortranarray(NUMBERS)):
        close(program(x, x), x * x + x.sum(axis=0))


def test_a_kernel_of_hundreds_of_statements() -> None:
    def program(x: Any) -> Any:
        for number in range(300):
            x = np.sin(x) + x * (number % 7) / 50.0
        return x

    close(in_c(program)(NUMBERS[:3]), program(NUMBERS[:3]), rtol=1e-9)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (0, 3), (3, 0), (1, 1), (17,), (1, 17)])
@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_extents_of_none_and_one(shape: tuple[int, ...], dtype: str) -> None:
    x = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 3).astype(dtype)
    results, wanted = EXTENT_PROGRAM(x), _extents(x)
    for got, want in zip(results, wanted, strict=True):
        assert (np.shape(got), got.dtype) == (np.shape(want), np.asarray(want).dtype)
        np.testing.assert_array_equal(got, want)


def _extents(x: Any) -> Any:
    return x * x, np.sum(x), np.sum(x, axis=-1, keepdims=True) if x.ndim else x + x, x.T


EXTENT_PROGRAM = in_c(_extents)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u4", "u8"])
def test_integers_wrap_around(dtype: str) -> None:
    def program(x: Any, y: Any) -> Any:
        return x + y, x - y, x * y, -x, np.sum(x), x // 7, x % 7

    limits = np.iinfo(dtype)
    x = np.array([limits.min, limits.max, 0, 1, limits.max - 1] * 5, dtype)
    y = np.array([limits.max, limits.max, limits.min, 3, 2] * 5, dtype)
    with np.errstate(all="ignore"):
        for got, want in zip(in_c(program)(x, y), program(x, y), strict=True):
            np.testing.assert_array_equal(got, want)
            assert got.dtype == np.asarray(want).dtype


def test_a_long_array_in_many_chunks() -> None:
    x = np.linspace(-3.0, 3.0, 3_000_001)
    total, largest, values = in_c(lambda x: (np.sum(np.exp(x)), np.max(x), np.exp(x)))(x)
    close(total, np.sum(np.exp(x)))
    assert largest == 3.0
    close(values, np.exp(x))


def test_names_of_variables_may_be_any_python_has() -> None:
    def program(größe: Any, restrict: Any, NULL: Any, I: Any, M_PI: Any) -> Any:  # noqa: E741
        λ = größe * restrict
        return λ + NULL - I * M_PI, λ

    operands = [NUMBERS + shift for shift in range(5)]
    for got, want in zip(in_c(program)(*operands), program(*operands), strict=True):
        close(got, want)


def test_many_threads_call_one_function() -> None:
    program = in_c(lambda x: (np.exp(-x).sum(axis=0), (x.T @ x).sum()))
    wanted = program(NUMBERS)
    wrong: list[Any] = []

    def call() -> None:
        for _ in range(50):
            results = program(NUMBERS)
            if any(not np.array_equal(*pair) for pair in zip(results, wanted, strict=True)):
                wrong.append(results)

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_error_in_a_step_of_python_is_raised_and_the_next_call_works() -> None:
    program = in_c(lambda x: np.linalg.svd(x * 2.0)[1].sum())
    with pytest.raises(np.linalg.LinAlgError):
        program(np.full((3, 3), np.nan))
    close(program(np.eye(3)), 6.0)


@pytest.mark.parametrize("shape", [(7, 5), (3000, 40), (40, 3000), (200_000,)])
def test_verification_takes_programs_in_many_chunks(shape: tuple[int, ...]) -> None:
    def loss(x: Any) -> Any:
        return np.sum(np.exp(x - x.mean(axis=0)))

    x = np.random.default_rng(0).normal(size=shape)
    gradient = stagrad.grad(loss)
    close(in_c(gradient, verify=True)(x), stagrad.compile(gradient, backend="numpy")(x), rtol=1e-8)


def test_ten_thousand_steps() -> None:
    def program(x: Any) -> Any:
        for _ in range(5_000):
            x = x * 0.5 + 1.0
        return x

    close(in_c(program)(NUMBERS), 2.0)
