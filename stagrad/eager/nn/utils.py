"""Helpers for the parameters and gradients of a model: `torch.nn.utils` under the same names."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from stagrad.eager.functions.joining import cat
from stagrad.eager.inplace import bump
from stagrad.eager.modes import no_grad
from stagrad.eager.tape import make_tensor, tensor_type


def _gradients(parameters: Any) -> list[Any]:
    listed = [parameters] if isinstance(parameters, tensor_type) else list(parameters)
    return [parameter._grad for parameter in listed if parameter._grad is not None]


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:  # fmt: skip
    """Scale all gradients down together so that their norm is at most `max_norm`.

    Returns the norm before that, a tensor. Raises RuntimeError where it is not finite, if asked to.

    >>> import stagrad
    >>> x = stagrad.tensor([3.0, 4.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> stagrad.nn.utils.clip_grad_norm_([x], 1.0), x.grad
    (tensor(10.), tensor([0.6000, 0.8000]))
    """
    gradients = _gradients(parameters)
    if not gradients:
        return make_tensor(np.zeros((), np.float32), None)
    norms = [np.linalg.vector_norm(g._array, ord=norm_type, axis=None) for g in gradients]
    total = np.asarray(np.linalg.vector_norm(np.stack(norms), ord=norm_type))
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    factor = np.minimum(max_norm / (total + 1e-6), 1)
    for gradient in gradients:
        gradient._array *= factor.astype(gradient._array.dtype)
        bump(gradient)
    return make_tensor(total, None)


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Bring every element of the gradients between -clip_value and clip_value."""
    for gradient in _gradients(parameters):
        np.clip(gradient._array, -clip_value, clip_value, out=gradient._array)
        bump(gradient)


def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """Return the elements of all parameters in a row."""
    return cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Write the elements of a vector into the parameters, one after the other."""
    listed = list(parameters)
    count = sum(int(parameter._array.size) for parameter in listed)
    if vec._array.shape != (count,):
        raise ValueError(
            f"vector_to_parameters: the vector has shape {list(vec._array.shape)}, the parameters "
            f"have {count} elements together"
        )
    start = 0
    with no_grad():
        for parameter in listed:
            size = parameter._array.size
            parameter.assign(vec[start : start + size].reshape(parameter.shape), "copy_")
            start += size


__all__ = ["clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "vector_to_parameters"]
