"""Indexing: views and copies that `tensor[index]` gives, and writes into them."""

from typing import Any

import numpy as np

from stagrad.eager import tape
from stagrad.eager.define import run_operation
from stagrad.eager.inplace import check_writable, update, write
from stagrad.eager.modes import is_grad_enabled
from stagrad.eager.translation import index_error
from stagrad.ops.indexing import getitem as getitem_of_values
from stagrad.ops.indexing import store


def getitem(tensor: Any, index: Any) -> Any:
    """Return `tensor[index]`: a view for integers and slices, a copy for arrays and masks."""
    index = _plain_index(index)
    basic = is_basic(index)
    try:
        if not basic and not (is_grad_enabled() and tensor.requires_grad):
            return tape.make_tensor(np.asarray(tensor._array[index]), None)
        name = _name(index)
        return run_operation(name, lambda x: getitem_of_values(x, index), (tensor,), {}, view=True)
    except IndexError as error:
        raise index_error(error, tensor.shape) from None


def is_basic(index: Any) -> bool:
    """Say whether an index is made of integers, slices, None and `...` alone."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        part is None
        or part is Ellipsis
        or (isinstance(part, int | np.integer | slice) and not isinstance(part, bool))
        for part in parts
    )


def _plain_index(index: Any) -> Any:
    """Return an index with plain arrays, and integers where these have no axes."""
    if isinstance(index, tuple):
        return tuple(map(_plain_index, index))
    if isinstance(index, slice):
        return slice(*(_bound(b) for b in (index.start, index.stop, index.step)))
    if isinstance(index, tape.tensor_type):
        index = index._array
        if index.ndim == 0 and index.dtype.kind in "iu":
            return int(index)
    elif isinstance(index, list):
        return [_plain_index(part) for part in index]
    return index


def _bound(bound: Any) -> Any:
    return int(bound) if isinstance(bound, tape.tensor_type) else bound


def _name(index: Any) -> str:
    parts = index if isinstance(index, tuple) else (index,)
    if not is_basic(index):
        return "IndexBackward0"
    parts = tuple(part for part in parts if part is not Ellipsis)
    if any(isinstance(part, slice) and part != slice(None) for part in parts[-1:]):
        return "SliceBackward0"
    if parts and parts[-1] is None:
        return "UnsqueezeBackward0"
    if any(isinstance(part, int | np.integer) for part in parts):
        return "SelectBackward0"
    return "SliceBackward0" if parts else "AliasBackward0"


def setitem(tensor: Any, index: Any, value: Any) -> None:
    """Write `tensor[index] = value`; gradients flow to the value and to all that is not written."""
    index = _plain_index(index)
    if is_basic(index):
        part = getitem(tensor, index)
        if not _is_same(part, value):
            write(part, _as_value(value), "copy_")
        return
    recording = is_grad_enabled() and (
        tensor.requires_grad or (isinstance(value, tape.tensor_type) and value.requires_grad)
    )
    if recording:
        update(tensor, lambda: store(tensor, index, _as_value(value)), "index_put_")
        return
    from stagrad.eager.inplace import bump

    check_writable(tensor, "index_put_")
    tensor._array[index] = value._array if isinstance(value, tape.tensor_type) else value
    bump(tensor)


def _as_value(value: Any) -> Any:
    if isinstance(value, list | tuple):
        from stagrad.ops.convert import as_array

        return as_array(value)
    return value


def _is_same(part: Any, value: Any) -> bool:
    """Say whether `value` is the very memory it is to be written to, as after `x[i] += 1`."""
    if not isinstance(value, tape.tensor_type) or value._counter is not part._counter:
        return False
    a, b = part._array, value._array
    is_alike = a.shape == b.shape and a.strides == b.strides and a.dtype == b.dtype
    return bool(is_alike and a.ctypes.data == b.ctypes.data)
