"""PyTorch's special functions on eager tensors: `torch.special` under the same names."""

from stagrad.eager.special import NAMES as _NAMES

globals().update(_NAMES)
__all__ = sorted(_NAMES)
