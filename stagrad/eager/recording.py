"""What users may ask for while operations are recorded: saved-tensor hooks, anomaly detection."""

import traceback
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

Pair = tuple[Callable[[Any], Any], Callable[[Any], Any]]

saved_hooks: ContextVar[tuple[Pair, ...]] = ContextVar("stagrad_saved_hooks", default=())
"""The pack and unpack functions in force, the innermost last."""

anomaly: ContextVar[bool] = ContextVar("stagrad_anomaly", default=False)
check_nan: ContextVar[bool] = ContextVar("stagrad_check_nan", default=True)


def note_trace(node: Any) -> None:
    """Keep the user's call stack with a node while anomalies are looked for."""
    if anomaly.get():
        stack = traceback.extract_stack()[:-1]
        node.trace = [frame for frame in stack if not frame.filename.startswith(_PACKAGE)]


_PACKAGE = __file__.rpartition("eager")[0]


class Packed(list[Any]):
    """The values a node kept, each array replaced by what the user's function made of it."""

    unpack: Callable[[Any], Any]


class _Held:
    """What a pack function returned for one array."""

    __slots__ = ("content",)

    def __init__(self, content: Any) -> None:
        self.content = content


def pack_saved(node: Any) -> None:
    """Hand what a node kept to the pack function in force."""
    pairs = saved_hooks.get()
    if not pairs:
        return
    from stagrad.eager.tape import make_tensor

    pack, unpack = pairs[-1]

    def packed(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(packed, value))
        if not isinstance(value, np.ndarray):
            return value
        token = saved_hooks.set(())
        try:
            return _Held(pack(make_tensor(value, None)))
        finally:
            saved_hooks.reset(token)

    node.saved = Packed(map(packed, node.saved))
    node.saved.unpack = unpack
    node.checks = ()


def unpack_saved(saved: Any) -> tuple[Any, ...]:
    """Return what a node kept as it was before it was packed."""

    def unpacked(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(unpacked, value))
        if not isinstance(value, _Held):
            return value
        tensor = saved.unpack(value.content)
        array = getattr(tensor, "_array", None)
        if array is None:
            raise TypeError(
                "saved_tensors_hooks: unpack must return a Tensor, got " + type(tensor).__name__
            )
        return array

    return tuple(map(unpacked, saved))
