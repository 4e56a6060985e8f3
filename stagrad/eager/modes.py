"""Grad modes: whether operations are recorded. Each thread and each asyncio task has its own."""

import functools
import inspect
from collections.abc import Callable, Generator
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self

_recording: ContextVar[bool] = ContextVar("stagrad_recording", default=True)
_inference: ContextVar[bool] = ContextVar("stagrad_inference", default=False)

is_grad_enabled = _recording.get
is_inference_mode_enabled = _inference.get


class _Mode:
    """A context manager that is also a decorator, of functions and of generator functions.

    The mode that was in force returns whichever way the block is left, also by an exception.
    """

    def __init__(self) -> None:
        self._previous: list[Any] = []

    def _enter(self) -> Any:
        raise NotImplementedError

    def _leave(self, previous: Any) -> None:
        _recording.set(previous)

    def _again(self) -> "_Mode":
        """Return another such mode: each call of a decorated function has its own."""
        return type(self)()

    def __enter__(self) -> Self:
        self._previous.append(self._enter())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leave(self._previous.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(function):
            return self._decorate_generator(function)

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return function(*args, **kwargs)

        return run

    def _decorate_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Hold the mode while the generator runs, and not while it waits at a `yield`."""

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            with self._again():
                generator = function(*args, **kwargs)
            resume: Callable[[], Any] = functools.partial(next, generator)
            while True:
                try:
                    with self._again():
                        value = resume()
                except StopIteration as stop:
                    return stop.value
                try:
                    sent = yield value
                except GeneratorExit:
                    with self._again():
                        generator.close()
                    raise
                except BaseException as error:
                    resume = functools.partial(generator.throw, error)
                else:
                    resume = functools.partial(generator.send, sent)

        return run


class no_grad(_Mode):
    """Context or decorator in which nothing is recorded and results do not require grad.

    >>> import stagrad
    >>> x = stagrad.tensor([1.0], requires_grad=True)
    >>> with stagrad.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        """Return the mode, or a function decorated with it when used without parentheses."""
        mode = super().__new__(cls)
        if function is None:
            return mode
        mode.__init__()  # type: ignore[misc]
        return mode(function)

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        super().__init__()

    def _enter(self) -> bool:
        previous = _recording.get()
        _recording.set(False)
        return previous


class enable_grad(no_grad):
    """Context or decorator in which operations are recorded, also inside `no_grad`."""

    def _enter(self) -> bool:
        previous = _recording.get()
        _recording.set(True)
        return previous


class set_grad_enabled(_Mode):
    """Turn recording on or off at once; as a context, until the block ends.

    >>> import stagrad
    >>> with stagrad.set_grad_enabled(False):
    ...     stagrad.is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = bool(mode)
        self._before = _recording.get()
        _recording.set(self.mode)

    def _enter(self) -> bool:
        # The constructor has already switched, so what the block's end restores is older.
        previous = self._before
        _recording.set(self.mode)
        self._before = self.mode
        return previous

    def _again(self) -> "_Mode":
        return set_grad_enabled(self.mode)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, run in this mode; the mode outside stays what it was."""
        _recording.set(self._before)
        return super().__call__(function)


class inference_mode(_Mode):
    """Context or decorator like `no_grad`, for code whose results never meet autograd again.

    Tensors made here answer `is_inference()` with True and are refused where they would have to be
    saved for a backward pass.
    """

    def __new__(cls, mode: Any = True) -> Any:
        """Return the mode, or a function decorated with it when used without parentheses."""
        if isinstance(mode, bool):
            return super().__new__(cls)
        return cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.mode = mode

    def _enter(self) -> tuple[bool, bool]:
        previous = (_recording.get(), _inference.get())
        _recording.set(previous[0] and not self.mode)
        _inference.set(self.mode)
        return previous

    def _leave(self, previous: Any) -> None:
        recording, inference = previous
        _recording.set(recording)
        _inference.set(inference)

    def _again(self) -> "_Mode":
        return inference_mode(self.mode)
