"""The mark that a value is to be computed a second time rather than kept."""

from typing import Any

from stagrad.ir import ZERO, Kind, Primitive, bind, register
from stagrad.ops.movement import all_batched


def _batcher(size: int, batched: Any, operands: Any) -> Any:
    return recompute(*all_batched(size, batched, operands))


recompute_p = register(
    Primitive(
        name="recompute",
        kind=Kind.MOVEMENT,
        abstract_eval=lambda avals, params: avals[0],
        py="{0}",
        vjps=(lambda ct, out, x, after: ct, ZERO),
        view=lambda base, value, params: value,
        batcher=_batcher,
        linear=True,
        doc="The first operand, to be read only once the second is there.",
    )
)


def recompute(x: Any, after: Any) -> Any:
    """Return `x` as another value than `x`, which nothing computes before `after`."""
    return bind(recompute_p, x, after)
