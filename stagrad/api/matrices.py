"""Jacobians, Hessians and Hessian-vector products."""

from collections.abc import Callable
from typing import Any

from stagrad.api.jacobian import MODES, JacobianFunction
from stagrad.api.jvp import JvpFunction
from stagrad.api.outputs import per_function
from stagrad.api.transforms import grad


def jacobian(
    function: Callable[..., Any], argnums: Any = 0, *, mode: str = "auto"
) -> Callable[..., Any]:
    """Return the function that computes the Jacobian.

    The result has the tree of the function's result, each leaf replaced by the tree of the
    differentiated argument (a tuple of them for a tuple of argnums), whose leaves are arrays of
    shape `result.shape + argument.shape`.

    - argnums: which positional arguments to differentiate: an int, or a tree of ints.
    - mode: "forward" takes one pass an argument element, "reverse" one a result element, "auto" the
      fewer. With complex values each row holds what `stagrad.grad` gives, and "auto" is "reverse".

    All passes are made at once, in one program, as if mapped by `stagrad.vmap`; where their arrays
    would be large, as many at a time as a cache holds (but all at once as a part of another traced
    function). Raises DTypeError for an argument that is not float or complex, TypeError for
    results that are not numbers.

    >>> import numpy as np, stagrad
    >>> stagrad.jacobian(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    if mode not in MODES:
        raise ValueError(f"jacobian: mode={mode!r}; choose one of {', '.join(MODES)}")
    return JacobianFunction(function, argnums, mode)


def hessian(function: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """Return the function that computes the Hessian of a scalar-valued function.

    For an argument of shape s the result has shape `s + s`; for trees, the tree of the argument
    twice over. Raises what `stagrad.grad` raises.

    >>> import numpy as np, stagrad
    >>> stagrad.hessian(lambda x: x[0] ** 2 * x[1])(np.array([3.0, 2.0]))
    array([[4., 6.],
           [6., 0.]])
    """
    return jacobian(grad(function, argnums), argnums, mode="reverse")


def hvp(function: Callable[..., Any], primals: Any, vector: Any) -> Any:
    """Return the Hessian of a scalar-valued function, at a point, times a vector.

    `primals` is the argument, or a tuple of all arguments; `vector` has the same structure, and so
    has the result. It costs a small multiple of one gradient, whatever the size.

    >>> import numpy as np, stagrad
    >>> stagrad.hvp(lambda x: np.sum(x**3), np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    single = not isinstance(primals, tuple)
    args = (primals,) if single else primals
    if not single and not isinstance(vector, tuple):
        raise TypeError(
            f"hvp: primals is a tuple of all arguments, and vector is {type(vector).__name__}; it "
            "must be a tuple too, with one entry per argument"
        )
    vectors = (vector,) if single else vector
    _, product = _gradients(function)[len(args)](args, vectors)
    return product[0] if single else product


class _Gradients(dict[int, JvpFunction]):
    """Forward mode over the gradient of one function in its first n arguments, by n."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, count: int) -> JvpFunction:
        self[count] = made = JvpFunction(grad(self._function, tuple(range(count))), name="hvp")
        return made


_gradients = per_function(_Gradients)
