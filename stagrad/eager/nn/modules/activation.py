"""Activations, flattening and losses as modules: each calls the function of its name."""

from typing import Any

from stagrad.eager.nn import functional
from stagrad.eager.nn.modules.module import Module
from stagrad.eager.tensor import Tensor


class ReLU(Module):
    """max(x, 0)."""

    def forward(self, input: Any) -> Any:
        """Return max(x, 0)."""
        return functional.relu(input)


class GELU(Module):
    """x times the normal distribution function of x (Hendrycks and Gimpel, 2016)."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Any) -> Any:
        """Return x Φ(x)."""
        return functional.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """Return the approximation."""
        return f"approximate={self.approximate!r}"


class SiLU(Module):
    """x times the logistic function of x."""

    def forward(self, input: Any) -> Any:
        """Return x σ(x)."""
        return functional.silu(input)


class Sigmoid(Module):
    """The logistic function."""

    def forward(self, input: Any) -> Any:
        """Return 1 / (1 + exp(-x))."""
        return functional.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input: Any) -> Any:
        """Return tanh(x)."""
        return functional.tanh(input)


class Softplus(Module):
    """log(1 + exp(x)), stable."""

    def forward(self, input: Any) -> Any:
        """Return log(1 + exp(x))."""
        return functional.softplus(input)

    def extra_repr(self) -> str:
        """Return the options."""
        return "beta=1.0, threshold=20.0"


class _AlongAxis(Module):
    """A function along one axis."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        """Return the axis."""
        return f"dim={self.dim}"


class Softmax(_AlongAxis):
    """exp(x) over its sum along an axis."""

    def forward(self, input: Any) -> Any:
        """Return the softmax."""
        return functional.softmax(input, dim=self.dim)


class LogSoftmax(_AlongAxis):
    """The logarithm of the softmax along an axis."""

    def forward(self, input: Any) -> Any:
        """Return the logarithm of the softmax."""
        return functional.log_softmax(input, dim=self.dim)


class Flatten(Module):
    """Axes `start_dim` to `end_dim` as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Any) -> Any:
        """Return the input with those axes flattened."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Return the axes."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Identity(Module):
    """The input itself."""

    def forward(self, input: Any) -> Any:
        """Return the input."""
        return input


class _Loss(Module):
    """A loss of predictions and targets, averaged, summed or left as it is."""

    function: str

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, input: Any, target: Tensor) -> Any:
        """Return the loss."""
        loss = getattr(functional, self.function)
        return loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """Squared differences."""

    function = "mse_loss"


class L1Loss(_Loss):
    """Absolute differences."""

    function = "l1_loss"


class SmoothL1Loss(_Loss):
    """Squared differences where small, absolute ones elsewhere."""

    function = "smooth_l1_loss"


class BCELoss(_Loss):
    """Cross entropy of probabilities and targets in [0, 1]."""

    function = "binary_cross_entropy"


class BCEWithLogitsLoss(_Loss):
    """Cross entropy of log-odds and targets in [0, 1]."""

    function = "binary_cross_entropy_with_logits"


class CrossEntropyLoss(_Loss):
    """Cross entropy of logits and class numbers, or class probabilities."""

    function = "cross_entropy"


class NLLLoss(_Loss):
    """Minus the log-probability of the target class."""

    function = "nll_loss"


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence of log-probabilities from target probabilities."""

    function = "kl_div"
