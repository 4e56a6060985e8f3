"""Optimizers and learning-rate schedules: PyTorch's `torch.optim` under the same names."""

from stagrad.eager.optim import LBFGS, SGD, Adam, AdamW, Optimizer, RMSprop
from stagrad.optim import lr_scheduler

__all__ = ["LBFGS", "SGD", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
