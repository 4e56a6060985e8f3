"""Rows of convolutions, correlations and pooling."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.signal

from stagrad.ops import images
from tests.op_cases.case import Case, rng

NOISE = rng("convolution")
SINGLE = ("float32",)


def reals(*shape: int) -> np.ndarray:
    return NOISE.standard_normal(shape)


def complexes(*shape: int) -> np.ndarray:
    return reals(*shape) + 1j * reals(*shape)


def case(name: str, function: Callable[..., Any], *operands: Any, **claims: Any) -> Case:
    claims = {"rtol": 1e-12, "atol": 1e-12, **claims}
    return Case(name=name, function=function, operands=operands, **claims)


SEQUENCES = [
    *(
        case(
            f"{function.__name__} {mode} {n} {m}",
            lambda a, v, function=function, mode=mode: function(a, v, mode),
            draw(n),
            draw(m),
            covers=("convolve",),
            dtypes=SINGLE,
            edges=((np.arange(n), np.arange(m) - 1),),
        )
        for function in (np.convolve, np.correlate)
        for mode in ("full", "same", "valid")
        for draw, n, m in ((reals, 5, 3), (complexes, 3, 4), (reals, 4, 2), (reals, 3, 3))
    ),
    *(
        case(
            f"scipy {function.__name__} {mode} {left} {right}",
            lambda a, v, function=function, mode=mode: function(a, v, mode),
            draw(*left),
            draw(*right),
            dtypes=SINGLE,
            atol=1e-11,
        )
        for function in (scipy.signal.convolve, scipy.signal.correlate, scipy.signal.fftconvolve)
        for mode in ("full", "same", "valid")
        for draw, left, right in (
            (reals, (5,), (3,)),
            (complexes, (4, 3), (2, 3)),
            (reals, (2, 3), (3, 4)),
        )
    ),
    *(
        case(
            f"sliding_window_view {shape} {window} axis={axis}",
            lambda x, window=window, axis=axis: np.lib.stride_tricks.sliding_window_view(
                x, window, axis=axis
            ),
            reals(*shape),
        )
        for shape, window, axis in (
            ((5,), 3, None),
            ((3, 4), (2, 3), None),
            ((3, 4, 2), 2, 1),
            ((4, 3), (2, 2), (0, 0)),
            ((40,), 35, None),
        )
    ),
    case("scipy convolve2d", scipy.signal.convolve2d, reals(4, 3), reals(2, 2)),
    case("scipy correlate2d", scipy.signal.correlate2d, reals(4, 3), reals(2, 2)),
]


def conv_case(name: str, x: np.ndarray, kernel: np.ndarray, **options: Any) -> Case:
    return case(
        f"conv {name}",
        lambda x, kernel: images.conv(x, kernel, **options),
        x,
        kernel,
        covers=("conv", "conv_for_input", "conv_for_kernel"),
        dtypes=SINGLE,
    )


CONVOLUTIONS = [
    conv_case("1d", reals(2, 3, 6), reals(4, 3, 3)),
    conv_case("1d strided", reals(2, 3, 8), reals(4, 3, 3), stride=2, padding=1),
    conv_case("1d dilated", reals(1, 2, 9), reals(2, 2, 3), dilation=3, padding=((2, 1),)),
    conv_case("2d", reals(2, 2, 4, 5), reals(3, 2, 3, 2)),
    conv_case("2d strided", reals(2, 1, 6, 5), reals(2, 1, 3, 2), stride=(2, 3), padding=(1, 0)),
    conv_case("2d grouped", reals(1, 4, 4, 4), reals(6, 2, 2, 2), groups=2),
    conv_case("2d depthwise", reals(2, 3, 4, 4), reals(3, 1, 3, 3), groups=3, padding="same"),
    conv_case("2d complex", complexes(1, 2, 3, 4), complexes(2, 2, 2, 2), padding="valid"),
    conv_case("2d last", reals(2, 4, 5, 2), reals(3, 2, 3, 2), layout="channels_last"),
    conv_case("3d", reals(1, 2, 3, 3, 4), reals(2, 2, 2, 2, 2), stride=2, padding=1),
    case(
        "conv with bias",
        lambda x, kernel, bias: images.conv(x, kernel, bias),
        reals(2, 2, 4),
        reals(3, 2, 2),
        reals(3),
    ),
    case(
        "conv_transpose 1d",
        lambda x, kernel, bias: images.conv_transpose(x, kernel, bias, stride=2, padding=1),
        reals(2, 3, 4),
        reals(3, 2, 3),
        reals(2),
        covers=("conv_for_input",),
    ),
    case(
        "conv_transpose 2d",
        lambda x, kernel: images.conv_transpose(
            x, kernel, stride=(2, 3), output_padding=(1, 2), groups=2, dilation=2
        ),
        reals(2, 4, 2, 3),
        reals(4, 1, 2, 2),
    ),
]

APART = NOISE.permutation(96).astype(float)

POOLING = [
    *(
        case(
            f"{function.__name__} {size} of {shape} {options}",
            lambda x, function=function, size=size, options=options: function(x, size, **options),
            APART[:96].reshape(shape),
            dtypes=SINGLE,
        )
        for function in (images.max_pool, images.avg_pool)
        for shape, size, options in (
            ((2, 3, 16), 2, {}),
            ((2, 2, 4, 6), 2, {}),
            ((2, 2, 4, 6), (3, 2), {"stride": 1, "padding": (1, 0)}),
            ((1, 2, 6, 8), 3, {"stride": 2, "padding": 1, "ceil_mode": True}),
            ((2, 2, 4, 6), (2, 3), {"layout": "channels_last"}),
            ((1, 1, 4, 4, 6), 2, {"stride": (2, 1, 2)}),
        )
    ),
    case(
        "max_pool dilated",
        lambda x: images.max_pool(x, 2, stride=1, dilation=2),
        APART.reshape(2, 8, 6),
    ),
    case(
        "avg_pool without padding",
        lambda x: images.avg_pool(x, 3, stride=2, padding=1, count_include_pad=False),
        reals(2, 1, 5, 5),
    ),
]

CASES = [*SEQUENCES, *CONVOLUTIONS, *POOLING]
