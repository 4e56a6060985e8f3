"""Losses as modules: each calls the function of its name."""

from typing import Any, ClassVar

from stagrad.eager.nn.modules.activation import FunctionModule


class _Loss(FunctionModule):
    """A loss of predictions and targets, averaged, summed or left as it is."""

    options: ClassVar[dict[str, Any]] = {"reduction": "mean"}

    def set_option(self, name: str, value: Any) -> None:
        """Keep an option; weights are buffers."""
        if name in ("weight", "pos_weight"):
            self.register_buffer(name, value)
        else:
            setattr(self, name, value)

    def extra_repr(self) -> str:
        """Return nothing: losses print without their options."""
        return ""


class MSELoss(_Loss):
    """Squared differences."""

    function = "mse_loss"


class L1Loss(_Loss):
    """Absolute differences."""

    function = "l1_loss"


class SmoothL1Loss(_Loss):
    """Squared differences where small, absolute ones elsewhere."""

    function = "smooth_l1_loss"
    options: ClassVar[dict[str, Any]] = {"reduction": "mean", "beta": 1.0}


class HuberLoss(_Loss):
    """Half squared differences where small, absolute ones times delta elsewhere."""

    function = "huber_loss"
    options: ClassVar[dict[str, Any]] = {"reduction": "mean", "delta": 1.0}


class BCELoss(_Loss):
    """Cross entropy of probabilities and targets in [0, 1]."""

    function = "binary_cross_entropy"
    options: ClassVar[dict[str, Any]] = {"weight": None, "reduction": "mean"}


class BCEWithLogitsLoss(_Loss):
    """Cross entropy of log-odds and targets in [0, 1]."""

    function = "binary_cross_entropy_with_logits"
    options: ClassVar[dict[str, Any]] = {
        "weight": None, "reduction": "mean", "pos_weight": None,
    }  # fmt: skip


class CrossEntropyLoss(_Loss):
    """Cross entropy of logits and class numbers, or class probabilities."""

    function = "cross_entropy"
    options: ClassVar[dict[str, Any]] = {
        "weight": None, "ignore_index": -100, "reduction": "mean", "label_smoothing": 0.0,
    }  # fmt: skip


class NLLLoss(_Loss):
    """Minus the log-probability of the target class."""

    function = "nll_loss"
    options: ClassVar[dict[str, Any]] = {
        "weight": None, "ignore_index": -100, "reduction": "mean",
    }  # fmt: skip


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence of log-probabilities from target probabilities."""

    function = "kl_div"
    options: ClassVar[dict[str, Any]] = {"reduction": "mean", "log_target": False}
