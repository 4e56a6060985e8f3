"""What operations that run along one axis have in common: running sums, sorts."""

import operator
from typing import Any

import numpy as np

from stagrad.ir import Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.movement import broadcast_to


def one_axis(axis: Any, ndim: int, name: str) -> int:
    """Return an axis counted from zero; TypeError where it is no integer, as in NumPy."""
    return int(np.lib.array_utils.normalize_axis_index(operator.index(axis), ndim, name))


def _same(avals: tuple[Aval, ...], params: Params) -> Aval:
    return Aval(avals[0].shape, avals[0].dtype)


def along_axis(name: str, **fields: Any) -> Primitive:
    """Register an operation along `axis`, a non-negative int, and return its record.

    Its operands have one shape, which is the result's. The result's dtype is that of the first
    operand unless `abstract_eval` says otherwise.
    """

    def batcher(size: int, batched: Any, operands: Any, *, axis: int, **params: Any) -> Any:
        full = (
            operand if is_batched else broadcast_to(operand, (size, *aval_of(operand).shape))
            for operand, is_batched in zip(operands, batched, strict=True)
        )
        return bind(record, *full, axis=axis + 1, **params)

    record = register(
        Primitive(
            name=name,
            kind=Kind.LIBRARY,
            batcher=batcher,
            **{"abstract_eval": _same, **fields},
        )
    )
    return record
