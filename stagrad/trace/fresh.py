"""Arrays made while a trace runs: plain memory until a traced value is written into them.

`np.zeros(n)` takes no traced argument, so NumPy answers it alone, and `a[i] = traced` would fail.
While a trace is active in this thread NumPy's creation functions return a `FreshArray`, an ndarray
that turns into a traced value at the first traced write; `np.array([traced, …])` stacks. See
docs/decisions for what this cannot see.
"""

import functools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from stagrad.errors import TraceError, UnsupportedError
from stagrad.ir import Primitive
from stagrad.ops.convert import as_value, holds_traced, must_copy
from stagrad.ops.define import FUNCTIONS
from stagrad.trace.sources import quote_user_line
from stagrad.trace.state import current_trace
from stagrad.trace.tracer import Tracer

LITERAL_BYTES = 4096
"""Fresh arrays up to this size become constants of the graph, larger ones captured inputs."""


class FreshArray(np.ndarray):
    """An array created under a trace; `recorded` is its traced value once it holds one."""

    live: np.ndarray | None
    _owned: bool
    _recorded: Tracer | None
    _parent: "FreshArray | None"
    _remake: Callable[[Tracer], Tracer] | None

    def __array_finalize__(self, source: Any) -> None:
        self.live = None
        self._owned = False
        self._recorded = None
        self._parent = None
        self._remake = None

    @property
    def recorded(self) -> Tracer | None:
        """The traced value of this array, None while it holds plain numbers."""
        if self._recorded is None and self._parent is not None:
            parent = self._parent.recorded
            if parent is not None and self._remake is not None:
                self._recorded = self._remake(parent)
        return self._recorded

    def value(self) -> Tracer:
        """This array as a traced value to read from."""
        trace = current_trace()
        if trace is None:
            raise TraceError(
                "an array that holds traced values is read after its function was traced; return "
                "it from the function instead of keeping it elsewhere."
            )
        return trace.lift(self)

    def live_value(self) -> Tracer | None:
        """The traced value of the array this one views and the function did not make, if any."""
        trace = current_trace()
        if self.live is not None and trace is not None:
            return trace.lift(self.live)
        parent = None if self._parent is None else self._parent.live_value()
        return None if parent is None or self._remake is None else self._remake(parent)

    def outside(self) -> np.ndarray | None:
        """The array the function did not make which this one is or views, if any."""
        if self.live is not None or self._parent is None:
            return self.live
        return self._parent.outside()

    def record(self) -> Tracer:
        """Turn into a traced value; a view turns the array that owns the memory."""
        recorded = self.recorded
        if recorded is not None:
            return recorded
        if self.live is not None:
            raise UnsupportedError(
                "a traced value is written into an array the traced function was not given and "
                f"did not make.{quote_user_line()}\nCopy it first with np.array, or pass it as an "
                "argument."
            )
        if self._parent is not None and self._remake is not None:
            self._recorded = self._remake(self._parent.record())
        else:
            trace = current_trace()
            assert trace is not None, "only a traced write records, and it needs a running trace"
            self._recorded = Tracer(trace, trace.lift(self).node)
            self._void()
        return self._recorded

    def _void(self) -> None:
        """Fill memory that nobody should read any more, and whose old numbers would mislead.

        Code in C may ask for the buffer, which nobody can refuse it.
        """
        if self._owned and self.dtype.kind in "fc":
            np.ndarray.view(self, np.ndarray).fill(np.nan)

    def __getitem__(self, index: Any) -> Any:
        recorded = self.recorded
        if recorded is not None or _is_traced(index):
            return self.value()[index]
        return self._as_view(super().__getitem__(index), lambda value: value[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.recorded is not None or _is_traced(index) or _is_traced(value):
            self.record()[index] = value
        else:
            super().__setitem__(index, value)

    def _as_view(self, result: Any, remake: Callable[[Tracer], Tracer]) -> Any:
        if current_trace() is None:
            return _plain(result)
        if not (isinstance(result, FreshArray) and _may_share(result, self)):
            _note_sources(self)
        elif result is not self:
            result._parent = self
            result._remake = remake
        return result

    def process_primitive(
        self, primitive: Primitive, operands: tuple[Any, ...], params: Any
    ) -> Any:
        """Apply an operation: traced when an operand is, on plain memory otherwise."""
        for operand in operands:
            value = operand.recorded if isinstance(operand, FreshArray) else operand
            if isinstance(value, Tracer):
                return value.process_primitive(primitive, operands, params)
        return _fresh(primitive.evaluate(tuple(map(_plain, operands)), params))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        from stagrad.trace.protocols import call_ufunc

        out: tuple[Any, ...] = keywords.get("out") or ()
        if _is_traced((inputs, out, keywords.get("where"))):
            return call_ufunc(ufunc, method, *inputs, **keywords)
        if out:
            keywords["out"] = tuple(_plain(item) for item in out)
        if "where" in keywords:
            keywords["where"] = _plain(keywords["where"])
        _note_sources(inputs)
        result = getattr(ufunc, method)(*map(_plain, inputs), **keywords)
        return out[0] if len(out) == 1 else _fresh(result)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from stagrad.trace.protocols import call_function

        if _is_traced((args, kwargs)):
            return call_function(function, args, kwargs)
        _note_sources((args, kwargs))
        result = super().__array_function__(function, types, args, kwargs)
        return result if current_trace() is not None else _plain(result)


def _delegate(name: str) -> Callable[..., Any]:
    plain = getattr(np.ndarray, name)

    @functools.wraps(plain)
    def method(self: FreshArray, *arguments: Any, **keywords: Any) -> Any:
        recorded = self.recorded
        if recorded is not None or _is_traced((arguments, keywords)):
            target = self.record() if name in _WRITING else self.value()
            return getattr(target, name)(*arguments, **keywords)
        result = plain(self, *arguments, **keywords)
        return self._as_view(result, lambda value: getattr(value, name)(*arguments, **keywords))

    # NumPy's own text would bring its examples along.
    method.__doc__ = f"The same as `numpy.ndarray.{name}`."
    return method


def _delegate_property(name: str) -> property:
    plain = getattr(np.ndarray, name)

    def read(self: FreshArray) -> Any:
        recorded = self.recorded
        if recorded is not None:
            return getattr(recorded, name)
        return self._as_view(plain.__get__(self), lambda value: getattr(value, name))

    return property(read)


def _bytes(name: str) -> Any:
    """Return a method or property that reads the memory as it lies, which traced values lack."""
    plain = getattr(np.ndarray, name)

    def require_plain(self: FreshArray) -> None:
        if self.recorded is not None:
            self.value().__array__()

    @functools.wraps(plain)
    def method(self: FreshArray, *arguments: Any, **keywords: Any) -> Any:
        require_plain(self)
        return plain(self, *arguments, **keywords)

    method.__doc__ = f"The same as `numpy.ndarray.{name}`."

    def read(self: FreshArray) -> Any:
        require_plain(self)
        return plain.__get__(self)

    return method if callable(plain) else property(read)


_WRITING = frozenset(
    {f"__i{name}__" for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
        "lshift", "rshift",
    )} | {"fill", "sort", "put", "partition", "resize"}
)  # fmt: skip
_OWN = frozenset(
    {"__getitem__", "__setitem__", "__init__", "__new__", "__class__", "__len__", "__iter__"}
)
_SHARED = [
    name
    for name in dir(Tracer)
    if name not in _OWN
    and name not in dir(object)
    and not name.startswith("__array")
    and callable(getattr(np.ndarray, name, None))
]
_COMPARISONS = ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]
for _name in (*_SHARED, *_COMPARISONS):
    setattr(FreshArray, _name, _delegate(_name))
for _name in ("tobytes", "byteswap", "dump", "dumps", "tofile", "getfield", "data", "ctypes"):
    setattr(FreshArray, _name, _bytes(_name))
for _name in ("T", "mT", "real", "imag", "flat"):
    setattr(FreshArray, _name, _delegate_property(_name))


def _is_traced(value: Any) -> bool:
    """Say whether a value is traced, or a container of arguments that holds one."""
    if isinstance(value, Tracer):
        return True
    if isinstance(value, FreshArray):
        return value.recorded is not None
    if isinstance(value, tuple | list):
        return any(map(_is_traced, value))
    if isinstance(value, dict):
        return any(map(_is_traced, value.values()))
    return False


def _may_share(one: np.ndarray, other: np.ndarray) -> bool:
    return np.may_share_memory(_plain(one), _plain(other))


def _plain(value: Any) -> Any:
    return np.ndarray.view(value, np.ndarray) if isinstance(value, FreshArray) else value


def _fresh(value: Any) -> Any:
    if current_trace() is None:
        return _plain(value)
    if type(value) is np.ndarray and value.dtype.kind in "biufc":
        return value.view(FreshArray)
    if isinstance(value, tuple):
        return tuple(map(_fresh, value))
    return value


def _made(result: Any) -> Any:
    """Return what a creation function made, as a fresh array; its memory may be nobody else's."""
    made = _fresh(result)
    if isinstance(made, FreshArray):
        made._owned = result.flags.owndata
    return made


def live(array: np.ndarray) -> Any:
    """Return a view of an array from outside the function that answers for traced operands."""
    if array.dtype.kind not in "biufc":
        return array
    view = array.view(FreshArray)
    view.live = array
    return view


def _note_sources(values: Any) -> None:
    """Note that numbers are computed, unseen, from arrays that were not made under the trace."""
    trace = current_trace()
    if trace is not None and not trace.derived and _holds_outside(values):
        trace.derived = True


def _holds_outside(value: Any) -> bool:
    if isinstance(value, FreshArray):
        return value.live_value() is not None if value.live is None else True
    if isinstance(value, tuple | list):
        return any(map(_holds_outside, value))
    if isinstance(value, dict):
        return any(map(_holds_outside, value.values()))
    return isinstance(value, np.ndarray)


def _creating(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    converts = name in ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray")

    @functools.wraps(original)
    def create(*arguments: Any, **keywords: Any) -> Any:
        from stagrad.trace.protocols import call_function

        if current_trace() is None or _is_called_by_stagrad():
            return original(*arguments, **keywords)
        if converts and arguments and _is_convertible(arguments[0]):
            return _converted(name, *arguments, **keywords)
        if converts and name != "array" and _is_given_back(*arguments, **keywords):
            return arguments[0]
        if name == "fromiter" and arguments:
            arguments = (list(arguments[0]), *arguments[1:])
        if original in FUNCTIONS and _is_traced((arguments, keywords)):
            return call_function(original, arguments, keywords)
        if name == "empty":
            return _made(np_originals["zeros"](*arguments, **keywords))
        result = original(*arguments, **keywords)
        if arguments and result is arguments[0]:
            # A conversion that hands back its argument created nothing.
            return live(result) if type(result) is np.ndarray else result
        if not name.endswith("_like"):
            _note_sources(arguments)
        return _made(result)

    return create


def _is_given_back(value: Any, dtype: Any = None, *rest: Any, **keywords: Any) -> bool:
    """Say whether a conversion has nothing to convert: the array is one made under the trace."""
    is_same = dtype is None or (isinstance(value, np.ndarray) and np.dtype(dtype) == value.dtype)
    return isinstance(value, FreshArray) and is_same and not rest and not keywords


def _is_called_by_stagrad() -> bool:
    """Say whether stagrad's own code asks, or NumPy's code that an operation of ours called."""
    frame: FrameType | None = sys._getframe(2)
    if _module(frame).startswith("stagrad."):
        return True
    while frame is not None and _module(frame).startswith("numpy."):
        frame = frame.f_back
    return _module(frame).startswith("stagrad.ops.")


def _module(frame: FrameType | None) -> str:
    return "" if frame is None else str(frame.f_globals.get("__name__", ""))


def _is_convertible(value: Any) -> bool:
    return _is_traced(value) or (isinstance(value, list | tuple) and holds_traced(value))


def _converted(name: str, value: Any, dtype: Any = None, **keywords: Any) -> Any:
    from stagrad.ops.movement import astype

    result = as_value(value)
    if dtype is not None:
        result = astype(result, np.dtype(dtype))
    if name == "array" and must_copy(keywords.get("copy", True)) and isinstance(result, Tracer):
        result = result.detached()
    if isinstance(result, Tracer) and result.scalar:
        result = Tracer(result.recording, result.node)
    ndmin = keywords.get("ndmin", 0)
    return result if result.ndim >= ndmin else result[(None,) * (ndmin - result.ndim)]


CREATION = (
    "zeros", "ones", "empty", "full", "eye", "identity", "arange", "linspace", "logspace",
    "geomspace", "array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray",
    "zeros_like", "ones_like", "empty_like", "full_like", "tri", "diag", "copy", "fromiter",
)  # fmt: skip

np_originals: dict[str, Callable[..., Any]] = {name: getattr(np, name) for name in CREATION}
np_replacements = {name: _creating(name, original) for name, original in np_originals.items()}
