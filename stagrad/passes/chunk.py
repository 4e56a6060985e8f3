"""Chunks: the pieces of an iteration space that the NumPy target computes one at a time.

A chunk's temporaries stay in the processor's cache, and chunks run on several threads. They do not
depend on the number of threads, and what each adds to a reduction is combined in order, so neither
does the result.
"""

from stagrad.ir.kernel import Chunks, Kernel, Reduce, Scalar, Statement

CHUNK_BYTES = 1 << 15
"""Size of one temporary: several of them share a core's second-level cache."""

MINIMUM_POINTS = 1 << 17
"""Smallest iteration space worth the calls that each chunk costs."""

ROWS_PER_PARTIAL = 32
"""Fewest rows folded into one partial result, where partial results are arrays."""


def chunks(
    space: tuple[int, ...], cols: tuple[int, ...], statements: tuple[Statement, ...]
) -> Chunks | None:
    """Return how to cut a kernel, or None where it is best computed in one piece."""
    kernel = Kernel("", space, cols, statements)
    work: list[Scalar | Reduce] = [item for item in statements if isinstance(item, Scalar | Reduce)]
    folds = [item for item in work if isinstance(item, Reduce)]
    if kernel.size < MINIMUM_POINTS or len(work) < 2:
        return None
    if any(not set(fold.over) <= fold.operand.axes for fold in folds):
        return None
    itemsize = max(item.dtype.itemsize for item in work)
    points = CHUNK_BYTES // itemsize
    fitting = [axis for axis in kernel.rows if kernel.size // space[axis] <= points]
    if not kernel.rows:
        return None
    axis = fitting[0] if fitting else max(kernel.rows, key=lambda axis: space[axis])
    length = max(1, points // (kernel.size // space[axis]))
    if any(axis in fold.over and len(fold.over) < len(space) for fold in folds):
        length = max(length, ROWS_PER_PARTIAL)
    return Chunks(axis, length) if length < space[axis] else None
