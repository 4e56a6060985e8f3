"""Reading images between their elements."""

from typing import Any

import numpy as np

from stagrad.eager.functions.registry import function, numbers
from stagrad.ir import aval_of
from stagrad.ops.indexing import getitem


def _unnormalised(places: Any, extent: int, align: bool) -> Any:
    if align:
        return (places + 1) * ((extent - 1) / 2)
    return ((places + 1) * extent - 1) * 0.5


def _reflected(places: Any, extent: int, align: bool) -> Any:
    """Return places outside an image mirrored at its edge, until they are inside."""
    low, span = (0.0, extent - 1.0) if align else (-0.5, float(extent))
    if span == 0:
        return places * 0
    distance = np.abs(places - low)
    turns = np.floor(numbers(distance) / span)
    rest = distance - (turns * span).astype(aval_of(distance).dtype)
    return np.where(turns % 2 == 0, rest + low, span - rest + low)


def _held(places: Any, extent: int) -> Any:
    x, dtype = numbers(places), aval_of(places).dtype
    return np.where(
        x <= 0, dtype.type(0), np.where(x >= extent - 1, dtype.type(extent - 1), places)
    )


def _inside(places: Any, extent: int, padding_mode: str, align: bool) -> Any:
    """Return places outside an image as those inside that stand for them."""
    if padding_mode == "reflection":
        places = _reflected(places, extent, align)
    return places if padding_mode == "zeros" else _held(places, extent)


def _cubic_shares(t: Any) -> list[Any]:
    """Return the weights of four neighbours at a distance t from the second (A = -0.75)."""
    a = -0.75

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        return ((x - 5) * x * a + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


@function("GridSampler2DBackward0", method=False, module=False)
def grid_sample(
    input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:  # fmt: skip
    """Return images read at places between -1 and 1: grid is (batch, height, width, 2) of x, y.

    `mode` is "bilinear", "nearest" or "bicubic"; outside the image "zeros" are read, its "border",
    or its "reflection".
    """
    align = bool(align_corners)
    batch, _, *sizes = aval_of(input).shape
    images, last = np.arange(batch)[:, None, None], np.moveaxis(input, 1, -1)
    x, y = (_unnormalised(grid[..., axis], sizes[1 - axis], align) for axis in (0, 1))
    is_cubic = mode == "bicubic"
    if not is_cubic:
        x = _inside(x, sizes[1], padding_mode, align)
        y = _inside(y, sizes[0], padding_mode, align)

    def read(*places: Any) -> Any:
        """Return the elements at whole places, those outside zero or what stands for them."""
        if is_cubic:
            places = tuple(
                np.asarray(_inside(place.astype(float), size, padding_mode, align)).astype(np.int64)
                for place, size in zip(places, sizes, strict=True)
            )
        held, seen = [], np.ones((), bool)
        for place, size in zip(places, sizes, strict=True):
            held.append(np.clip(place, 0, size - 1))
            seen = seen & (place >= 0) & (place < size)
        return getitem(last, (images, *held)) * seen[..., None].astype(aval_of(input).dtype)

    if mode == "nearest":
        rows, columns = (np.rint(numbers(at)).astype(np.int64) for at in (y, x))
        return np.moveaxis(read(rows, columns), -1, 1)
    top, left = (np.floor(numbers(at)).astype(np.int64) for at in (y, x))
    down, right = y - top.astype(aval_of(y).dtype), x - left.astype(aval_of(x).dtype)
    first = -1 if is_cubic else 0
    vertical = _cubic_shares(down) if is_cubic else [1 - down, down]
    horizontal = _cubic_shares(right) if is_cubic else [1 - right, right]
    total: Any = 0
    for row, share in enumerate(vertical, first):
        for column, other in enumerate(horizontal, first):
            total = total + read(top + row, left + column) * np.expand_dims(share * other, -1)
    return np.moveaxis(total, -1, 1)
