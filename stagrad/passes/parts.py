"""Reading parts of arrays that parts were written to: of the value written, where it is known.

A loop that fills an array element by element reads each element from the statement that wrote it,
so the array of the moment need not be kept for the backward half.
"""

import math

from stagrad.ir import Node
from stagrad.ops.arithmetic import add_p
from stagrad.ops.slicing import (
    Region,
    Span,
    add_slice_p,
    set_slice_p,
    slice_p,
    span,
    whole,
)
from stagrad.passes.rewrite import Rewriter

WRITES_PASSED = 64
"""How many writes to other parts a read looks behind."""


def read_written(rewriter: Rewriter, node: Node) -> Node | None:
    """A part of an array reads the value written there, or the array before other parts were."""
    region = node.params["region"]
    source = node.inputs[0]
    for _ in range(WRITES_PASSED):
        if source.primitive not in (set_slice_p, add_slice_p):
            break
        base = source.inputs[0]
        if not are_disjoint(region, source.params["region"], base.aval.shape):
            return _read_value(rewriter, region, source)
        source = base
    if source is node.inputs[0]:
        return None
    return rewriter.make(slice_p, source, region=region)


def _read_value(rewriter: Rewriter, region: Region, source: Node) -> Node | None:
    """Return the part of the array just written that lies within what was written, if it does."""
    base, value = source.inputs
    inner = within(region, source.params["region"], base.aval.shape)
    if inner is None:
        return None
    part = (
        value if inner == whole(value.aval.shape) else rewriter.make(slice_p, value, region=inner)
    )
    if source.primitive is set_slice_p:
        return part
    return rewriter.make(add_p, rewriter.make(slice_p, base, region=region), part)


def _places(entry: int | Span | None, extent: int) -> range:
    if entry is None:
        return range(extent)
    return range(entry, entry + 1) if isinstance(entry, int) else range(*entry)


def are_disjoint(first: Region, second: Region, shape: tuple[int, ...]) -> bool:
    """Say whether two regions surely have no element in common.

    >>> are_disjoint((1, None), (2, None), (4, 4)), are_disjoint(((0, 4, 2),), ((1, 4, 2),), (4,))
    (True, True)
    """
    for left, right, extent in zip(first, second, shape, strict=True):
        a, b = _places(left, extent), _places(right, extent)
        if not a or not b or max(min(a), min(b)) > min(max(a), max(b)):
            return True
        if (a[0] - b[0]) % math.gcd(a.step, b.step) and len(a) > 1 and len(b) > 1:
            return True
    return False


def within(inner: Region, outer: Region, shape: tuple[int, ...]) -> Region | None:
    """Return where a region lies within what another one selects; None where it does not.

    >>> within((2, (0, 3, 1)), ((1, 4, 1), None), (5, 3))
    (1, (0, 3, 1))
    """
    entries: list[int | Span | None] = []
    for wanted, given, extent in zip(inner, outer, shape, strict=True):
        if isinstance(given, int):
            if wanted != given:
                return None
        elif given is None:
            entries.append(wanted)
        else:
            places = _places(wanted, extent)
            available = range(*given)
            if not places or places[0] not in available or places[-1] not in available:
                return None
            if len(places) > 1 and places.step % available.step:
                return None
            entries.append(_entry(places, available, isinstance(wanted, int)))
    return tuple(entries)


def _entry(places: range, available: range, is_one: bool) -> int | Span | None:
    start = available.index(places[0])
    if is_one:
        return start
    step = places.step // available.step if len(places) > 1 else 1
    return span(start, start + step * len(places), step, len(available))
