"""Jacobians, Hessians and Hessian-vector products."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from stagrad.api.jvp import JvpFunction
from stagrad.api.outputs import per_function
from stagrad.api.transforms import grad
from stagrad.api.vjp import VjpFunction
from stagrad.ir import aval_of
from stagrad.trace import flatten, unflatten

MODES = ("auto", "forward", "reverse")


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

    Raises DTypeError for an argument that is not float or complex.

    >>> import numpy as np, stagrad
    >>> stagrad.jacobian(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    if mode not in MODES:
        raise ValueError(f"jacobian: mode={mode!r}; choose one of {', '.join(MODES)}")
    backward = VjpFunction(function, argnums, "jacobian")
    forward = JvpFunction(function, argnums, "jacobian")

    def compute(*args: Any, **kwargs: Any) -> Any:
        value, pullback = backward(*args, **kwargs)
        outputs, output_spec = flatten(value)
        numbers, numbers_spec = flatten(argnums)
        chosen = unflatten(numbers_spec, [args[number] for number in numbers])
        inputs, input_spec = flatten(chosen)
        if _mode(mode, inputs, outputs) == "reverse":
            blocks = [
                _blocks_of_rows(pullback, outputs, output_spec, inputs, place)
                for place in range(len(outputs))
            ]
        else:
            columns = [
                [
                    flatten(forward(args, unflatten(input_spec, seeds), **kwargs)[1])[0]
                    for seeds in _unit_seeds(inputs, place)
                ]
                for place in range(len(inputs))
            ]
            blocks = [
                [
                    _block_of_columns([column[place] for column in part], output, leaf)
                    for part, leaf in zip(columns, inputs, strict=True)
                ]
                for place, output in enumerate(outputs)
            ]
        return unflatten(output_spec, [unflatten(input_spec, block) for block in blocks])

    return compute


def _mode(mode: str, inputs: list[Any], outputs: list[Any]) -> str:
    if mode != "auto":
        return mode
    if any(aval_of(leaf).dtype.kind == "c" for leaf in (*inputs, *outputs)):
        return "reverse"
    fewer_inputs = sum(map(np.size, inputs)) < sum(map(np.size, outputs))
    return "forward" if fewer_inputs else "reverse"


def _unit_seeds(leaves: list[Any], place: int) -> Iterator[list[Any]]:
    """Yield, for each element of one leaf, arrays like the leaves with a single one in them."""
    seeds = [np.zeros(aval_of(leaf).shape, aval_of(leaf).dtype) for leaf in leaves]
    aval = aval_of(leaves[place])
    for unit in np.eye(aval.size, dtype=aval.dtype).reshape(aval.size, *aval.shape):
        yield [*seeds[:place], unit, *seeds[place + 1 :]]


def _blocks_of_rows(
    pullback: Callable[[Any], Any], outputs: list[Any], spec: Any, inputs: list[Any], place: int
) -> list[Any]:
    rows = [flatten(pullback(unflatten(spec, seeds)))[0] for seeds in _unit_seeds(outputs, place)]
    shape = aval_of(outputs[place]).shape
    avals = [aval_of(leaf) for leaf in inputs]
    if not rows:
        return [np.zeros(shape + aval.shape, aval.dtype) for aval in avals]
    return [
        np.stack([row[number] for row in rows]).reshape(shape + aval.shape)
        for number, aval in enumerate(avals)
    ]


def _block_of_columns(columns: list[Any], output: Any, leaf: Any) -> Any:
    shape = aval_of(output).shape + aval_of(leaf).shape
    if not columns:
        return np.zeros(shape, aval_of(output).dtype)
    return np.stack(columns, axis=-1).reshape(shape)


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
    vectors = (vector,) if single else tuple(vector)
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
