"""Layers that multiply by a matrix, or look rows of one up."""

import math
from typing import Any

from stagrad.eager import creation
from stagrad.eager.device import check_device
from stagrad.eager.nn import functional, init
from stagrad.eager.nn.modules.module import Module
from stagrad.eager.nn.parameter import Parameter


class Linear(Module):
    """y = x Wᵀ + b, for inputs (*, in_features).

    >>> import stagrad
    >>> from stagrad import nn
    >>> nn.Linear(3, 2)(stagrad.ones(5, 3)).shape == (5, 2)
    True
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        check_device(device)
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(creation.empty(out_features, in_features, dtype=dtype))
        if bias:
            self.bias = Parameter(creation.empty(out_features, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weights and biases anew, uniformly within 1 / sqrt(in_features)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features else 0.0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Any) -> Any:
        """Return x Wᵀ + b."""
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class NonDynamicallyQuantizableLinear(Linear):
    """The linear layer within others, under the name that PyTorch prints there."""


class Embedding(Module):
    """Rows of a matrix, looked up by integers; gradients of repeated rows add up.

    >>> import stagrad
    >>> from stagrad import nn
    >>> nn.Embedding(10, 3)(stagrad.tensor([[1, 2], [4, 1]])).shape == (2, 2, 3)
    True
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        self.weight = Parameter(creation.empty(num_embeddings, embedding_dim))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the rows from a standard normal distribution; the padding row is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight._array[self.padding_idx] = 0

    def forward(self, input: Any) -> Any:
        """Return the rows."""
        return functional.embedding(input, self.weight, padding_idx=self.padding_idx)

    def extra_repr(self) -> str:
        """Return the sizes."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"
