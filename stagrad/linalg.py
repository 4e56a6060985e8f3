"""PyTorch's linear algebra on eager tensors: `torch.linalg` under the same names."""

from stagrad.eager.linalg import *  # noqa: F403
