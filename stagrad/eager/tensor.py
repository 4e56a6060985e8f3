"""Tensor: an array that records what is done with it, so that gradients flow back through that."""

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from stagrad.eager import tape
from stagrad.eager.conversion import Conversions
from stagrad.eager.direct import direct
from stagrad.eager.dtypes import public_dtype
from stagrad.eager.hooks import Hooks, RemovableHandle, add_hook
from stagrad.eager.inplace import update, write
from stagrad.eager.leaf import AccumulateGrad
from stagrad.eager.node import Edge, Node
from stagrad.eager.tape import Version, apply, edge_of, make_tensor
from stagrad.eager.views import Chain, renew_view
from stagrad.ir import Aval
from stagrad.ops.arithmetic import add_p, multiply_p, negative_p, subtract_p
from stagrad.ops.operators import Operators


class Tensor(Conversions, Operators):
    """A multi-dimensional array with a gradient. Made by `stagrad.tensor` and its kin.

    >>> import stagrad
    >>> x = stagrad.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad.tolist()
    [2.0, 4.0]
    """

    # NumPy defers to us in binary operations with arrays on the left.
    __array_priority__ = 1000.0

    _array: np.ndarray
    _edge: Edge | None = None
    _counter: Version
    _requires_grad = False
    _grad: "Tensor | None" = None
    _base: "Tensor | None" = None
    _chain: Chain = ()
    _seen = 0
    _rewrites = 0
    _origin: str | None = None
    _hooks: Hooks | None = None
    _after_accumulation: Hooks | None = None
    _accumulator: "weakref.ref[AccumulateGrad] | None" = None
    _aval: Aval | None = None

    @property
    def aval(self) -> Aval:  # type: ignore[override]
        """Shape and dtype, as operations of the table ask for them."""
        aval = self._aval
        array = self._array
        if aval is None or aval.shape != array.shape or aval.dtype != array.dtype:
            aval = self._aval = Aval(array.shape, array.dtype)
        return aval

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""
        return self._array.shape

    @property
    def dtype(self) -> Any:
        """Type of the elements."""
        return public_dtype(self._array.dtype)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._array.ndim

    def process_primitive(
        self, primitive: Any, operands: tuple[Any, ...], params: dict[str, Any]
    ) -> Any:
        """Run an operation of the table on this and other values, and record it."""
        return apply(primitive, operands, params)

    # --- gradients -------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded."""
        return self._requires_grad or edge_of(self) is not None

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self.requires_grad_(wanted)

    def requires_grad_(self, requires_grad: bool = True) -> "Tensor":
        """Ask, or no longer ask, for gradients of this tensor; return it."""
        if edge_of(self) is not None and self._edge is not None:
            if requires_grad:
                return self
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a "
                "computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
        if requires_grad and self._array.dtype.kind not in "fc":
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients, got "
                f"{self._array.dtype}"
            )
        self._requires_grad = bool(requires_grad)
        return self

    @property
    def _version(self) -> int:
        """How often the memory was written, by whichever tensor on it."""
        return int(self._counter[0])

    @property
    def is_leaf(self) -> bool:
        """Whether this tensor is no result of a recorded operation."""
        edge_of(self)
        return self._edge is None

    @property
    def grad_fn(self) -> Node | None:
        """The node that this tensor came out of, None for leaves."""
        if self._base is not None:
            self._renew()
        return None if self._edge is None else self._edge[0]

    @property
    def output_nr(self) -> int:
        """Which of the node's results this tensor is."""
        return 0 if self._edge is None else self._edge[1]

    def _renew(self) -> None:
        """Make the history again where an in-place operation has rewritten that of the base."""
        if self._base is not None and self._seen != self._base._rewrites:
            renew_view(self)

    def _leaf_edge(self) -> Edge:
        node = None if self._accumulator is None else self._accumulator()
        if node is None:
            node = AccumulateGrad(self)
            self._accumulator = weakref.ref(node)
        return (node, 0)

    @property
    def grad(self) -> "Tensor | None":
        """The gradient that backward passes have added up, None before the first."""
        if self._grad is None and self._edge is not None and not self.retains_grad:
            _warn_about_grad()
        return self._grad

    @grad.setter
    def grad(self, value: "Tensor | None") -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"assigned grad expected to be a Tensor or None but got {type(value).__name__}"
                )
            if value.shape != self.shape:
                raise RuntimeError(
                    f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of "
                    f"size '{list(self.shape)}'. Please ensure that the gradient and the tensor "
                    "are the same size"
                )
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def retains_grad(self) -> bool:
        """Whether this is no leaf and keeps its gradient all the same."""
        if self._edge is None or self._edge[0].retained is None:
            return False
        reference = self._edge[0].retained.get(self._edge[1])
        return reference is not None and reference() is self

    def retain_grad(self) -> None:
        """Let backward passes keep the gradient of this tensor though it is no leaf."""
        edge = edge_of(self)
        if edge is None:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._edge is None:
            return
        node, number = edge
        node.watched = True
        if node.retained is None:
            node.retained = {}
        node.retained[number] = weakref.ref(self)

    def register_hook(self, hook: Callable[["Tensor"], Any]) -> RemovableHandle:
        """Call `hook(grad)` whenever this tensor's gradient is computed; it may return another one.

        Hooks run in the order of their registration, once per backward pass, on the whole gradient,
        and before it is kept or passed on.
        """
        edge = edge_of(self)
        if edge is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self._edge is None:
            if self._hooks is None:
                self._hooks = {}
            return add_hook(self._hooks, hook)
        node, number = edge
        node.watched = True
        if node.hooks is None:
            node.hooks = {}
        return add_hook(node.hooks.setdefault(number, {}), hook)

    def register_post_accumulate_grad_hook(
        self, hook: Callable[["Tensor"], None]
    ) -> RemovableHandle:
        """Call `hook(tensor)` after a backward pass has added to this leaf's `.grad`."""
        if self._edge is not None or not self._requires_grad:
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors or on tensors "
                "that don't require gradient"
            )
        if self._after_accumulation is None:
            self._after_accumulation = {}
        return add_hook(self._after_accumulation, hook)

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: "Tensor | Sequence[Tensor] | None" = None,
    ) -> None:
        """Add the gradients of this tensor to `.grad` of the leaves it depends on.

        - gradient: the cotangent of this tensor; may be left out for one with a single element.
        - retain_graph: keep what backward needs, for another pass; default: `create_graph`.
        - create_graph: record the pass, so that the gradients can be differentiated.
        - inputs: add to the `.grad` of these tensors only.
        """
        from stagrad.eager.autograd import backward

        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def detach(self) -> "Tensor":
        """Return a tensor on the same memory that needs no gradient."""
        result = make_tensor(self._array, None)
        result._counter = self._counter
        return result  # type: ignore[no-any-return]

    def detached(self) -> "Tensor":
        """Return the same value with memory of its own, as the table's functions want it."""
        return self.clone() if self._base is not None else self

    def detach_(self) -> "Tensor":
        """Cut this tensor off from its history; return it."""
        if self._base is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, use detach()."
            )
        self._edge = None
        self._requires_grad = False
        return self

    @property
    def data(self) -> "Tensor":
        """A tensor on the same memory, without history; autograd does not notice writes to it."""
        return make_tensor(self._array, None)  # type: ignore[no-any-return]

    @data.setter
    def data(self, value: Any) -> None:
        array = value._array if isinstance(value, Tensor) else np.asarray(value)
        if self._requires_grad and array.dtype.kind not in "fc":
            raise RuntimeError(
                f"data set to a tensor that requires gradients must be floating point or complex "
                f"dtype, not {array.dtype}"
            )
        self._array = array

    clone: ClassVar[Callable[..., Any]]

    if TYPE_CHECKING:
        # The methods that `methods.install` enters.
        def __getattr__(self, name: str) -> Any: ...

    # --- operators of which programs are full, without a detour ----------------------------------

    __add__ = __radd__ = direct(add_p, Operators.__add__)
    __sub__ = direct(subtract_p, Operators.__sub__)
    __mul__ = __rmul__ = direct(multiply_p, Operators.__mul__)

    def __neg__(self) -> Any:
        return apply(negative_p, (self,), {})

    # --- indexing and writing --------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        from stagrad.eager.indexing import getitem

        return getitem(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        from stagrad.eager.indexing import setitem

        setitem(self, index, value)

    def assign(self, value: Any, name: str = "copy_") -> "Tensor":
        """Write a whole new contents, with in-place semantics; return this tensor."""
        return write(self, value, name)  # type: ignore[no-any-return]

    def update(self, name: str, compute: Callable[[], Any]) -> "Tensor":
        """Run the in-place form `name` of an operation: write what `compute` returns."""
        return update(self, compute, name)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        from stagrad.eager.printing import tensor_text

        return tensor_text(self)


tape.tensor_type = Tensor


def _warn_about_grad() -> None:
    import warnings

    warnings.warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
        "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
        "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. "
        "If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor "
        "instead.",
        UserWarning,
        stacklevel=3,
    )
