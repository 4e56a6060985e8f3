"""How public functions are made: a composition of table operations under PyTorch's name.

A composition is written with the functions of `stagrad.ops` and NumPy's spelling of operators, as
those in the table are. It leaves one node in the history, however many operations it runs: the
node holds their small tape inside and runs it in its own backward pass.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

from stagrad.eager import tape
from stagrad.eager.modes import is_grad_enabled
from stagrad.eager.node import Edge, Node, freed_error, take_order
from stagrad.eager.recording import note_trace
from stagrad.eager.replay import Recipes, Signature, replay
from stagrad.eager.tape import PrimitiveNode, edge_of
from stagrad.eager.translation import translated
from stagrad.ir import bind
from stagrad.ops.movement import reshape_p
from stagrad.ops.quiet import restore, silence

Name = str | Callable[..., str]
Body = TypeVar("Body", bound=Callable[..., Any])

_inside: ContextVar[bool] = ContextVar("stagrad_inside_composition", default=False)


class CompositeNode(Node):
    """A function of several operations as one node.

    - roots: for each result the edge at the end of the inner tape, None where it has none.
    - edges: those of the operands, where the inner tape begins.
    """

    def __init__(
        self, label: str, roots: Sequence[Edge | None], edges: Sequence[Edge], arity: int
    ) -> None:
        self.label = label
        self.edges = edges
        self.outputs = len(roots)
        self.arity = arity
        self.order = take_order()
        self._roots: Sequence[Edge | None] | None = roots

    @property
    def roots(self) -> list[Edge]:
        """Where the inner tape ends."""
        return [root for root in self._roots or () if root is not None]

    def free(self) -> None:
        """Forget the inner tape."""
        self._roots = None

    def run(self, cotangent: Any, record: bool) -> Sequence[Any]:
        """Run the inner tape from the results to the operands."""
        from stagrad.eager.engine import Pass

        if self._roots is None:
            raise freed_error(self)
        boundary = {edge: place for place, edge in enumerate(self.edges)}
        inner = Pass(record=record, retain=True, boundary=boundary)
        parts = cotangent if self.outputs != 1 else [cotangent]
        for root, part in zip(self._roots, parts, strict=True):
            if root is not None and part is not None:
                inner.add(root, part)
        inner.run()
        return inner.arrived


def operation(name: Name, *, view: bool = False) -> Callable[[Body], Body]:
    """Make a composition a public function whose result carries `<name>` as its grad_fn.

    `name` is PyTorch's (`"MeanBackward0"`), or a function of the arguments that returns it. The
    composition gets plain arrays for tensors that need no gradient, and for all of them where
    nothing is recorded. Say `view=True` where results share memory with the first argument: then
    it always gets tensors, so that writes through the results are seen.
    """

    def decorate(body: Body) -> Body:
        recipes = Recipes(body, view=view)
        known = recipes.known

        @functools.wraps(body)
        def public(*args: Any, **kwargs: Any) -> Any:
            if _inside.get():
                return body(*args, **kwargs)
            call = recipes.sign(args, kwargs)
            if call is None:
                return run_operation(name, body, args, kwargs, view=view)
            recipe = known.get(call.key, 0)
            if recipe is not None and not isinstance(recipe, int):
                return replay(recipe, call)
            result = run_operation(name, body, args, kwargs, view=view)
            if recipe is not None:
                return _learn(recipes, call, args, kwargs, name, result)
            return result

        return public  # type: ignore[return-value]

    return decorate


def _learn(recipes: Recipes, call: Signature, args: Any, kwargs: Any, name: Name, out: Any) -> Any:
    """Count a call that ran as written; return its result."""

    def label() -> str:
        return name if isinstance(name, str) else name(*bare_arrays(args), **bare_arrays(kwargs))

    inside = _inside.set(True)
    try:
        recipes.learn(call, args, kwargs, label, out)
    finally:
        _inside.reset(inside)
    return out


def run_operation(
    name: Name,
    body: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    view: bool = False,
) -> Any:
    """Run a composition on tensors as one operation; see `operation`."""
    if _inside.get():
        return body(*args, **kwargs)
    tensors = list(tensors_in((args, kwargs)))
    if not tensors and not view:
        return make_tensors(_quietly(body, args, kwargs), ())
    if is_grad_enabled():
        edges = list(dict.fromkeys(filter(None, map(edge_of, tensors))))
    else:
        edges = []
    if not view:
        bare = bare_arrays if edges else all_bare_arrays
        args, kwargs = bare(args), bare(kwargs)
    result = _quietly(body, args, kwargs)
    if view and isinstance(result, tape.tensor_type) and any(result is t for t in tensors):
        result = bind(reshape_p, result, shape=result.shape)
    if not edges:
        return result if view else make_tensors(result, tensors)
    label = name if isinstance(name, str) else name(*args, **kwargs)
    return hang(label, result, edges, tensors)


def _quietly(body: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    quiet = silence()
    inside = _inside.set(True)
    try:
        return body(*args, **kwargs)
    except ValueError as error:
        shapes = [np.shape(leaf) for leaf in _leaves((args, kwargs)) if hasattr(leaf, "shape")]
        known = translated(error, body.__name__, shapes)
        if known is error:
            raise
        raise known from None
    finally:
        _inside.reset(inside)
        restore(quiet)


def hang(label: str, result: Any, edges: Sequence[Edge], tensors: Sequence[Any]) -> Any:
    """Put what a composition recorded behind one node of that label; return tensors."""
    if isinstance(result, tape.tensor_type):
        node = result._edge[0] if result._edge is not None else None
        is_single = (
            isinstance(node, PrimitiveNode)
            and node.outputs == 1
            and all(edge in edges for edge in node.edges)
            and result._edge not in edges
        )
        if is_single:
            assert isinstance(node, PrimitiveNode)
            node.title = label
            return result
    leaves = list(_leaves(result))
    roots = [
        leaf._edge if isinstance(leaf, tape.tensor_type) and leaf._edge not in edges else None
        for leaf in leaves
    ]
    if any(root is not None for root in roots):
        composite = CompositeNode(label, roots, edges, len(tensors))
        note_trace(composite)
        for place, root in enumerate(roots):
            if root is not None:
                leaves[place]._edge = (composite, place)
    return make_tensors(result, tensors)


def tensors_in(tree: Any) -> Iterator[Any]:
    """Return the tensors among arguments, also those in lists, tuples and dicts."""
    for leaf in _leaves(tree):
        if isinstance(leaf, tape.tensor_type):
            yield leaf


def _leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, tuple | list):
        for part in tree:
            yield from _leaves(part)
    elif isinstance(tree, dict):
        for part in tree.values():
            yield from _leaves(part)
    else:
        yield tree


def _mapped(tree: Any, convert: Callable[[Any], Any]) -> Any:
    if type(tree) in (tuple, list):
        return type(tree)([_mapped(part, convert) for part in tree])
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(_mapped(part, convert) for part in tree))
    if type(tree) is dict:
        return {name: _mapped(part, convert) for name, part in tree.items()}
    return convert(tree)


def bare_arrays(tree: Any) -> Any:
    """Return arguments with the arrays in place of tensors that need no gradient."""

    def bare(leaf: Any) -> Any:
        is_constant = isinstance(leaf, tape.tensor_type) and edge_of(leaf) is None
        return leaf._array if is_constant else leaf

    return _mapped(tree, bare)


def all_bare_arrays(tree: Any) -> Any:
    """Return arguments with the arrays in place of all tensors."""
    return _mapped(tree, lambda leaf: leaf._array if isinstance(leaf, tape.tensor_type) else leaf)


def make_tensors(tree: Any, tensors: Sequence[Any]) -> Any:
    """Return results as tensors; arrays on the memory of an argument are copied."""

    def made(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray | np.generic):
            return leaf
        array = np.asarray(leaf)
        for tensor in tensors:
            if array is tensor._array:
                return tensor if not tensor.requires_grad else tensor.detach().clone()
            if np.may_share_memory(array, tensor._array):
                array = array.copy()
        if not array.flags.writeable:
            array = array.copy()
        return tape.make_tensor(array, None)

    return _mapped(tree, made)
