"""Functions of neural networks, under PyTorch's names."""

from stagrad.eager.nn.functional import *  # noqa: F403
from stagrad.eager.nn.functional import __all__

__all__ = [*__all__]
