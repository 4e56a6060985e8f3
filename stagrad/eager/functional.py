"""`stagrad.autograd.functional`: derivatives of functions of tensors, as PyTorch names them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stagrad.eager import modes, tape
from stagrad.eager.autograd import grad
from stagrad.eager.define import run_operation
from stagrad.eager.tape import make_tensor
from stagrad.ops.joining import join

Call = Callable[..., Any]


class _Arguments:
    """A function's inputs as fresh tensors that require grad, and its outputs."""

    def __init__(self, function: Call, inputs: Any, create_graph: bool) -> None:
        self.is_single = not isinstance(inputs, tuple)
        given = (inputs,) if self.is_single else inputs
        for tensor in given:
            if not isinstance(tensor, tape.tensor_type):
                raise TypeError(
                    f"autograd.functional: the inputs must be Tensors, got {type(tensor).__name__}"
                )
        self.inputs = tuple(_fresh(tensor, create_graph) for tensor in given)
        token = modes._recording.set(True)
        try:
            outputs = function(*self.inputs)
        finally:
            modes._recording.reset(token)
        self.is_single_output = not isinstance(outputs, tuple)
        self.outputs = (outputs,) if self.is_single_output else outputs

    def like_inputs(self, values: Sequence[Any]) -> Any:
        return values[0] if self.is_single else tuple(values)

    def like_outputs(self, values: Sequence[Any]) -> Any:
        return values[0] if self.is_single_output else tuple(values)

    def value(self, create_graph: bool) -> Any:
        kept = self.outputs if create_graph else [output.detach() for output in self.outputs]
        return self.like_outputs(list(kept))


def _fresh(tensor: Any, create_graph: bool) -> Any:
    if create_graph and tensor.requires_grad:
        return run_operation("ViewAsBackward0", lambda x: x + 0, (tensor,), {})
    return tensor.detach().requires_grad_()


def _pull(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    seeds: Sequence[Any],
    *,
    record: bool,
    strict: bool,
    retain: bool = True,
) -> tuple[Any, ...]:
    """Return gradients of the inputs, zeros where nothing depends on one (an error if strict)."""
    used = [
        (output, seed) for output, seed in zip(outputs, seeds, strict=True) if output.requires_grad
    ]
    if strict and len(used) < len(outputs):
        raise RuntimeError("an output of the function does not depend on the inputs (strict=True)")
    found: Sequence[Any] = [None] * len(inputs)
    if used:
        roots, cotangents = zip(*used, strict=True)
        found = grad(
            roots, inputs, cotangents, retain_graph=retain, create_graph=record, allow_unused=True
        )
    if strict and any(gradient is None for gradient in found):
        raise RuntimeError("the outputs do not depend on one of the inputs (strict=True)")
    return tuple(
        make_tensor(np.zeros_like(tensor._array), None) if gradient is None else gradient
        for tensor, gradient in zip(inputs, found, strict=True)
    )


def _seeds(values: Any, likes: Sequence[Any], what: str) -> list[Any]:
    if values is None:
        if len(likes) != 1 or likes[0]._array.size != 1:
            raise RuntimeError(
                f"The vector v can only be None if the user-provided function has a single {what} "
                "with a single element"
            )
        return [make_tensor(np.ones_like(likes[0]._array), None)]
    listed = list(values) if isinstance(values, tuple | list) else [values]
    shapes = [tuple(value.shape) for value in listed]
    if shapes != [like.shape for like in likes]:
        raise RuntimeError(
            f"v has invalid sizes: should be {[list(like.shape) for like in likes]} but got "
            f"{[list(shape) for shape in shapes]}"
        )
    return listed


def vjp(
    func: Call, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return `(outputs, v @ jacobian)`.

    >>> import stagrad
    >>> x = stagrad.tensor([1.0, 2.0])
    >>> stagrad.autograd.functional.vjp(lambda x: (x * x).sum(), x)[1].tolist()
    [2.0, 4.0]
    """
    call = _Arguments(func, inputs, create_graph)
    seeds = _seeds(v, call.outputs, "output")
    found = _pull(call.outputs, call.inputs, seeds, record=create_graph, strict=strict)
    return call.value(create_graph), call.like_inputs(found)


def jvp(
    func: Call, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return `(outputs, jacobian @ v)`: the gradient, differentiated with respect to its seed."""
    call = _Arguments(func, inputs, create_graph)
    tangents = _seeds(v, call.inputs, "input")
    found = _forward(call.outputs, call.inputs, tangents, create_graph, strict)
    return call.value(create_graph), call.like_outputs(found)


def _forward(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    tangents: Sequence[Any],
    record: bool,
    strict: bool,
) -> tuple[Any, ...]:
    seeds = [make_tensor(np.zeros_like(output._array), None).requires_grad_() for output in outputs]
    gradients = _pull(outputs, inputs, seeds, record=True, strict=strict)
    return _pull(gradients, seeds, tangents, record=record, strict=False)


def jacobian(
    func: Call,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the Jacobian: for each output and input a tensor of shape output.shape + input.shape.

    >>> import stagrad
    >>> x = stagrad.tensor([1.0, 2.0])
    >>> stagrad.autograd.functional.jacobian(lambda x: x * x, x).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    call = _Arguments(func, inputs, create_graph)
    blocks = []
    for output in call.outputs:
        rows = []
        for place in range(output._array.size):
            unit = np.zeros_like(output._array)
            unit.reshape(-1)[place] = 1
            seed = make_tensor(unit, None)
            rows.append(_pull([output], call.inputs, [seed], record=create_graph, strict=strict))
        blocks.append(
            call.like_inputs(
                [_stacked(list(column), output.shape) for column in zip(*rows, strict=True)]
                if rows
                else [
                    make_tensor(np.zeros((*output.shape, *x.shape), x.dtype), None)
                    for x in call.inputs
                ]
            )
        )
    return call.like_outputs(blocks)


def _stacked(rows: list[Any], shape: tuple[int, ...]) -> Any:
    from stagrad.ops.movement import reshape

    def stack(*rows: Any) -> Any:
        return reshape(join(list(rows), 0, new_axis=True), (*shape, *rows[0].shape))

    return run_operation("ViewBackward0", stack, tuple(rows), {})


def hessian(
    func: Call,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the Hessian of a scalar-valued function, a block for each pair of inputs."""

    def gradient(*tensors: Any) -> Any:
        value = func(*tensors)
        _require_scalar(value)
        found = _pull([value], tensors, [make_tensor(np.ones_like(value._array), None)],
                      record=True, strict=strict)  # fmt: skip
        return found if isinstance(inputs, tuple) else found[0]

    return jacobian(gradient, inputs, create_graph, strict)


def _require_scalar(value: Any) -> None:
    if not isinstance(value, tape.tensor_type) or value._array.size != 1:
        raise RuntimeError(
            "The function given to hessian, hvp or vhp should return a single Tensor with a single "
            "element"
        )


def _second(func: Call, inputs: Any, create_graph: bool, strict: bool) -> tuple[Any, Any]:
    call = _Arguments(func, inputs, create_graph)
    _require_scalar(call.outputs[0])
    one = make_tensor(np.ones_like(call.outputs[0]._array), None)
    return call, _pull(call.outputs, call.inputs, [one], record=True, strict=strict)


def vhp(
    func: Call, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return `(output, v @ hessian)` of a scalar-valued function."""
    call, gradients = _second(func, inputs, create_graph, strict)
    seeds = _seeds(v, call.inputs, "input")
    found = _pull(gradients, call.inputs, seeds, record=create_graph, strict=strict)
    return call.value(create_graph), call.like_inputs(found)


def hvp(
    func: Call, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return `(output, hessian @ v)` of a scalar-valued function."""
    call, gradients = _second(func, inputs, create_graph, strict)
    tangents = _seeds(v, call.inputs, "input")
    found = _forward(gradients, call.inputs, tangents, create_graph, strict)
    return call.value(create_graph), call.like_inputs(found)
