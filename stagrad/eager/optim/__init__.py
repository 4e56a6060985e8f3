"""Optimizers and learning-rate schedules that behave as PyTorch's of the same names."""

from stagrad.eager.optim import lr_scheduler
from stagrad.eager.optim.adam import Adam, AdamW
from stagrad.eager.optim.lbfgs import LBFGS
from stagrad.eager.optim.optimizer import Optimizer
from stagrad.eager.optim.rmsprop import RMSprop
from stagrad.eager.optim.sgd import SGD

__all__ = ["LBFGS", "SGD", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
