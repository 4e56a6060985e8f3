"""Pooling layers, channels first."""

from typing import Any, ClassVar

from stagrad.eager.nn import functional
from stagrad.eager.nn.modules.activation import FunctionModule
from stagrad.eager.nn.modules.module import Module

Size = int | tuple[int, ...]


class _MaxPool(Module):
    """What pooling by the largest element shares."""

    function: ClassVar[str]

    def __init__(
        self, kernel_size: Size, stride: Size | None = None, padding: Size = 0,
        dilation: Size = 1, return_indices: bool = False, ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        """Return the pooled input."""
        return getattr(functional, self.function)(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
            self.return_indices,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the sizes."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """The largest element of each window of a sequence."""

    function = "max_pool1d"


class MaxPool2d(_MaxPool):
    """The largest element of each window of an image."""

    function = "max_pool2d"


class AvgPool2d(Module):
    """The mean of each window of an image."""

    def __init__(
        self, kernel_size: Size, stride: Size | None = None, padding: Size = 0,
        ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Any) -> Any:
        """Return the pooled input."""
        return functional.avg_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad, self.divisor_override,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the sizes."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AdaptiveAvgPool2d(FunctionModule):
    """Means of windows chosen so that `output_size` of them cover an image."""

    function = "adaptive_avg_pool2d"
    options: ClassVar[dict[str, Any]] = {"output_size": None}
