"""Affine positions: which element of an array a point of an iteration space reads or writes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Along:
    """A position that moves with axis `axis` of the iteration space: `start + step * i`."""

    axis: int
    start: int = 0
    step: int = 1


Index = tuple[int | Along, ...]
"""One entry per axis of an array: a fixed position, or one that moves with an iteration axis."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an operand's elements go in a result: at `index`, moving with the operand's axes.

    With `adds` they are added to what is there.
    """

    operand: int
    index: Index
    adds: bool = False


def identity(ndim: int) -> Index:
    """Return the index of an array that has the iteration space's own axes."""
    return tuple(Along(axis) for axis in range(ndim))


def compose(outer: Index, inner: Index) -> Index:
    """Return where an array is read through another one.

    `outer` reads the array in terms of the axes of a second one, which `inner` reads in terms of
    the iteration space.

    >>> compose((Along(0, start=1), 5), (Along(3, step=-1),))
    (Along(axis=3, start=1, step=-1), 5)
    """
    entries: list[int | Along] = []
    for entry in outer:
        if isinstance(entry, int):
            entries.append(entry)
            continue
        through = inner[entry.axis]
        if isinstance(through, int):
            entries.append(entry.start + entry.step * through)
        else:
            start = entry.start + entry.step * through.start
            entries.append(Along(through.axis, start, entry.step * through.step))
    return tuple(entries)


def element_steps(index: Index, shape: tuple[int, ...], axes: int) -> tuple[int, tuple[int, ...]]:
    """Return where an index starts in a contiguous array, and how far each iteration axis moves it.

    >>> element_steps((Along(1, start=2), Along(0)), (5, 7), 2)
    (14, (1, 7))
    """
    offset, steps, stride = 0, [0] * axes, 1
    for entry, extent in zip(reversed(index), reversed(shape), strict=True):
        if isinstance(entry, Along):
            offset += entry.start * stride
            steps[entry.axis] += entry.step * stride
        else:
            offset += entry * stride
        stride *= extent
    return offset, tuple(steps)


def range_text(start: int, count: int, step: int, extent: int) -> str:
    """Return the slice that takes `count` positions from `start` of an axis of that extent.

    >>> range_text(0, 5, 1, 5), range_text(1, 4, 1, 5), range_text(4, 5, -1, 5)
    (':', '1:', '::-1')
    """
    if count == 0:
        return ":0"
    last = start + (count - 1) * step
    if step > 0:
        low = "" if start == 0 else str(start)
        high = "" if last + step >= extent else str(last + 1)
    else:
        low = "" if start == extent - 1 else str(start)
        high = "" if last + step < 0 else str(last - 1)
    return f"{low}:{high}" + (f":{step}" if step != 1 else "")


def index_text(index: Index) -> str:
    """Return an index as a subscript, `i0` and so on being positions on the iteration axes.

    >>> index_text((Along(1), 5, Along(0, start=4, step=-2)))
    '[i1, 5, 4 - 2 * i0]'
    """
    return f"[{', '.join(map(_entry_text, index))}]" if index else ""


def _entry_text(entry: int | Along) -> str:
    if isinstance(entry, int):
        return str(entry)
    factor = "" if abs(entry.step) == 1 else f"{abs(entry.step)} * "
    moving = f"{factor}i{entry.axis}"
    if entry.step < 0:
        return f"{entry.start} - {moving}"
    return f"{moving} + {entry.start}" if entry.start else moving
