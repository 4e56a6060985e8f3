"""`np.r_[…]` and `np.c_[…]`: arrays joined by an index expression."""

from typing import Any

import numpy as np

from stagrad.errors import UnsupportedError
from stagrad.ir import aval_of
from stagrad.ops.convert import as_array, as_value, traced_among
from stagrad.ops.define import implements_scipy
from stagrad.ops.joining import concatenate
from stagrad.ops.movement import astype, constant, lifted, reshape
from stagrad.ops.promote import common_loop, loop_types
from stagrad.ops.shaping import swapaxes, transpose

_CONCATENATOR = type(np.r_).__mro__[1]


class _Settings:
    """How the pieces are joined: the axis, the least number of axes, and where a vector's goes."""

    def __init__(self, concatenator: Any) -> None:
        self.axis: int = concatenator.axis
        self.ndmin: int = concatenator.ndmin
        self.place: int = concatenator.trans1d

    def read(self, directive: str) -> None:
        """Take over what a leading string says."""
        if directive in ("r", "c"):
            raise UnsupportedError(f"np.r_[{directive!r}, …] makes a matrix; use np.c_ or np.stack")
        numbers = [int(number) for number in directive.split(",")]
        self.axis = numbers[0]
        if len(numbers) > 1:
            self.ndmin = numbers[1]
        if len(numbers) > 2:
            self.place = numbers[2]

    def shaped(self, piece: Any) -> Any:
        """Return a piece with as many axes as wanted, its own ones where they are wanted."""
        shape = aval_of(piece).shape
        missing = self.ndmin - len(shape)
        if missing <= 0:
            return piece
        result = reshape(piece, (1,) * missing + shape)
        if self.place == -1 or not shape:
            return result
        first = self.place if self.place >= 0 else self.place + missing + 1
        axes = list(range(self.ndmin))
        return transpose(result, axes[:first] + axes[missing:] + axes[first:missing])


@implements_scipy(f"{_CONCATENATOR.__module__}.{_CONCATENATOR.__qualname__}.__getitem__")
def concatenated(self: Any, key: Any) -> Any:
    """Return the array that an index of `np.r_` or `np.c_` describes."""
    items = list(key) if isinstance(key, tuple) else [key]
    settings = _Settings(self)
    if items and isinstance(items[0], str):
        settings.read(items.pop(0))
    like = traced_among(items)
    pieces = [_range(item, settings, like) if isinstance(item, slice) else item for item in items]
    values = [as_value(piece) for piece in pieces]
    dtype = common_loop(loop_types([aval_of(value) for value in values]))[1]
    arrays = [lifted(as_array(piece, like=like), like=like) for piece in pieces]
    return concatenate([settings.shaped(astype(array, dtype)) for array in arrays], settings.axis)


def _range(item: slice, settings: _Settings, like: Any) -> Any:
    """Return what a slice stands for: a range, or with an imaginary step that many numbers."""
    start = 0 if item.start is None else item.start
    step = 1 if item.step is None else item.step
    if isinstance(step, complex):
        numbers = np.linspace(start, item.stop, num=int(abs(step)))
    else:
        numbers = np.arange(start, item.stop, step)
    result = constant(numbers, like=like)
    if settings.ndmin <= 1:
        return result
    result = reshape(result, (1,) * (settings.ndmin - 1) + numbers.shape)
    return result if settings.place == -1 else swapaxes(result, -1, settings.place)
