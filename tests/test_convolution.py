"""Convolution and pooling against loops that say what they mean."""

import itertools
from typing import Any

import numpy as np
import pytest

from stagrad.errors import ShapeError
from stagrad.ops.images import avg_pool, conv, conv_transpose, max_pool

NOISE = np.random.default_rng(0)


def by_loops(
    x: np.ndarray, kernel: np.ndarray, stride: Any, margins: Any, dilation: Any, groups: int
) -> np.ndarray:
    x = np.pad(x, ((0, 0), (0, 0), *margins))
    size = kernel.shape[2:]
    room = np.array(x.shape[2:]) - np.array(dilation) * (np.array(size) - 1) - 1
    positions = tuple(room // np.array(stride) + 1)
    y = np.zeros((x.shape[0], kernel.shape[0], *positions))
    per_group = kernel.shape[0] // groups
    for output, place, offset in itertools.product(
        range(kernel.shape[0]), np.ndindex(*positions), np.ndindex(*size)
    ):
        group = output // per_group
        channels = slice(group * kernel.shape[1], (group + 1) * kernel.shape[1])
        at = tuple(np.array(place) * stride + np.array(offset) * dilation)
        window = x[(slice(None), channels, *at)]
        y[(slice(None), output, *place)] += window @ kernel[(output, slice(None), *offset)]
    return y


@pytest.mark.parametrize(
    ("shape", "kernel", "stride", "margins", "dilation", "groups"),
    [
        ((2, 3, 7), (4, 3, 3), (2,), ((1, 1),), (1,), 1),
        ((1, 4, 6, 5), (6, 2, 2, 3), (1, 2), ((0, 2), (1, 0)), (2, 1), 2),
        ((2, 3, 5, 5), (3, 1, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 3),
        ((1, 2, 4, 3, 4), (2, 2, 2, 1, 2), (2, 1, 1), ((0, 0),) * 3, (1, 1, 2), 1),
        ((0, 2, 4), (3, 2, 2), (1,), ((0, 0),), (1,), 1),
    ],
)
def test_convolution_is_the_sum_over_windows(
    shape: Any, kernel: Any, stride: Any, margins: Any, dilation: Any, groups: int
) -> None:
    x, w = NOISE.standard_normal(shape), NOISE.standard_normal(kernel)
    options = {"stride": stride, "padding": margins, "dilation": dilation, "groups": groups}
    want = by_loops(x, w, stride, margins, dilation, groups)
    np.testing.assert_allclose(conv(x, w, **options), want, atol=1e-12)


def test_large_batches_are_convolved_in_chunks() -> None:
    x, w = NOISE.standard_normal((70, 8, 16, 16)), NOISE.standard_normal((3, 8, 3, 3))
    whole = conv(x, w)
    one_by_one = np.concatenate([conv(x[n : n + 1], w) for n in range(len(x))])
    np.testing.assert_allclose(whole, one_by_one, atol=1e-11)


def test_transposed_convolution_is_the_transpose() -> None:
    x = NOISE.standard_normal((2, 4, 5, 7))
    w = NOISE.standard_normal((6, 2, 3, 2))
    options = {"stride": (2, 3), "padding": 1, "groups": 2}
    y = conv(x, w, **options)
    back = NOISE.standard_normal(y.shape)
    pulled = conv_transpose(back, w, output_padding=(0, 1), **options)
    assert pulled.shape == x.shape
    np.testing.assert_allclose(np.sum(y * back), np.sum(x * pulled))


def windows(x: np.ndarray, size: int, stride: int, padding: int, fill: float) -> Any:
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)), constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))
    return view[:, :, ::stride, ::stride]


@pytest.mark.parametrize(("size", "stride", "padding"), [(2, 2, 0), (3, 1, 1), (3, 2, 1)])
def test_pooling_takes_the_largest_and_the_mean_of_windows(
    size: int, stride: int, padding: int
) -> None:
    x = NOISE.standard_normal((2, 3, 6, 7))
    options = {"stride": stride, "padding": padding}
    largest = windows(x, size, stride, padding, -np.inf).max(axis=(-2, -1))
    np.testing.assert_array_equal(max_pool(x, size, **options), largest)
    mean = windows(x, size, stride, padding, 0.0).mean(axis=(-2, -1))
    np.testing.assert_allclose(avg_pool(x, size, **options), mean)
    present = windows(np.ones_like(x), size, stride, padding, 0.0).mean(axis=(-2, -1))
    np.testing.assert_allclose(
        avg_pool(x, size, count_include_pad=False, **options), mean / present
    )


def test_ceil_mode_takes_windows_beyond_the_end() -> None:
    x = np.arange(5.0).reshape(1, 1, 5)
    assert max_pool(x, 2, ceil_mode=True).tolist() == [[[1.0, 3.0, 4.0]]]
    assert avg_pool(x, 2, ceil_mode=True).tolist() == [[[0.5, 2.5, 4.0]]]
    assert max_pool(x, 2).tolist() == [[[1.0, 3.0]]]


def test_errors_name_the_shapes() -> None:
    x, w = np.zeros((1, 3, 5)), np.zeros((2, 2, 3))
    with pytest.raises(ShapeError, match=r"conv: images f64\[1,3,5\] and kernels f64\[2,2,3\]"):
        conv(x, w)
    with pytest.raises(ShapeError, match=r"kernels of size \(7,\) are larger than images \(5,\)"):
        conv(x, np.zeros((2, 3, 7)))
    with pytest.raises(ShapeError, match=r"stride=.*2, one for each axis"):
        conv(np.zeros((1, 1, 4, 4)), np.zeros((1, 1, 2, 2)), stride=(1, 1, 1))
    with pytest.raises(ValueError, match="padding='full'"):
        conv(x, np.zeros((2, 3, 3)), padding="full")
    for name in ("stride", "dilation"):
        with pytest.raises(ValueError, match=f"{name}=0: it is 1 or more"):
            conv(x, np.zeros((2, 3, 3)), **{name: 0})
    with pytest.raises(ShapeError, match=r"conv: bias has one number for each of 2 outputs, not"):
        conv(x, np.zeros((2, 3, 3)), np.zeros(3))
    with pytest.raises(ShapeError, match=r"conv_transpose: bias .* of 2 outputs, not f64\[\]"):
        conv_transpose(x, np.zeros((3, 2, 3)), np.float64(1.0))
