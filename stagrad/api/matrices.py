"""Jacobians, Hessians and Hessian-vector products."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stagrad.api.linear import jvp, per_function, vjp
from stagrad.api.transforms import grad
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

    - mode: "forward" takes one pass an argument element, "reverse" one a result element, "auto" the
      fewer. For complex values it holds what `stagrad.grad` would give row by row in reverse mode:
      the mode is then always reverse.

    >>> import numpy as np, stagrad
    >>> stagrad.jacobian(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    if mode not in MODES:
        raise ValueError(f"jacobian: mode={mode!r}; choose one of {', '.join(MODES)}")
    numbers, numbers_spec = flatten(argnums)

    def compute(*args: Any, **kwargs: Any) -> Any:
        chosen = [number % len(args) if -len(args) <= number else number for number in numbers]
        if any(number >= len(args) for number in chosen):
            raise ValueError(
                f"jacobian: argnums={argnums!r} does not fit a call with {len(args)} positional "
                "arguments"
            )

        def of_chosen(*parts: Any) -> Any:
            full = list(args)
            for number, part in zip(chosen, parts, strict=True):
                full[number] = part
            return function(*full, **kwargs)

        primals = tuple(args[number] for number in chosen)
        value, pullback = vjp(of_chosen, *primals)
        blocks = _blocks(of_chosen, primals, value, pullback, mode)
        rows = [unflatten(numbers_spec, _per_argument(primals, columns)) for columns in blocks]
        return unflatten(flatten(value)[1], rows)

    return compute


def _per_argument(primals: tuple[Any, ...], columns: Sequence[Any]) -> list[Any]:
    leaves, spec = flatten(primals)
    assert len(leaves) == len(columns)
    return list(unflatten(spec, columns))


def _blocks(
    function: Callable[..., Any], primals: tuple[Any, ...], value: Any, pullback: Any, mode: str
) -> list[list[Any]]:
    """Return, for each result leaf and argument leaf, the block of the Jacobian."""
    outputs, output_spec = flatten(value)
    inputs, input_spec = flatten(primals)
    sizes = [sum(aval_of(leaf).size for leaf in leaves) for leaves in (inputs, outputs)]
    kinds = {aval_of(leaf).dtype.kind for leaf in (*inputs, *outputs)}
    if mode == "auto":
        mode = "forward" if sizes[0] < sizes[1] and "c" not in kinds else "reverse"
    if mode == "reverse":
        return [
            _stacked(_rows(pullback, outputs, output_spec, place), aval_of(output).shape, inputs)
            for place, output in enumerate(outputs)
        ]
    columns = [
        _columns(function, primals, inputs, input_spec, place) for place in range(len(inputs))
    ]
    return [
        [
            _last_axes([flatten(tangent)[0][place] for tangent in column], output, inputs[number])
            for number, column in enumerate(columns)
        ]
        for place, output in enumerate(outputs)
    ]


def _rows(pullback: Any, outputs: list[Any], spec: Any, place: int) -> list[list[Any]]:
    rows = []
    for unit in _units(outputs[place]):
        seeds = [unit if k == place else _zeros(leaf) for k, leaf in enumerate(outputs)]
        rows.append(flatten(pullback(unflatten(spec, seeds)))[0])
    return rows


def _columns(
    function: Callable[..., Any], primals: tuple[Any, ...], inputs: list[Any], spec: Any, place: int
) -> list[Any]:
    columns = []
    for unit in _units(inputs[place]):
        tangents = [unit if k == place else _zeros(leaf) for k, leaf in enumerate(inputs)]
        columns.append(jvp(function, primals, unflatten(spec, tangents))[1])
    return columns


def _zeros(leaf: Any) -> np.ndarray:
    aval = aval_of(leaf)
    return np.zeros(aval.shape, aval.dtype)


def _units(leaf: Any) -> list[np.ndarray]:
    """Return the arrays like `leaf` with a single one in them."""
    aval = aval_of(leaf)
    return list(np.eye(aval.size, dtype=aval.dtype).reshape(aval.size, *aval.shape))


def _stacked(rows: list[list[Any]], shape: tuple[int, ...], inputs: list[Any]) -> list[Any]:
    if not rows:
        return [np.zeros(shape + aval_of(leaf).shape, aval_of(leaf).dtype) for leaf in inputs]
    return [
        np.stack(column).reshape(shape + aval_of(leaf).shape)
        for column, leaf in zip(zip(*rows, strict=True), inputs, strict=True)
    ]


def _last_axes(columns: list[Any], output: Any, leaf: Any) -> Any:
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
    vectors = (vector,) if single else vector
    gradient = _gradients(function)[len(args)]
    _, product = jvp(gradient, args, vectors)
    return product[0] if single else product


class _Gradients(dict[int, Any]):
    """Gradients of one function with respect to its first n arguments, by n."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, count: int) -> Any:
        self[count] = made = grad(self._function, tuple(range(count)))
        return made


_gradients = per_function(_Gradients)
