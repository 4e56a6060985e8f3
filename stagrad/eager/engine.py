"""The backward engine: hands cotangents from node to node, newest first, without recursion.

Inside, cotangents pair bilinearly, as the rules want them. Where users see them (seeds, hooks,
`.grad`, results of `autograd.grad`) complex ones are conjugated, which is PyTorch's convention.
"""

import traceback
import warnings
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush, heappushpop
from typing import Any

import numpy as np

from stagrad.eager import modes
from stagrad.eager.node import Edge, Node
from stagrad.eager.recording import anomaly, check_nan
from stagrad.eager.tape import as_cotangent, make_tensor
from stagrad.ops.quiet import restore, silence


class Pass:
    """One backward pass.

    - record: the pass is itself recorded (`create_graph`), and cotangents are tensors.
    - retain: nodes keep what they saved.
    - captured: edges whose cotangents are wanted; filled in as they are met.
    - boundary: edges where the pass ends; cotangents that arrive there are summed.
    - needed: the nodes to run, all of them when None.
    """

    def __init__(
        self,
        *,
        record: bool,
        retain: bool,
        wanted: Sequence[Edge] = (),
        needed: set[Node] | None = None,
        boundary: Mapping[Edge, int] | None = None,
    ) -> None:
        self.record = record
        self.retain = retain
        self.needed = needed
        self.captured: dict[Edge, Any] = dict.fromkeys(wanted)
        self._wanted_nodes = {node for node, _ in wanted}
        self._boundary = boundary
        self.arrived: list[Any] = [None] * len(boundary or ())
        self._waiting: dict[Node, Any] = {}
        self._owned: set[Node] = set()
        self._heap: list[tuple[int, Node]] = []

    def add(self, edge: Edge, cotangent: Any) -> None:
        """Add one contribution to the cotangent at an edge."""
        node, number = edge
        if self._boundary is not None:
            place = self._boundary.get(edge)
            if place is not None:
                known = self.arrived[place]
                self.arrived[place] = cotangent if known is None else known + cotangent
                return
        waiting = self._waiting
        if node.outputs != 1:
            parts = waiting.get(node)
            if parts is None:
                parts = waiting[node] = [None] * node.outputs
                heappush(self._heap, (node.order, node))
            known = parts[number]
            parts[number] = cotangent if known is None else known + cotangent
            return
        known = waiting.get(node)
        if known is None:
            waiting[node] = cotangent
            heappush(self._heap, (node.order, node))
        elif node in self._owned:
            known += cotangent
        else:
            total = known + cotangent
            waiting[node] = total
            if not self.record and isinstance(total, np.ndarray):
                self._owned.add(node)

    def run(self) -> None:
        """Run all nodes that cotangents reach."""
        heap, waiting, needed = self._heap, self._waiting, self.needed
        record, retain, captures = self.record, self.retain, self._wanted_nodes
        is_plain = self._boundary is None
        watched = anomaly.get()
        # The node that is likely to be next does not travel through the heap.
        following: tuple[int, Node] | None = None
        while heap or following:
            if following is None:
                node = heappop(heap)[1]
            else:
                node = heappushpop(heap, following)[1]
                following = None
            cotangent = waiting.pop(node)
            runs = needed is None or node in needed
            if not runs and node not in captures:
                continue
            if node.watched and (node.hooks is not None or node.retained is not None):
                cotangent = apply_hooks(node, cotangent, record)
            if captures and node in captures:
                self._capture(node, cotangent)
            if not runs:
                continue
            if watched or (node.watched and (node.before is not None or node.after is not None)):
                results = self._run_watched(node, cotangent)
            else:
                results = node.run(cotangent, record)
            if not retain:
                node.free()
            for edge, result in zip(node.edges, results, strict=True):
                if result is None:
                    continue
                target = edge[0]
                if is_plain and target.outputs == 1 and target not in waiting:
                    # The first contribution to an operation of one result: nothing to be added.
                    waiting[target] = result
                    if following is None:
                        following = (target.order, target)
                    else:
                        heappush(heap, (target.order, target))
                else:
                    self.add(edge, result)

    def _capture(self, node: Node, cotangent: Any) -> None:
        parts = cotangent if node.outputs != 1 else [cotangent]
        for number, part in enumerate(parts):
            if (node, number) in self.captured:
                self.captured[node, number] = part

    def _run_watched(self, node: Node, cotangent: Any) -> Sequence[Any]:
        """Run a node that has hooks of its own, or while anomalies are looked for."""
        if node.before:
            cotangent = self._hand(node, node.before, cotangent, None)
        try:
            results = node.run(cotangent, self.record)
        except Exception:
            if anomaly.get():
                _tell_trace(node)
            raise
        if anomaly.get() and check_nan.get():
            _refuse_nan(node, results)
        if node.after:
            # Hooks see an entry for each operand, None for those that need no gradient.
            places = [n for n, (other, _) in enumerate(node.next_functions) if other is not None]
            entries: list[Any] = [None] * len(node.next_functions)
            for place, result in zip(places, results, strict=True):
                entries[place] = result
            entries = self._hand(node, node.after, entries, cotangent)
            results = [entries[place] for place in places]
        return results

    def _hand(self, node: Node, hooks: Any, values: Any, given: Any) -> Any:
        """Call a node's hooks on values, which the hooks may replace, and return these."""
        single = given is None and node.outputs == 1
        passed = tuple(None if v is None else shown(v) for v in ([values] if single else values))
        if given is not None:
            outputs = given if node.outputs != 1 else [given]
            seen = tuple(None if v is None else shown(v) for v in outputs)
        for hook in list(hooks.values()):
            changed = hook(passed) if given is None else hook(passed, seen)
            if changed is not None:
                passed = changed if isinstance(changed, tuple) else (changed,)
        back = [None if v is None else hidden(v, self.record) for v in passed]
        return back[0] if single else back


def shown(cotangent: Any) -> Any:
    """Return a cotangent as users see it: a tensor, conjugated when complex."""
    from stagrad.ops.complex import conjugate

    tensor = as_cotangent(cotangent)
    return conjugate(tensor) if tensor.dtype.kind == "c" else tensor


def hidden(gradient: Any, record: bool) -> Any:
    """Return a gradient that a user gave as the engine handles it."""
    from stagrad.ops.complex import conjugate

    tensor = as_cotangent(gradient)
    if tensor.dtype.kind == "c":
        tensor = conjugate(tensor)
    return tensor if record else tensor._array


def apply_hooks(node: Node, cotangent: Any, record: bool) -> Any:
    """Run the hooks of the tensors that came out of a node, then keep retained gradients."""
    parts = list(cotangent) if node.outputs != 1 else [cotangent]
    for number, part in enumerate(parts):
        if part is None:
            continue
        hooks = node.hooks.get(number) if node.hooks else None
        for hook in list((hooks or {}).values()):
            part = _call_hook(hook, part, record)
        parts[number] = part
        reference = node.retained.get(number) if node.retained else None
        tensor = None if reference is None else reference()
        if tensor is not None:
            keep_gradient(tensor, part, record)
    return parts if node.outputs != 1 else parts[0]


def _call_hook(hook: Any, cotangent: Any, record: bool) -> Any:
    # A hook may write into what it is given; others may hold the same memory.
    private = cotangent if record else np.array(cotangent)
    given = shown(private)
    result = hook(given)
    if result is None:
        return hidden(given, record)
    gradient = as_cotangent(result)
    if gradient.shape != np.shape(private):
        raise RuntimeError(
            f"a hook has changed the size of a gradient: expected {tuple(np.shape(private))}, got "
            f"{tuple(gradient.shape)}"
        )
    return hidden(gradient, record)


def keep_gradient(tensor: Any, cotangent: Any, record: bool) -> None:
    """Add a cotangent to `tensor.grad`, in memory of its own."""
    from stagrad.ops.complex import conjugate

    known = tensor._grad
    if record:
        gradient = shown(cotangent)
        if known is not None:
            gradient = known + gradient
        tensor._grad = gradient
        return
    if tensor._array.dtype.kind == "c":
        cotangent = conjugate(cotangent)
    if known is None:
        tensor._grad = make_tensor(np.array(cotangent), None)
    elif known._edge is not None or not known._array.flags.writeable:
        tensor._grad = make_tensor(np.asarray(known._array + cotangent), None)
    else:
        known._array += cotangent
        known._counter[0] += 1


def backward_pass(
    roots: Sequence[tuple[Edge, Any]],
    *,
    record: bool,
    retain: bool,
    wanted: Sequence[Edge] = (),
    prune: bool = False,
) -> dict[Edge, Any]:
    """Run backward from edges with their cotangents; return the cotangents of wanted edges."""
    needed = nodes_between([edge for edge, _ in roots], wanted) if prune else None
    running = Pass(record=record, retain=retain, wanted=wanted, needed=needed)
    mode = modes._recording.set(record)
    quiet = silence()
    try:
        for edge, cotangent in roots:
            running.add(edge, cotangent)
        running.run()
    finally:
        restore(quiet)
        modes._recording.reset(mode)
    return running.captured


def nodes_between(roots: Sequence[Edge], wanted: Sequence[Edge]) -> set[Node]:
    """Return the nodes that have to run for the cotangents at the wanted edges."""
    found: set[Node] = set()
    stack = [node for node, _ in roots]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(target for target, _ in node.edges)
    leading = {node for node, _ in wanted}
    needed: set[Node] = set()
    for node in sorted(found, key=lambda node: -node.order):
        if any(target in leading for target, _ in node.edges):
            leading.add(node)
            needed.add(node)
    return needed


def _tell_trace(node: Node) -> None:
    if node.trace is None:
        text = "No forward pass information: run the forward pass under detect_anomaly too"
    else:
        text = "".join(traceback.format_list(node.trace))
    warnings.warn(
        f"Error detected in {node.label}. Traceback of forward call that caused the error:\n{text}",
        stacklevel=2,
    )


def _refuse_nan(node: Node, results: Sequence[Any]) -> None:
    for number, result in enumerate(results):
        array = getattr(result, "_array", result)
        if array is not None and np.asarray(array).dtype.kind in "fc" and np.isnan(array).any():
            _tell_trace(node)
            raise RuntimeError(
                f"Function '{node.label}' returned nan values in its {number}th output."
            )
