"""Convolutions: images are (batch, channels, *image), or (channels, *image)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.eager.define import operation
from stagrad.ir import aval_of
from stagrad.ops.define import FUNCTIONS
from stagrad.ops.images import conv, conv_transpose

_AXES = {1: "(L)", 2: "(H, W)", 3: "(D, H, W)"}


def batched(input: Any, axes: int, name: str) -> tuple[Any, bool]:
    """Return images with an axis of the batch, and whether one had to be added."""
    given = aval_of(input)
    if given.ndim not in (axes + 1, axes + 2):
        raise RuntimeError(
            f"Expected {axes + 1}D (unbatched) or {axes + 2}D (batched) input to {name}, but got "
            f"input of size: {list(given.shape)}"
        )
    if given.ndim == axes + 2:
        return input, False
    return FUNCTIONS[np.reshape](input, (1, *given.shape)), True


def unbatched(result: Any, added: bool) -> Any:
    """Undo `batched`."""
    return FUNCTIONS[np.reshape](result, aval_of(result).shape[1:]) if added else result


def _whole(value: Any) -> Any:
    """Return a tuple of one number as that number."""
    return value[0] if isinstance(value, list | tuple) and len(value) == 1 else value


def _is_one(value: Any) -> bool:
    return all(step == 1 for step in (value if isinstance(value, list | tuple) else [value]))


def _name(axes: int) -> Callable[..., str]:
    def name(input: Any, *args: Any, **kwargs: Any) -> str:
        return "SqueezeBackward1" if aval_of(input).ndim == axes + 1 else "ConvolutionBackward0"

    return name


def _convolution(axes: int) -> Callable[..., Any]:
    name = f"conv{axes}d"

    @operation(_name(axes))
    def function(
        input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1,
    ) -> Any:  # fmt: skip
        images, added = batched(input, axes, name)
        if padding == "same" and not _is_one(stride):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        channels, wanted = aval_of(images).shape[1], aval_of(weight).shape[1] * groups
        if aval_of(weight).ndim != axes + 2 or channels != wanted:
            raise RuntimeError(
                f"Given groups={groups}, weight of size {list(aval_of(weight).shape)}, expected "
                f"input{list(aval_of(input).shape)} to have {wanted} channels, but got {channels} "
                "channels instead"
            )
        result = conv(
            images, weight, bias, stride=_whole(stride), padding=_whole(padding),
            dilation=_whole(dilation), groups=groups,
        )  # fmt: skip
        return unbatched(result, added)

    return _named(function, name, f"Convolve over {_AXES[axes]}; arguments as in PyTorch.")


def _transposed(axes: int) -> Callable[..., Any]:
    name = f"conv_transpose{axes}d"

    @operation(_name(axes))
    def function(
        input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
    ) -> Any:  # fmt: skip
        images, added = batched(input, axes, name)
        result = conv_transpose(
            images, weight, bias, stride=_whole(stride), padding=_whole(padding),
            output_padding=_whole(output_padding), dilation=_whole(dilation), groups=groups,
        )  # fmt: skip
        return unbatched(result, added)

    return _named(function, name, f"Convolve over {_AXES[axes]}, transposed; as in PyTorch.")


def _named(function: Callable[..., Any], name: str, text: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


conv1d, conv2d, conv3d = (_convolution(axes) for axes in (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = (_transposed(axes) for axes in (1, 2, 3))
