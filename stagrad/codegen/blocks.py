"""Kernels in chunks: one emitted function per kernel, run on slices of its iteration space."""

from collections import Counter

import numpy as np

from stagrad.codegen.body import Body, heading
from stagrad.codegen.expression import Text, dtype_text
from stagrad.codegen.kernel_lines import KernelLines, buffer_dims, fold, names_read, placed
from stagrad.codegen.values import Array, Dims, loaded
from stagrad.ir import Node
from stagrad.ir.index import Index
from stagrad.ir.kernel import Buffer, Kernel, Load, Reduce, Store
from stagrad.ir.naming import Names


def in_blocks(kernel, extent, length, *arrays):  # type: ignore[no-untyped-def]
    """Run a kernel on `length` positions of an axis at a time, many of them on several threads.

    Which positions go together does not depend on the threads, so neither does the result.
    """
    starts = range(0, extent, length)
    blocks = [(slice(start, start + length), number) for number, start in enumerate(starts)]
    blocks.reverse()

    def work() -> None:
        with np.errstate(all="ignore"):
            while blocks:
                try:
                    rows, number = blocks.pop()
                except IndexError:
                    break
                kernel(rows, number, *arrays)

    import os

    processors = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)
    threads = min(len(processors), 8)
    if threads == 1 or len(blocks) < 64:
        work()
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads - 1) as pool:
        tasks = [pool.submit(work) for _ in range(threads - 1)]
        try:
            work()
        finally:
            blocks.clear()
        for task in tasks:
            task.result()


class BlockFunction:
    """The function of a chunked kernel, and the lines that call it.

    The function's arguments are a slice of the axis that is cut, the chunk's number and the
    arrays: first those it reads, as views in the iteration space's own order, then those it fills.
    """

    def __init__(self, kernel: Kernel, names: Names) -> None:
        assert kernel.chunks is not None
        self.kernel = kernel
        self.chunks = kernel.chunks
        self._axis = kernel.chunks.axis
        self._names = names
        self._local = Names(item.name for item in kernel.statements if not isinstance(item, Store))
        self._parameters: dict[tuple[Buffer, Index], str] = {}
        self._filled: dict[Buffer, str] = {}
        uses = Counter([*names_read(kernel), *(store.value.name for store in kernel.stores)])
        self._body = Body(uses)

    def text(self) -> str:
        """Return the function's text."""
        taken: set[str] = set()
        for load in self.kernel.loads:
            name = self._local.take(load.name) if load.name in taken else load.name
            taken.add(name)
            self._parameters[load.buffer, load.index] = name
        for load in self.kernel.loads:
            name = self._parameters[load.buffer, load.index]
            dims = self._loaded(load, Text(name)).dims
            if self._axis in dims:
                self._body.statement(f"{name} = {name}[{self._slice(dims)}]", None)
        for store in self.kernel.stores:
            suffix = "parts" if self._is_partial(store) else "out"
            self._filled[store.buffer] = self._local.take(f"{store.buffer.name}_{suffix}")
        KernelLines(self.kernel, self._body, self._read, self._store).write()
        arguments = ["rows", "block", *self._parameters.values(), *self._filled.values()]
        return "\n".join([heading(self.kernel.name, arguments), *self._body.render()])

    def call(self, body: Body) -> None:
        """Write the lines that allocate what it fills, run it and combine partial results."""
        arguments = []
        for load in self.kernel.loads:
            text = body.read(load.buffer.name, None, whole=True)
            arguments.append(self._loaded(load, text).text.text)
        partial: list[tuple[Store, str]] = []
        for store in self.kernel.stores:
            name, shape, dtype = store.buffer.name, store.buffer.aval.shape, store.value.dtype
            if self._is_partial(store):
                name = self._names.take(self._filled[store.buffer])
                shape = (self.chunks.count(self.kernel.space), *shape)
                dtype = _wider(dtype)
                partial.append((store, name))
            arguments.append(name)
            body.statement(f"{name} = np.empty({shape}, {dtype_text(dtype)})", None)
        extent = self.kernel.space[self._axis]
        listed = ", ".join([self.kernel.name, str(extent), str(self.chunks.length), *arguments])
        body.statement(f"in_blocks({listed})", None)
        for store, name in partial:
            body.assign(store.buffer.name, _combined(store, name), store.buffer.node)

    def _loaded(self, load: Load, text: Text) -> Array:
        return loaded(text, load.index, load.buffer.aval.shape, self.kernel.space)

    def _slice(self, dims: Dims) -> str:
        return ", ".join([":"] * dims.index(self._axis) + ["rows"])

    def _is_partial(self, store: Store) -> bool:
        return isinstance(store.value, Reduce) and self._axis in store.value.over

    def _read(self, load: Load, reader: Node) -> Array:
        name = self._parameters[load.buffer, load.index]
        return Array(Text(name), self._loaded(load, Text(name)).dims)

    def _store(self, store: Store, array: Array) -> None:
        dims = buffer_dims(store)
        place = "block" if self._is_partial(store) else self._slice(dims)
        node = store.buffer.node
        text = placed(array, dims).text.text
        self._body.statement(f"{self._filled[store.buffer]}[{place}] = {text}", node)


def _wider(dtype: np.dtype) -> np.dtype:
    """Return the dtype of partial results: floats are kept in double precision until the end."""
    return np.result_type(dtype, np.float64) if dtype.kind in "fc" else dtype


def _combined(store: Store, parts: str) -> Text:
    """Return the partial results of a reduction as one result of its own dtype."""
    assert isinstance(store.value, Reduce)
    dtype, shape = store.value.dtype, store.buffer.aval.shape
    text = fold(store.value.primitive, Text(parts), 0 if shape else None, _wider(dtype))
    if dtype == _wider(dtype):
        return text
    name = dtype_text(dtype)
    return Text(f"{text.text}.astype({name})" if shape else f"{name}({text.text})")
