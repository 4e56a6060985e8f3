"""`stagrad.autograd`: gradients of tensors, and what users may change about how they are made."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from stagrad.eager import tape
from stagrad.eager.engine import backward_pass, keep_gradient
from stagrad.eager.node import Edge
from stagrad.eager.tape import edge_of, make_tensor
from stagrad.eager.tensor import Tensor
from stagrad.ops.complex import conjugate

Tensors = Tensor | Sequence[Tensor]


def backward(
    tensors: Tensors,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Tensors | None = None,
) -> None:
    """Add the gradients of `tensors` to `.grad` of the leaves they depend on.

    Arguments are those of `Tensor.backward`, for several tensors at once.
    """
    outputs = _listed(tensors)
    roots = _roots(outputs, _listed_gradients(grad_tensors, len(outputs)), create_graph)
    retain = create_graph if retain_graph is None else retain_graph
    if inputs is None:
        backward_pass(roots, record=create_graph, retain=retain)
        return
    chosen = _listed(inputs)
    if not chosen:
        raise RuntimeError("'inputs' argument to backward() cannot be empty.")
    wanted = _wanted(chosen)
    found = backward_pass(roots, record=create_graph, retain=retain, wanted=wanted, prune=True)
    for tensor, edge in zip(chosen, wanted, strict=True):
        if found[edge] is not None:
            keep_gradient(tensor, found[edge], create_graph)


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of the sum of `outputs` with respect to `inputs`, as a tuple.

    - grad_outputs: cotangents of the outputs; may be left out for outputs of one element.
    - retain_graph, create_graph: as in `Tensor.backward`.
    - allow_unused: give None for an input that no output depends on, instead of raising.
    - is_grads_batched: `grad_outputs` have a leading axis; gradients are computed for each entry.
    - materialize_grads: give zeros for such an input.

    >>> import stagrad
    >>> x = stagrad.tensor(3.0, requires_grad=True)
    >>> (slope,) = stagrad.autograd.grad(x**3, x, create_graph=True)
    >>> slope.item(), stagrad.autograd.grad(slope, x)[0].item()
    (27.0, 18.0)
    """
    if is_grads_batched:
        return _batched(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused)
    results, chosen = _listed(outputs), _listed(inputs)
    roots = _roots(results, _listed_gradients(grad_outputs, len(results)), create_graph)
    retain = create_graph if retain_graph is None else retain_graph
    wanted = _wanted(chosen)
    found = backward_pass(roots, record=create_graph, retain=retain, wanted=wanted, prune=True)
    gradients = []
    for place, (tensor, edge) in enumerate(zip(chosen, wanted, strict=True)):
        cotangent = found[edge]
        if cotangent is None and materialize_grads:
            gradients.append(make_tensor(np.zeros_like(tensor._array), None))
        elif cotangent is None:
            if not allow_unused:
                raise RuntimeError(
                    f"The differentiated Tensor at index {place} appears to not have been used in "
                    "the graph. Set allow_unused=True if this is the desired behavior."
                )
            gradients.append(None)
        else:
            gradients.append(_result(cotangent, create_graph))
    return tuple(gradients)


def _result(cotangent: Any, record: bool) -> Any:
    """Return a cotangent as users get it: a tensor with memory of its own."""
    if record:
        return conjugate(cotangent) if cotangent.dtype.kind == "c" else cotangent
    array = np.array(cotangent)
    return make_tensor(np.conjugate(array) if array.dtype.kind == "c" else array, None)


def _batched(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Any,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool | None,
) -> tuple[Any, ...]:
    from stagrad.ops.joining import join

    seeds = _listed_gradients(grad_outputs, len(_listed(outputs)))
    count = next(len(seed) for seed in seeds if seed is not None)
    rows = [
        grad(
            outputs,
            inputs,
            [None if seed is None else seed[place] for seed in seeds],
            retain_graph=bool(retain_graph) or create_graph or place < count - 1,
            create_graph=create_graph,
            allow_unused=allow_unused,
        )
        for place in range(count)
    ]
    return tuple(
        None if column[0] is None else join(list(column), 0, new_axis=True)
        for column in zip(*rows, strict=True)
    )


def _listed(tensors: Any) -> list[Any]:
    found = [tensors] if isinstance(tensors, tape.tensor_type) else list(tensors)
    for tensor in found:
        if not isinstance(tensor, tape.tensor_type):
            raise TypeError(f"autograd: expected Tensors, got {type(tensor).__name__}")
    return found


def _listed_gradients(gradients: Any, count: int) -> list[Any]:
    if gradients is None:
        return [None] * count
    if isinstance(gradients, tape.tensor_type | np.ndarray):
        gradients = [gradients]
    listed = list(gradients)
    if len(listed) != count:
        raise RuntimeError(f"got {count} tensors and {len(listed)} gradients")
    return listed


def _wanted(inputs: Sequence[Any]) -> list[Edge]:
    edges = []
    for tensor in inputs:
        edge = edge_of(tensor)
        if edge is None:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        edges.append(edge)
    return edges


def _roots(
    tensors: Sequence[Any], gradients: Sequence[Any], record: bool
) -> list[tuple[Edge, Any]]:
    """Return the edges where a pass begins, each with its cotangent."""
    roots = []
    for place, (tensor, gradient) in enumerate(zip(tensors, gradients, strict=True)):
        edge = edge_of(tensor)
        if edge is None:
            raise RuntimeError(
                f"element {place} of tensors does not require grad and does not have a grad_fn"
            )
        seed = _seed(tensor, gradient, place)
        roots.append((edge, seed if record else seed._array))
    return roots


def _seed(tensor: Any, gradient: Any, place: int) -> Any:
    array = tensor._array
    if gradient is None:
        if array.size != 1:
            raise RuntimeError(
                "grad can be implicitly created only for scalar outputs; this one has shape "
                f"{list(array.shape)}: pass gradient="
            )
        return make_tensor(np.ones_like(array), None)
    seed = gradient
    if not isinstance(seed, tape.tensor_type):
        seed = make_tensor(np.array(seed, array.dtype), None)
    if seed._array.shape != array.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{place}] has a shape of {seed.shape} and "
            f"output[{place}] has a shape of {tensor.shape}."
        )
    if seed._array.dtype.kind == "c" and array.dtype.kind != "c":
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same "
            f"dtype; grad_output[{place}] is {seed._array.dtype}, output[{place}] is {array.dtype}"
        )
    if seed._array.dtype != array.dtype:
        seed = tape.fit(seed, array.shape, array.dtype)
    return conjugate(seed) if array.dtype.kind == "c" else seed
