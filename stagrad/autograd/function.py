"""Custom operations, under PyTorch's names."""

from stagrad.eager.function import Function, FunctionContext, once_differentiable

__all__ = ["Function", "FunctionContext", "once_differentiable"]
