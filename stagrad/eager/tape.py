"""The tape: running an operation of the table on tensors and recording it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stagrad.eager.modes import is_grad_enabled
from stagrad.eager.names import backward_name
from stagrad.eager.node import Edge, Node, freed_error, take_order
from stagrad.eager.recording import anomaly, note_trace, pack_saved, saved_hooks, unpack_saved
from stagrad.eager.saving import Plan, plan_of, underivable
from stagrad.eager.translation import size_mismatch
from stagrad.errors import SizeError
from stagrad.ir import NOT_DIFFERENTIABLE, Primitive
from stagrad.ir.aval import dtype_name
from stagrad.ops.quiet import restore, silence

if TYPE_CHECKING:
    from stagrad.eager.tensor import Tensor

Version = list[Any]
"""Shared by all tensors on one memory: how often it was written, and where in the user's code."""

_ndarray = np.ndarray


class PrimitiveNode(Node):
    """An operation of the table: runs its derivative rules on what it kept.

    - saved: the result and the operands as the rules take them, stand-ins where nothing is read.
    - checks: versions of the kept arrays, as (counter, count when kept).
    - later: versions of what only a recorded backward pass reads.
    """

    saved: tuple[Any, ...] | None
    title: str | None = None
    later: Sequence[tuple[Version, int]] = ()

    def __init__(
        self,
        plan: Plan,
        edges: Sequence[Edge],
        saved: tuple[Any, ...],
        checks: Sequence[tuple[Version, int]],
    ) -> None:
        self.plan = plan
        self.edges = edges
        self.saved = saved
        self.checks = checks
        self.order = take_order()

    @property
    def label(self) -> str:  # type: ignore[override]
        """PyTorch's name for the operation."""
        return self.title or backward_name(self.plan.primitive.name)

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each operand the node that made it and which of its results it is."""
        edges = dict(zip(self.plan.positions, self.edges, strict=True))
        return tuple(edges.get(position, (None, 0)) for position in range(self.plan.arity))

    def free(self) -> None:
        """Forget what was kept for `run`, which raises from now on."""
        self.saved = None
        self.checks = ()

    def run(self, cotangent: Any, record: bool) -> Sequence[Any]:
        """Return the cotangents of the operands that need one."""
        saved = self.saved
        if saved is None:
            raise freed_error(self)
        for version, count in self.checks:
            if version[0] != count:
                raise self._overwritten(version, count)
        plan = self.plan
        if type(saved) is not tuple:
            saved = unpack_saved(saved)
        if record:
            saved = self._as_tensors(saved)
            cotangent = _tensors(cotangent)
        params = plan.params
        results = []
        for position, rule, shape, dtype in plan.rules:
            if rule is NOT_DIFFERENTIABLE:
                raise underivable(plan.primitive, position)
            result = rule(cotangent, *saved, **params)
            if result is not None and (result.shape != shape or result.dtype is not dtype):
                result = fit(result, shape, dtype)
            results.append(result)
        return results

    def _as_tensors(self, saved: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what was kept as tensors that lead back to where they came from."""
        plan = self.plan
        values = list(saved)
        if plan.kept_out:
            out = values[0]
            if isinstance(out, tuple):
                values[0] = tuple(_hung(part, (self, place)) for place, part in enumerate(out))
            else:
                values[0] = _hung(out, (self, 0))
        for position, edge in zip(plan.positions, self.edges, strict=True):
            if plan.kept[1 + position]:
                values[1 + position] = _hung(values[1 + position], edge)
        return tuple(values)

    def _overwritten(self, version: Version, count: int) -> RuntimeError:
        where = f" The last write was at {version[1]}." if version[1] else ""
        arrays = [value for value in self.saved or () if isinstance(value, np.ndarray)]
        described = ", ".join(f"{dtype_name(a.dtype)}{list(a.shape)}" for a in arrays)
        return RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace "
            f"operation: a value that {self.label} saved ({described}) is at version {version[0]}; "
            f"expected version {count} instead.{where} Write it out of place (y = y + 1 for "
            "y += 1), or overwrite a clone() of it. autograd.set_detect_anomaly(True) shows the "
            "forward operation."
        )


def _hung(value: Any, edge: Edge) -> Any:
    """Return an array as a tensor that came out of a node."""
    if not isinstance(value, _ndarray) or value.dtype.kind not in "fc":
        return value
    return make_tensor(value, edge)


def _tensors(cotangent: Any) -> Any:
    if isinstance(cotangent, list):
        return tuple(part if part is None else as_cotangent(part) for part in cotangent)
    return as_cotangent(cotangent)


def as_cotangent(value: Any) -> Any:
    """Return a cotangent as a tensor."""
    return value if hasattr(value, "_edge") else make_tensor(np.asarray(value), None)


def fit(cotangent: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Return a cotangent in its operand's shape and dtype: undo broadcasting and promotion."""
    from stagrad.ops.complex import real
    from stagrad.ops.movement import astype, broadcast_to, sum_to

    if cotangent.shape != shape:
        if len(cotangent.shape) < len(shape):
            cotangent = broadcast_to(cotangent, shape)
        cotangent = sum_to(cotangent, shape)
    if cotangent.dtype != dtype:
        if cotangent.dtype.kind == "c" and dtype.kind != "c":
            cotangent = real(cotangent)
        cotangent = astype(cotangent, dtype)
    return cotangent


tensor_type: Any = ()
"""The class Tensor, set by its module, which stands above this one."""

recorded_type: Any = ()
"""The class of values without numbers in recipes, set by its module once it is needed."""

_new = object.__new__


def make_tensor(array: np.ndarray, edge: Edge | None) -> Any:
    """Return a tensor of an array, which it takes over, with the edge its gradient takes."""
    tensor = _new(tensor_type)
    tensor._array = array
    tensor._edge = edge
    tensor._counter = [0]
    return tensor


def edge_of(tensor: "Tensor") -> Edge | None:
    """Return where the gradient of a tensor goes, None when it needs none."""
    if tensor._base is not None:
        tensor._renew()
    edge = tensor._edge
    if edge is None and tensor._requires_grad:
        return tensor._leaf_edge()
    return edge


def apply(primitive: Primitive, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    """Run an operation on tensors, arrays and numbers, and record it where that is wanted."""
    arrays: list[Any] = []
    edges: list[Edge] = []
    positions: list[int] = []
    recording = is_grad_enabled()
    for place, operand in enumerate(operands):
        if isinstance(operand, tensor_type):
            arrays.append(operand._array)
            if recording:
                edge = operand._edge
                if edge is None or operand._base is not None:
                    edge = edge_of(operand)
                if edge is not None:
                    edges.append(edge)
                    positions.append(place)
        else:
            arrays.append(operand)
    token = silence()
    try:
        if params:
            out = primitive.evaluate(tuple(arrays), params)
        else:
            run = _RUNNERS.get((primitive, len(arrays))) or _runner(primitive, len(arrays))
            out = run(*arrays)
    except ValueError:
        explain_shapes(arrays)
        raise
    finally:
        restore(token)
    if primitive.multiple:
        out = tuple(map(np.asarray, out))
        return _record_multiple(primitive, operands, params, arrays, edges, positions, out)
    if type(out) is not _ndarray:
        out = _as_array(primitive, params, arrays[0], out)
    result = make_tensor(out, None)
    if primitive.view is not None and isinstance(operands[0], tensor_type):
        _make_view(result, operands[0], primitive, params)
    elif out is arrays[0]:
        result._array = out = out.copy()
    if edges and out.dtype.kind in "fc":
        record(primitive, operands, params, arrays, edges, positions, result)
    return result


def explain_shapes(arrays: Sequence[Any]) -> None:
    """Raise SizeError, in PyTorch's words, where two operands do not broadcast."""
    if len(arrays) != 2:
        return
    told = size_mismatch(np.shape(arrays[0]), np.shape(arrays[1]))
    if told:
        raise SizeError(told) from None


_RUNNERS: dict[tuple[Primitive, int], Any] = {}


def _runner(primitive: Primitive, arity: int) -> Any:
    """Return what runs an operation without params on that many arrays: a ufunc where it is one."""
    names = tuple(f"x{place}" for place in range(arity))
    if primitive.expression(names, {}) == f"xp.{primitive.name}({', '.join(names)})":
        run = getattr(np, primitive.name)
    else:

        def run(*arrays: Any) -> Any:
            return primitive.evaluate(arrays, {})

    _RUNNERS[primitive, arity] = run
    return run


def _as_array(primitive: Primitive, params: dict[str, Any], array: Any, out: Any) -> np.ndarray:
    """Return NumPy's scalar as an array: one element of an array as a view of it."""
    if primitive.view is not None and isinstance(array, _ndarray):
        view: np.ndarray = primitive.evaluate((array[..., np.newaxis],), params)
        return view.reshape(())
    return np.asarray(out)


def _make_view(result: Any, operand: Any, primitive: Primitive, params: dict[str, Any]) -> None:
    """Mark a result as a view where NumPy let it share its operand's memory."""
    if np.may_share_memory(result._array, operand._array):
        base = operand if operand._base is None else operand._base
        result._base = base
        result._chain = (*operand._chain, (primitive, params))
        result._counter = operand._counter
        result._seen = base._rewrites
        if not is_grad_enabled():
            result._origin = "no_grad"


def record(
    primitive: Primitive,
    operands: Sequence[Any],
    params: dict[str, Any],
    arrays: Sequence[Any],
    edges: Sequence[Edge],
    positions: Sequence[int],
    result: Any,
) -> None:
    """Hang a result on a new node."""
    plan = plan_of(primitive, params, arrays, result._array, tuple(positions))
    if len(plan.rules) != len(edges):
        if not plan.rules:
            return
        wanted = plan.positions
        edges = [edge for edge, place in zip(edges, positions, strict=True) if place in wanted]
    saved = plan.stand_ins
    checks = []
    if plan.kept_any:
        values = list(saved)
        if plan.kept_out:
            values[0] = result._array
            checks.append((result._counter, result._counter[0]))
        for position in plan.kept_operands:
            operand = operands[position]
            values[1 + position] = arrays[position]
            if isinstance(operand, tensor_type):
                version = operand._counter
                checks.append((version, version[0]))
        saved = tuple(values)
    node = PrimitiveNode(plan, edges, saved, checks)
    if anomaly.get() or saved_hooks.get():
        finish(node)
    result._edge = (node, 0)


def _record_multiple(
    primitive: Primitive,
    operands: Sequence[Any],
    params: dict[str, Any],
    arrays: Sequence[Any],
    edges: Sequence[Edge],
    positions: Sequence[int],
    out: tuple[Any, ...],
) -> tuple[Any, ...]:
    results = tuple(make_tensor(part, None) for part in out)
    if not edges or not any(part.dtype.kind in "fc" for part in out):
        return results
    plan = plan_of(primitive, params, arrays, out, tuple(positions))
    wanted = plan.positions
    edges = [edge for edge, place in zip(edges, positions, strict=True) if place in wanted]
    values = list(plan.stand_ins)
    checks: list[tuple[Version, int]] = []
    if plan.kept_out:
        values[0] = out
        checks.extend((result._counter, result._counter[0]) for result in results)
    for position in plan.kept_operands:
        operand = operands[position]
        values[1 + position] = arrays[position]
        if isinstance(operand, tensor_type):
            checks.append((operand._counter, operand._counter[0]))
    node = PrimitiveNode(plan, edges, tuple(values), checks)
    node.outputs = len(out)
    finish(node)
    for place, result in enumerate(results):
        if result.dtype.kind in "fc":
            result._edge = (node, place)
    return results


def finish(node: PrimitiveNode) -> None:
    """Let those who asked for it see what is saved and where the operation stands."""
    if anomaly.get():
        note_trace(node)
    if saved_hooks.get():
        pack_saved(node)
