"""Cutting a kernel into chunks, which several threads work on.

Chunks depend on sizes alone, never on the number of threads, and what each adds to a reduction is
combined in order: the same bits whoever computes them.
"""

import math

from stagrad.ir.kernel import Kernel
from stagrad.ir.nest import FIXED_EXTENT
from stagrad.passes.costs import kernel_cost

CHUNK_NANOSECONDS = 20_000.0
"""Work of one chunk, at least: waking a thread costs a quarter of this."""

SHORTEST_ROW = 1024
"""Fewest positions of an innermost loop worth cutting where there are others."""

MOST_CHUNKS = 256
"""Chunks beyond this only add overhead, and memory for partial results."""


def cut(
    kernel: Kernel, extents: tuple[int, ...], allowed: int, overs: list[set[int]]
) -> tuple[int, int] | None:
    """Return the loop to cut and the length of a piece, or None where there is none to cut.

    Only the outermost `allowed` loops may be cut. One that no reduction folds is preferred, for
    then no partial results are left to combine. A kernel with little work gets a single piece.
    """
    if kernel.open_axes:
        return None
    last = len(extents) - 1
    loops = [loop for loop in range(allowed) if extents[loop] > FIXED_EXTENT]
    long = [loop for loop in loops if loop < last or extents[loop] >= SHORTEST_ROW or last == 0]
    loops = long or loops
    if not loops:
        return None
    free = [loop for loop in loops if not any(loop in over for over in overs)]
    loop = (free or loops)[0]
    extent = extents[loop]
    work = math.prod(extents) * kernel_cost(kernel)
    if work < 2 * CHUNK_NANOSECONDS:
        return loop, extent
    length = max(1, math.ceil(extent * CHUNK_NANOSECONDS / work), -(-extent // MOST_CHUNKS))
    return loop, min(length, extent)
