"""Values that differentiation is to regard as constants."""

from typing import Any

from stagrad.ops import floating
from stagrad.trace import flatten, unflatten


def stop_gradient(tree: Any) -> Any:
    """Return the same numbers, regarded as constants by differentiation.

    `tree` is a number, an array or a tree of them, traced or not; the result has its structure.
    Derivatives with respect to what they were computed from are zero, in every mode and order.

    >>> import numpy as np, stagrad
    >>> stagrad.grad(lambda x: np.sum(x * stagrad.stop_gradient(x)))(np.array([3.0, 4.0]))
    array([3., 4.])
    """
    leaves, spec = flatten(tree)
    return unflatten(spec, [floating.stop_gradient(leaf) for leaf in leaves])
