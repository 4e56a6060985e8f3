"""In-place operations: writing a tensor's memory and rewriting its history accordingly."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.eager import tape
from stagrad.eager.modes import is_grad_enabled
from stagrad.eager.node import Edge, Node, take_order
from stagrad.eager.tape import PrimitiveNode, edge_of
from stagrad.eager.views import RewriteNode, let_go
from stagrad.ir.aval import dtype_name
from stagrad.ops.movement import reshape

_PACKAGE = __file__.rpartition("eager")[0]


def update(target: Any, compute: Callable[[], Any], name: str) -> Any:
    """Write what `compute` returns into `target`, as its in-place form does; return `target`.

    Raises RuntimeError, before anything is written, for a leaf that requires grad or a view of one
    (outside no_grad), for memory in which elements overlap, and where shape or dtype do not fit.
    """
    check_writable(target, name)
    newest = take_order()
    value = compute()
    return write(target, value, name, since=newest)


def check_writable(target: Any, name: str) -> None:
    """Raise RuntimeError where `target` must not be written now."""
    array = target._array
    if array.size and any(
        step == 0 and extent > 1 for step, extent in zip(array.strides, array.shape, strict=True)
    ):
        raise RuntimeError(
            f"{name}: unsupported operation: more than one element of the written-to tensor refers "
            "to a single memory location. Please clone() the tensor before performing the "
            "operation."
        )
    if not array.flags.writeable:
        raise RuntimeError(f"{name}: the tensor's memory is read-only; clone() it first")
    if not is_grad_enabled():
        return
    base = target._base
    if base is None:
        if target._requires_grad and target._edge is None:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation. "
                f"It is {name}: write under stagrad.no_grad(), or out of place."
            )
        return
    if base._requires_grad and base._edge is None:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation. "
            f"It is {name}: write under stagrad.no_grad(), or into a clone()."
        )


def write(target: Any, value: Any, name: str, *, since: int | None = None) -> Any:
    """Replace the contents of `target` by a tensor, array or number of a shape that fits it."""
    is_tensor = isinstance(value, tape.tensor_type)
    array = value._array if is_tensor else np.asarray(value)
    extra = array.ndim - target._array.ndim
    if extra > 0 and array.shape[:extra] == (1,) * extra:
        # Assignment drops leading axes of one.
        array = array.reshape(array.shape[extra:])
        value = reshape(value, array.shape) if is_tensor else array
    _check_fits(target, array, value, name)
    recording = is_grad_enabled()
    edge = None
    if recording:
        check_writable(target, name)
        if is_tensor and edge_of(value) is not None:
            edge = edge_of(_fitted(target, value))
        _check_origin(target, edge, name)
    if edge is not None and since is not None:
        _protect(edge[0], target, since)
    np.copyto(target._array, array, casting="unsafe")
    bump(target)
    if recording:
        rebase(target, edge)
    return target


def _fitted(target: Any, value: Any) -> Any:
    from stagrad.ops.movement import astype, broadcast_to

    return broadcast_to(astype(value, target._array.dtype), target._array.shape)


def _check_fits(target: Any, array: np.ndarray, value: Any, name: str) -> None:
    shape, dtype = target._array.shape, target._array.dtype
    try:
        broadcast: tuple[int, ...] | None = np.broadcast_shapes(shape, array.shape)
    except ValueError:
        broadcast = None
    if broadcast != shape:
        raise RuntimeError(
            f"{name}: output with shape {list(shape)} doesn't match the broadcast shape "
            f"{list(broadcast or array.shape)}"
        )
    is_number = isinstance(value, bool | int | float | complex)
    if name != "copy_" and not is_number and not np.can_cast(array.dtype, dtype, "same_kind"):
        raise RuntimeError(
            f"result type {_type_name(array.dtype)} can't be cast to the desired output type "
            f"{_type_name(dtype)} (in {name})"
        )


_TYPE_NAMES = {"int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long", "uint8": "Byte",
               "bool": "Bool", "float16": "Half", "float32": "Float", "float64": "Double",
               "complex64": "ComplexFloat", "complex128": "ComplexDouble"}  # fmt: skip


def _type_name(dtype: np.dtype) -> str:
    return _TYPE_NAMES.get(dtype.name, dtype_name(dtype))


def _check_origin(target: Any, edge: Edge | None, name: str) -> None:
    """Refuse writes through views whose history would have to be invented."""
    origin = target._origin
    if origin is None:
        return
    if origin == "no_grad":
        if edge is None and not target._base.requires_grad:
            return
        raise RuntimeError(
            f"{name}: A view was created in no_grad mode and is being modified inplace with grad "
            "mode enabled. Create the view outside no_grad, or write it under no_grad too."
        )
    raise RuntimeError(
        f"{name}: Output of {origin} is a view and is being modified inplace. The custom "
        "Function's backward would be lost; clone() the result first."
    )


def bump(target: Any) -> None:
    """Count a write of the memory, and remember where in the user's code it stands."""
    version = target._counter
    version[0] += 1
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if len(version) == 1:
        version.append("")
    version[1] = f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""


def rebase(target: Any, edge: Edge | None) -> None:
    """Give a tensor that was written, and its base, the history of what was written."""
    base = target._base
    if base is None:
        if edge is None and target._edge is None:
            return
        retained = let_go(target)
        if edge is None:
            node = RewriteNode((), target._edge, None, target._array)
            edge = (node, 0)
        target._edge = edge
        target._rewrites += 1
        if retained:
            target.retain_grad()
        return
    old = edge_of(base)
    if edge is None and old is None:
        return
    node = RewriteNode(target._chain, old, edge, base._array)
    retained = let_go(base)
    base._edge = (node, 0)
    base._requires_grad = False
    base._rewrites += 1
    if retained:
        base.retain_grad()


def _protect(node: Node, target: Any, since: int) -> None:
    """Let the nodes of an in-place operation keep the old contents of what it overwrites."""
    stack = [node]
    seen = set()
    while stack:
        node = stack.pop()
        if node in seen or node.order > since:
            continue
        seen.add(node)
        stack.extend(target_node for target_node, _ in node.edges)
        stack.extend(inner for inner, _ in getattr(node, "roots", None) or ())
        if isinstance(node, PrimitiveNode) and type(node.saved) is tuple:
            node.saved = tuple(
                value.copy()
                if isinstance(value, np.ndarray) and np.may_share_memory(value, target._array)
                else value
                for value in node.saved
            )
            version = target._counter
            node.checks = tuple(check for check in node.checks if check[0] is not version)
            node.later = tuple(check for check in node.later if check[0] is not version)
