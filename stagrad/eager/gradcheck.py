"""`stagrad.autograd.gradcheck`: derivatives held against finite differences."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stagrad.eager import modes, tape
from stagrad.eager.autograd import grad
from stagrad.eager.tape import make_tensor


class GradcheckError(RuntimeError):
    """A derivative differs from finite differences."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    **ignored: Any,
) -> bool:
    """Hold the gradients of `func` at `inputs` against central differences; return True.

    Inputs that require grad must be float64 or complex128. Every output is checked with respect to
    each of their elements. Raises GradcheckError naming output, input and both Jacobians, or
    returns False where `raise_exception` is False.

    >>> import numpy as np, stagrad
    >>> x = stagrad.tensor(np.array([1.0, 2.0]), requires_grad=True)
    >>> stagrad.autograd.gradcheck(lambda x: x * x * x, x)
    True
    """
    given = (inputs,) if isinstance(inputs, tape.tensor_type) else tuple(inputs)
    chosen = [x for x in given if isinstance(x, tape.tensor_type) and x.requires_grad]
    if not chosen:
        raise ValueError("gradcheck expects at least one input tensor to require gradient")
    for tensor in chosen:
        if tensor.dtype not in (np.float64, np.complex128):
            raise ValueError(
                f"gradcheck: an input that requires grad is {tensor.dtype}; finite differences "
                "need float64 or complex128"
            )
    try:
        _check(func, given, chosen, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    **ignored: Any,
) -> bool:
    """Hold the second derivatives of `func` against central differences of its gradients."""
    given = (inputs,) if isinstance(inputs, tape.tensor_type) else tuple(inputs)
    outputs = _outputs(func, given)
    if grad_outputs is None:
        random = np.random.default_rng(0)
        seeds = [_random_like(output, random) for output in outputs]
    else:
        single = isinstance(grad_outputs, tape.tensor_type)
        seeds = [grad_outputs] if single else list(grad_outputs)
    count = len(given)

    def gradients(*arguments: Any) -> Any:
        tensors, cotangents = arguments[:count], arguments[count:]
        chosen = [x for x in tensors if isinstance(x, tape.tensor_type) and x.requires_grad]
        found = grad(
            _outputs(func, tensors), chosen, cotangents, create_graph=True, allow_unused=True
        )
        return tuple(gradient for gradient in found if gradient is not None)

    return gradcheck(
        gradients,
        (*given, *seeds),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
    )


def _random_like(output: Any, random: np.random.Generator) -> Any:
    array = random.normal(size=output.shape)
    if output.dtype.kind == "c":
        array = array + 1j * random.normal(size=output.shape)
    return make_tensor(np.asarray(array, output.dtype), None).requires_grad_()


def _outputs(func: Callable[..., Any], inputs: Sequence[Any]) -> list[Any]:
    result = func(*inputs)
    listed = list(result) if isinstance(result, tuple | list) else [result]
    return [
        output for output in listed if isinstance(output, tape.tensor_type) and output.requires_grad
    ]


def _check(
    func: Callable[..., Any],
    inputs: Sequence[Any],
    chosen: Sequence[Any],
    eps: float,
    atol: float,
    rtol: float,
) -> None:
    outputs = _outputs(func, inputs)
    places = [
        place for place, output in enumerate(_all_outputs(func, inputs)) if output.requires_grad
    ]
    for number, tensor in enumerate(chosen):
        numeric = _differences(func, inputs, tensor, places, eps)
        for row, output in enumerate(outputs):
            analytic = _jacobian(output, tensor)
            if not np.allclose(analytic, numeric[row], rtol=rtol, atol=atol):
                raise GradcheckError(
                    f"Jacobian mismatch for output {row} with respect to input {number},\n"
                    f"numerical:\n{numeric[row]}\nanalytical:\n{analytic}\n"
                )


def _all_outputs(func: Callable[..., Any], inputs: Sequence[Any]) -> list[Any]:
    result = func(*inputs)
    listed = list(result) if isinstance(result, tuple | list) else [result]
    return [output for output in listed if isinstance(output, tape.tensor_type)]


def _parts(array: np.ndarray) -> np.ndarray:
    """Return the real numbers an array consists of, end to end."""
    flat = np.ravel(array)
    return np.concatenate([flat.real, flat.imag]) if flat.dtype.kind == "c" else flat


def _units(array: np.ndarray) -> list[np.ndarray]:
    steps = (1.0, 1j) if array.dtype.kind == "c" else (1.0,)
    units = []
    for step in steps:
        for place in range(array.size):
            unit = np.zeros(array.shape, array.dtype)
            unit.reshape(-1)[place] = step
            units.append(unit)
    return units


def _jacobian(output: Any, tensor: Any) -> np.ndarray:
    """Return a row for each real number of the output."""
    rows = []
    for unit in _units(output._array):
        (found,) = grad(
            output, tensor, make_tensor(unit, None), retain_graph=True, allow_unused=True
        )
        rows.append(_parts(np.zeros_like(tensor._array) if found is None else found._array))
    return np.array(rows).reshape(-1, _parts(tensor._array).size)


def _differences(
    func: Callable[..., Any],
    inputs: Sequence[Any],
    tensor: Any,
    places: Sequence[int],
    eps: float,
) -> list[np.ndarray]:
    original = tensor._array.copy()
    columns: list[list[np.ndarray]] = [[] for _ in places]
    try:
        for unit in _units(original):
            ends = []
            for sign in (1, -1):
                with modes.no_grad():
                    tensor._array[...] = original + sign * eps * unit
                with modes.enable_grad():
                    values = _all_outputs(func, inputs)
                ends.append([_parts(values[place]._array).copy() for place in places])
            for column, above, below in zip(columns, *ends, strict=True):
                column.append((above - below) / (2 * eps))
    finally:
        tensor._array[...] = original
    size = _parts(original).size
    return [np.array(column).reshape(size, -1).T for column in columns]
