"""Arguments that share memory with one that the function writes to: refused, not miscomputed."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from stagrad.api.signature import Parameters, Signature
from stagrad.errors import UnsupportedError
from stagrad.ir import Aval
from stagrad.trace import Traced, Tracer

_WORK = 100_000


def require_apart(
    traced: Traced,
    signature: Signature,
    parameters: Parameters,
    arrays: Sequence[Any],
    captures: Sequence[Any],
) -> None:
    """Raise UnsupportedError when an array that is written to overlaps another of the call.

    A trace knows arguments as arrays of their own, so that a write to one would not show in others.
    """
    for written, _ in traced.mutated:
        others = [*arrays[:written], *arrays[written + 1 :], *captures]
        place = _overlapping(arrays[written], others)
        overlaps_itself = _overlaps_itself(arrays[written])
        if place is None and not overlaps_itself:
            continue
        leaves = [k for k, leaf in enumerate(signature.leaves) if isinstance(leaf, Aval)]
        name = parameters.describe(signature.spec, leaves[written])
        if place is None:
            other = "itself"
        elif place < len(arrays) - 1:
            other = parameters.describe(signature.spec, leaves[place + (place >= written)])
        else:
            other = "an array the function reads from outside"
        raise UnsupportedError(
            f"{name} is written to, and shares memory with {other}: a write to one place changes "
            "another, which a compiled function cannot follow. Pass a copy"
        )


def _overlapping(array: Any, others: Iterable[Any]) -> int | None:
    """Return the place of the first array that shares memory with `array`."""
    for place, other in enumerate(others):
        if _share_memory(array, other):
            return place
    return None


def _overlaps_itself(array: Any) -> bool:
    """Say whether an array has more elements than its memory has room for."""
    if not isinstance(array, np.ndarray) or not array.size:
        return False
    low, high = np.lib.array_utils.byte_bounds(array)
    return array.nbytes > high - low


def _share_memory(one: Any, other: Any) -> bool:
    if isinstance(one, Tracer) and isinstance(other, Tracer):
        return one.root is other.root
    if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
        return False
    try:
        return np.shares_memory(one, other, max_work=_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True
