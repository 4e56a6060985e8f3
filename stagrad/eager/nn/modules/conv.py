"""Convolution and pooling layers, channels first."""

import math
from typing import Any

from stagrad.eager import creation
from stagrad.eager.nn import functional, init
from stagrad.eager.nn.modules.module import Module
from stagrad.eager.nn.parameter import Parameter

Size = int | tuple[int, ...]


def _tuple(size: Size, axes: int) -> tuple[int, ...]:
    return (size,) * axes if isinstance(size, int) else tuple(size)


class _Conv(Module):
    """What convolutions of one, two and three axes share."""

    axes: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size | str = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = _tuple(kernel_size, self.axes)
        self.stride = _tuple(stride, self.axes)
        self.padding = padding if isinstance(padding, str) else _tuple(padding, self.axes)
        self.dilation = _tuple(dilation, self.axes)
        self.groups = groups
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = Parameter(creation.empty(*shape))
        if bias:
            self.bias = Parameter(creation.empty(out_channels))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weights and biases anew, uniformly within 1 / sqrt(fan in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan = math.prod(self.weight.shape[1:])
            bound = 1 / math.sqrt(fan) if fan else 0.0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Any) -> Any:
        """Return the convolution with the weight, plus the bias."""
        function = getattr(functional, f"conv{self.axes}d")
        return function(
            input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )

    def extra_repr(self) -> str:
        """Return the sizes."""
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if self.padding != (0,) * self.axes:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * self.axes:
            text += f", dilation={self.dilation}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        return text if self.bias is not None else f"{text}, bias=False"


class Conv1d(_Conv):
    """Convolution of sequences, (N, C, L)."""

    axes = 1


class Conv2d(_Conv):
    """Convolution of images, (N, C, H, W).

    >>> import stagrad
    >>> from stagrad import nn
    >>> nn.Conv2d(3, 8, 5, padding=2)(stagrad.ones(1, 3, 9, 9)).shape == (1, 8, 9, 9)
    True
    """

    axes = 2


class Conv3d(_Conv):
    """Convolution of volumes, (N, C, D, H, W)."""

    axes = 3
