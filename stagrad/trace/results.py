"""Results that hide traced values where no program could put numbers in their place."""

from collections.abc import Coroutine, Iterator
from types import FunctionType
from typing import Any, NoReturn

from stagrad.errors import TraceError
from stagrad.trace.fresh import FreshArray
from stagrad.trace.tracer import Tracer

_DEPTH = 4


def require_nothing_traced(leaf: Any) -> None:
    """Raise TraceError when an object that a traced function returned holds a traced value."""
    if isinstance(leaf, Iterator | Coroutine) or hasattr(leaf, "__anext__"):
        _refuse(leaf, "computes its items only after the function was traced")
    if _holds_traced(leaf, _DEPTH):
        _refuse(leaf, "holds traced values in a place that is not looked into")


def _refuse(leaf: Any, why: str) -> NoReturn:
    raise TraceError(
        f"the function returns a {type(leaf).__name__}, which {why}. Return arrays and numbers, or "
        "lists, tuples, dicts, named tuples and dataclasses of those."
    )


def _holds_traced(value: Any, depth: int) -> bool:
    if isinstance(value, Tracer):
        return True
    if isinstance(value, FreshArray):
        return value.recorded is not None
    return depth > 0 and any(_holds_traced(part, depth - 1) for part in _parts(value))


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list | tuple | set | frozenset | type({}.values()) | type({}.items())):
        return list(value)
    if isinstance(value, type):
        return []
    parts = list(vars(value).values()) if hasattr(value, "__dict__") else []
    parts += [getattr(value, name, None) for name in _slots(type(value))]
    if isinstance(value, FunctionType):
        parts += [_content(cell) for cell in value.__closure__ or ()]
    return parts


def _slots(kind: type) -> list[str]:
    names: list[str] = []
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        names += [slots] if isinstance(slots, str) else list(slots)
    return names


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None
