"""Neural networks: PyTorch's `torch.nn` under the same names."""

from stagrad.eager.nn import *  # noqa: F403 - every name of that package is one of this
from stagrad.eager.nn import __all__ as __all__
