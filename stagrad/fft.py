"""PyTorch's Fourier transforms on eager tensors: `torch.fft` under the same names."""

from stagrad.eager.fft import *  # noqa: F403
