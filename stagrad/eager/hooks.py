"""Hooks: functions of the user's that see, and may replace, gradients on their way."""

import itertools
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

Hooks = dict[int, Callable[..., Any]]
"""Hooks by their handle's number, in the order in which they were registered."""

_next_id = itertools.count().__next__


class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook away again; also a context."""

    def __init__(self, hooks: Hooks, number: int) -> None:
        self._hooks: Hooks | None = hooks
        self.id = number

    def remove(self) -> None:
        """Unregister the hook; doing so twice is no error."""
        if self._hooks is not None:
            self._hooks.pop(self.id, None)
            self._hooks = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.remove()


def add_hook(hooks: Hooks, hook: Callable[..., Any]) -> RemovableHandle:
    """Enter a hook behind those already there."""
    if not callable(hook):
        raise TypeError(f"register_hook: expected a function, got {type(hook).__name__}")
    number = _next_id()
    hooks[number] = hook
    return RemovableHandle(hooks, number)
