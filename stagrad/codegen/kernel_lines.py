"""A kernel as lines of NumPy: statements over whole arrays, broadcasting left to NumPy."""

from collections.abc import Callable, Iterator

import numpy as np

from stagrad.codegen.body import Body
from stagrad.codegen.expression import (
    ATOM,
    Text,
    apply,
    dtype_text,
    literal_text,
    scalar_text,
    slots,
    takes_python_scalars,
)
from stagrad.codegen.values import Array, Dims
from stagrad.ir import Along, Node, Primitive
from stagrad.ir.kernel import Immediate, Kernel, Load, Reduce, Scalar, Store, Value


def names_read(kernel: Kernel) -> Iterator[str]:
    """Yield the name of every value that the kernel's text mentions, as often as it does."""
    for item in kernel.statements:
        if isinstance(item, Scalar):
            uses = slots(item.primitive, len(item.operands), item.params).uses
            for operand, count in zip(item.operands, uses, strict=True):
                yield from [operand.name] * count
        elif isinstance(item, Reduce):
            yield item.operand.name


class KernelLines:
    """Writes the statements of one kernel into a function's body.

    `load` returns the text of a buffer as the kernel sees it. `store`, when given, writes a value
    to its buffer; otherwise the value becomes the buffer.
    """

    def __init__(
        self,
        kernel: Kernel,
        body: Body,
        load: Callable[[Load, Node], Array],
        store: Callable[[Store, Array], None] | None = None,
    ) -> None:
        self.kernel = kernel
        self.body = body
        self._load = load
        self._store = store
        self._ndim = len(kernel.space)
        self._dims: dict[int, Dims] = {}
        self._stores = {id(store.value): store for store in kernel.stores}

    def write(self) -> None:
        """Write all statements in order."""
        for item in self.kernel.statements:
            if isinstance(item, Scalar | Reduce):
                array = self._scalar(item) if isinstance(item, Scalar) else self._reduce(item)
                if self._store is None and id(item) in self._stores:
                    array = _whole(array, self._stores[id(item)])
                self._dims[id(item)] = array.dims
                self.body.assign(item.name, array.text, item.node)
            elif isinstance(item, Store) and self._store is not None:
                text = self.body.read(item.value.name, _node(item.value))
                self._store(item, Array(text, self._dims[id(item.value)]))

    def _read(self, value: Value, reader: Scalar | Reduce, *, whole: bool = False) -> Array:
        if isinstance(value, Immediate):
            return Array(Text(scalar_text(value.literal.array)), ())
        if isinstance(value, Load):
            return self._load(value, reader.node)
        text = self.body.read(value.name, reader.node, whole=whole)
        return Array(text, self._dims[id(value)])

    def _scalar(self, item: Scalar) -> Array:
        use = slots(item.primitive, len(item.operands), item.params)
        arrays = [
            self._read(operand, item, whole=count != 1)
            for operand, count in zip(item.operands, use.uses, strict=True)
        ]
        if takes_python_scalars(item.primitive):
            arrays = [self._literal(item, place, array) for place, array in enumerate(arrays)]
        shapes = {array.dims for array in arrays if array.dims}
        if len(shapes) > 1:
            ndim = _common_ndim(shapes, self._ndim)
            arrays = [array.aligned(ndim) if array.dims else array for array in arrays]
        return Array(
            apply(item.primitive, tuple(array.text for array in arrays), item.params),
            _broadcast([array.dims for array in arrays]),
        )

    def _literal(self, item: Scalar, place: int, array: Array) -> Array:
        """Write a constant as a plain number where an operand of its dtype stands beside it."""
        value = item.operands[place]
        if isinstance(value, Immediate) and any(
            operand.dtype == value.dtype and not isinstance(operand, Immediate)
            for operand in item.operands
        ):
            return Array(literal_text(value.literal.array), ())
        return array

    def _reduce(self, item: Reduce) -> Array:
        array = self._read(item.operand, item).squeezed()
        space = self.kernel.space
        over = tuple(axis for axis in item.over if axis in array.dims)
        if not over or any(space[axis] != 1 for axis in set(item.over) - set(over)):
            text = f"np.broadcast_to({array.aligned(self._ndim).text.text}, {space})"
            array, over = Array(Text(text), tuple(range(self._ndim))), item.over
        places = tuple(array.dims.index(axis) for axis in over)
        kept = tuple(axis for axis in array.dims if axis not in over)
        axis = None if not kept else places[0] if len(places) == 1 else places
        dtype = item.operand.dtype
        return Array(fold(item.primitive, array.text, axis, dtype), kept)


def fold(
    primitive: Primitive, operand: Text, axis: int | tuple[int, ...] | None, dtype: np.dtype
) -> Text:
    """Return a reduction applied to an expression, without arguments that are NumPy's defaults."""
    text = apply(primitive, (Text("\1"),), {"axis": axis}, (dtype,)).text
    text = text.replace(", axis=None", "")
    if dtype.kind in "fc":
        text = text.replace(f", dtype={dtype_text(dtype)}", "")
    return Text(text.replace("\1", operand.text))


def _common_ndim(shapes: set[Dims], ndim: int) -> int:
    """Return how many axes of the space arrays of several shapes have to be aligned with."""
    if any(dims[-1] is None for dims in shapes):
        return ndim
    return 1 + max(axis for dims in shapes for axis in dims if axis is not None)


def _broadcast(shapes: list[Dims]) -> Dims:
    """Return the dims of arrays broadcast together, which agree counted from the last axis."""
    longest = max(map(len, shapes), default=0)
    result: list[int | None] = [None] * longest
    for dims in shapes:
        offset = longest - len(dims)
        for place, axis in enumerate(dims):
            if axis is not None:
                result[offset + place] = axis
    return tuple(result)


def _node(value: Value) -> Node | None:
    return value.node if isinstance(value, Scalar | Reduce) else None


def buffer_dims(store: Store) -> Dims:
    """Return which iteration axis each axis of a stored buffer is."""
    return tuple(entry.axis if isinstance(entry, Along) else None for entry in store.index)


def _whole(array: Array, store: Store) -> Array:
    """Return a value with its buffer's shape, and memory of its own."""
    shape = store.buffer.aval.shape
    dims = tuple(
        None if extent == 1 and axis not in array.dims else axis
        for axis, extent in zip(buffer_dims(store), shape, strict=True)
    )
    value = store.value
    if isinstance(value, Scalar) and value.primitive.view is not None:
        array = Array(Text(f"np.array({array.text.text})"), array.dims)
    if array.dims == dims:
        return array
    array = array.squeezed(dims)
    if array.dims == tuple(axis for axis in dims if axis is not None):
        if None not in dims:
            return array
        entries = ", ".join("None" if axis is None else ":" for axis in dims)
        subscript = f"[{entries}]" if array.dims else f".reshape({shape})"
        return Array(Text(f"{array.text.within(ATOM - 1)}{subscript}"), dims)
    text = placed(array, dims).text.text
    return Array(Text(f"np.array(np.broadcast_to({text}, {shape}))"), dims)


def placed(array: Array, dims: Dims) -> Array:
    """Return an array so that it broadcasts to a buffer with axes `dims`."""
    array = array.squeezed(dims)
    entries = [":" if axis in array.dims else "None" for axis in dims]
    while entries and entries[0] == "None":
        entries.pop(0)
    if "None" not in entries:
        return array
    return Array(Text(f"{array.text.within(ATOM - 1)}[{', '.join(entries)}]"), dims)
