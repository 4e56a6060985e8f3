"""Normalization layers and dropout."""

from collections.abc import Sequence
from typing import Any

from stagrad.eager import creation
from stagrad.eager.nn import functional
from stagrad.eager.nn.modules.module import Module
from stagrad.eager.nn.parameter import Parameter


class LayerNorm(Module):
    """Normalization over the last axes (Ba et al., 2016)."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if isinstance(normalized_shape, int):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, wanted, make in (
            ("weight", elementwise_affine, creation.ones),
            ("bias", elementwise_affine and bias, creation.zeros),
        ):
            self.register_parameter(
                name, Parameter(make(*self.normalized_shape)) if wanted else None
            )

    def forward(self, input: Any) -> Any:
        """Return the normalized input, scaled and shifted."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class _BatchNorm(Module):
    """Normalization over the batch (Ioffe and Szegedy, 2015)."""

    ranks: tuple[int, ...]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self.register_parameter(
            "weight", Parameter(creation.ones(num_features)) if affine else None
        )
        self.register_parameter(
            "bias", Parameter(creation.zeros(num_features)) if affine and bias else None
        )
        tracked = track_running_stats
        self.register_buffer("running_mean", creation.zeros(num_features) if tracked else None)
        self.register_buffer("running_var", creation.ones(num_features) if tracked else None)
        self.register_buffer("num_batches_tracked", creation.tensor(0) if tracked else None)

    def forward(self, input: Any) -> Any:
        """Return the normalized input; in training, follow its mean and variance."""
        if input.ndim not in self.ranks:
            words = " or ".join(f"{rank}D" for rank in self.ranks)
            raise ValueError(f"expected {words} input (got {input.ndim}D input)")
        momentum = self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked._array += 1
            if momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked._array)
        return functional.batch_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            training=self.training or not self.track_running_stats,
            momentum=0.0 if momentum is None else momentum,
            eps=self.eps,
        )

    def extra_repr(self) -> str:
        """Return the sizes."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalization of (N, C) or (N, C, L)."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalization of (N, C, H, W)."""

    ranks = (4,)


class GroupNorm(Module):
    """Normalization over groups of channels (Wu and He, 2018)."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
        *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_channels % num_groups:
            raise ValueError("num_channels must be divisible by num_groups")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, make, wanted in (
            ("weight", creation.ones, affine),
            ("bias", creation.zeros, affine and bias),
        ):
            self.register_parameter(name, Parameter(make(num_channels)) if wanted else None)

    def forward(self, input: Any) -> Any:
        """Return the normalized input, scaled and shifted."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class Dropout(Module):
    """In training, zero each element with probability p and scale the others by 1 / (1 - p)."""

    function = "dropout"

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        """Return the input with elements dropped."""
        return getattr(functional, self.function)(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Return the probability."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout2d(Dropout):
    """In training, zero each channel with probability p and scale the others by 1 / (1 - p)."""

    function = "dropout2d"
