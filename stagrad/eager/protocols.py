"""NumPy's protocols: what a ufunc or a NumPy function does when it meets a tensor."""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.eager import tape
from stagrad.eager.define import bare_arrays, run_operation, tensors_in
from stagrad.eager.inplace import write
from stagrad.eager.modes import is_grad_enabled
from stagrad.eager.names import backward_name
from stagrad.errors import UnsupportedError
from stagrad.ops.define import FUNCTIONS, UFUNCS
from stagrad.ops.ufunc_methods import UFUNC_METHODS

VIEWS: frozenset[Callable[..., Any]] = frozenset(
    {
        np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze,
        np.expand_dims, np.flip, np.fliplr, np.flipud, np.rot90, np.atleast_1d, np.atleast_2d,
        np.atleast_3d, np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.diagonal,
        np.broadcast_to, np.broadcast_arrays, np.real, np.imag, np.matrix_transpose,
        np.permute_dims, np.unstack, np.linalg.diagonal, np.linalg.matrix_transpose,
    }
)  # fmt: skip
"""Functions whose result shares memory with their argument."""

CONSTANT: frozenset[Callable[..., Any]] = frozenset(
    {
        np.nonzero, np.flatnonzero, np.argwhere, np.count_nonzero, np.argsort, np.argmax,
        np.argmin, np.lexsort, np.searchsorted, np.digitize, np.isclose, np.allclose,
        np.array_equal, np.array_equiv, np.iscomplexobj, np.isrealobj, np.array_repr,
        np.array_str, np.array2string, np.shares_memory, np.may_share_memory, np.unravel_index,
    }
)  # fmt: skip
"""Functions without a derivative: they get the numbers."""

_WRITES = frozenset({np.copyto, np.put, np.putmask, np.place, np.put_along_axis, np.fill_diagonal})


def call_ufunc(
    ufunc: np.ufunc,
    method: str,
    *inputs: Any,
    out: tuple[Any, ...] | None = None,
    where: Any = True,
    **keywords: Any,
) -> Any:
    """Answer `__array_ufunc__`: `ufunc(*inputs)` or one of its methods, on tensors."""
    for name in ("casting", "order", "subok", "signature", "sig"):
        keywords.pop(name, None)
    if method == "at":
        return _at(ufunc, inputs)
    if where is not True:
        if method == "__call__" and out is None:
            raise UnsupportedError(
                f"np.{ufunc.__name__}(where=...) without out= leaves the other elements undefined; "
                f"pass out=, or write np.where(condition, np.{ufunc.__name__}(...), other)"
            )
        if method != "__call__":
            keywords["where"], where = where, True
    result = _call(ufunc, method, inputs, keywords)
    if out is None:
        return result
    results = result if isinstance(result, tuple) else (result,)
    written = [
        value if target is None else _write_out(target, value, where, ufunc.__name__)
        for target, value in zip(out, results, strict=True)
    ]
    return written[0] if len(written) == 1 else tuple(written)


def _call(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    name = ufunc.__name__
    if not _records(inputs):

        def plain(*operands: Any, **others: Any) -> Any:
            return getattr(ufunc, method)(*operands, **others)

        return run_operation(backward_name(name), plain, inputs, keywords)
    if method != "__call__":
        implementation = UFUNC_METHODS.get((name, method))
        if implementation is None:
            raise unsupported(f"np.{name}.{method}")
        return run_operation(backward_name(name), implementation, inputs, keywords)
    implementation = UFUNCS.get(name)
    if implementation is None:
        raise unsupported(f"the ufunc {name}")
    dtype = keywords.pop("dtype", None)
    if dtype is not None:
        from stagrad.ops.convert import cast

        inputs = tuple(cast(operand, np.dtype(dtype), copy=False) for operand in inputs)
    return run_operation(backward_name(name), implementation, inputs, keywords)


def _at(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> None:
    target, index, *values = inputs
    if not isinstance(target, tape.tensor_type):
        raise _lost(ufunc.__name__)
    implementation = UFUNC_METHODS.get((ufunc.__name__, "at"))
    if implementation is None:
        raise unsupported(f"np.{ufunc.__name__}.at")
    implementation(target, bare_arrays(index), *values)


def call_function(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Any) -> Any:
    """Answer `__array_function__`: a NumPy function one of whose arguments is a tensor."""
    implementation = FUNCTIONS.get(function)
    if function in _WRITES:
        if not isinstance(args[0], tape.tensor_type):
            raise _lost(function.__name__)
        assert implementation is not None
        return implementation(args[0], *bare_arrays(args[1:]), **bare_arrays(kwargs))
    out = kwargs.get("out")
    if out is not None:
        others = {name: value for name, value in kwargs.items() if name != "out"}
        target = out[0] if isinstance(out, tuple) else out
        return _write_out(target, call_function(function, args, others), True, function.__name__)
    if function in CONSTANT or not (_records((args, kwargs)) or function in VIEWS):
        return _on_arrays(function, args, kwargs)
    if implementation is None:
        raise unsupported(_qualified(function))
    name = backward_name(function.__name__)
    return run_operation(name, implementation, args, kwargs, view=function in VIEWS)


def _on_arrays(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Any) -> Any:
    from stagrad.eager.define import all_bare_arrays, make_tensors

    result = function(*all_bare_arrays(args), **all_bare_arrays(kwargs))
    return make_tensors(result, list(tensors_in((args, kwargs))))


def _records(tree: Any) -> bool:
    """Say whether an operation on these arguments is to be recorded."""
    return is_grad_enabled() and any(tensor.requires_grad for tensor in tensors_in(tree))


def _write_out(target: Any, value: Any, where: Any, name: str) -> Any:
    """Write a result into an `out=` argument and return that."""
    if isinstance(target, tape.tensor_type):
        if where is not True:
            value = FUNCTIONS[np.where](where, value, target)
        return write(target, value, name)
    if _records((value,)):
        raise _lost(name)
    array = value._array if isinstance(value, tape.tensor_type) else value
    np.copyto(target, array, casting="same_kind", where=where)
    return target


def _lost(name: str) -> TypeError:
    return TypeError(
        f"{name}: a tensor that requires grad cannot be written into a NumPy array, as `array += "
        "tensor` and out= would: its gradient would be lost. Write array = array + tensor, or use "
        "tensor.detach()."
    )


def _qualified(function: Callable[..., Any]) -> str:
    module = getattr(function, "__module__", None) or ""
    prefix = "np" + module[5:] if module.partition(".")[0] == "numpy" else module
    return f"{prefix}.{function.__name__}".lstrip(".")


def unsupported(what: str) -> UnsupportedError:
    """Return the error for a function that the table does not have."""
    return UnsupportedError(
        f"{what} is not supported on tensors that require grad. Write it with supported NumPy "
        "operations, or call it on tensor.detach()."
    )
