"""NumPy's protocols: what a ufunc or a NumPy function does when it meets a traced value."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.errors import DTypeError, ShapeError, UnsupportedError
from stagrad.ir import aval_of
from stagrad.ir.aval import PYTHON_SCALARS
from stagrad.ops.convert import as_array
from stagrad.ops.define import FUNCTIONS, UFUNCS
from stagrad.ops.movement import astype, broadcast_to
from stagrad.trace.sources import locate
from stagrad.trace.tracer import Tracer

VIEWS: frozenset[Callable[..., Any]] = frozenset(
    {
        np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze,
        np.expand_dims, np.flip, np.fliplr, np.flipud, np.rot90, np.atleast_1d, np.atleast_2d,
        np.atleast_3d, np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.diagonal,
        np.broadcast_to, np.broadcast_arrays, np.real, np.imag, np.asarray, np.asanyarray,
        np.matrix_transpose, np.permute_dims, np.unstack, np.diag, np.linalg.diagonal,
        np.linalg.matrix_transpose,
    }
)  # fmt: skip
"""Functions whose result shares memory with their argument; all others return fresh arrays."""

ARRAYS: frozenset[Callable[..., Any]] = frozenset(
    {
        np.where, np.select, np.piecewise, np.zeros_like, np.ones_like, np.empty_like, np.full_like,
        np.copy, np.i0, np.pad, np.tensordot, np.require, np.astype, np.cov, np.real_if_close,
    }
)  # fmt: skip
"""Functions that return an array also where it has no axes; all others return a scalar there."""

SCALARS = ("__matmul__", "__rmatmul__", "dot", "prod", "sum", "mean", "max", "min", "choose",
           "take", "trace", "std", "var", "ptp", "all", "any", "argmax", "argmin")  # fmt: skip
"""Methods that return a scalar where the result has no axes."""


def call_ufunc(
    ufunc: np.ufunc,
    method: str,
    *inputs: Any,
    out: tuple[Any, ...] | None = None,
    where: Any = True,
    dtype: Any = None,
    **keywords: Any,
) -> Any:
    """Answer `__array_ufunc__`: `ufunc(*inputs)` or one of its methods, on traced values."""
    for name in ("casting", "order", "subok", "signature", "sig"):
        keywords.pop(name, None)
    if method == "__call__":
        result = _call(ufunc, inputs, dtype, keywords)
        if out is None and where is not True:
            raise UnsupportedError(
                f"np.{ufunc.__name__}(where=...) without out= leaves the other elements undefined; "
                f"pass out=, or write np.where(condition, np.{ufunc.__name__}(...), other)"
            )
    else:
        implementation = ufunc_method(ufunc, method)
        if where is not True:
            keywords["where"] = where
            where = True
        if dtype is not None:
            keywords["dtype"] = dtype
        if method == "at":
            return implementation(*inputs, **keywords)
        result = implementation(*inputs, **keywords)
    if out is None:
        return detached(_strong(result), scalar=True)
    return _into(out, result, where, ufunc.__name__)


def _call(ufunc: np.ufunc, inputs: tuple[Any, ...], dtype: Any, keywords: dict[str, Any]) -> Any:
    implementation = UFUNCS.get(ufunc.__name__)
    if implementation is None:
        raise unsupported(f"the ufunc {ufunc.__name__}")
    like = next((operand for operand in inputs if isinstance(operand, Tracer)), None)
    inputs = tuple(
        as_array(operand, like=like) if isinstance(operand, list | tuple) else operand
        for operand in inputs
    )
    if dtype is not None:
        inputs = tuple(astype_value(operand, np.dtype(dtype)) for operand in inputs)
    elif all(map(_is_weak, inputs)):
        # NumPy makes arrays of Python scalars first, and passes then see no cast of the result.
        inputs = tuple(map(_strong, inputs))
    return implementation(*inputs, **keywords)


def _is_weak(operand: Any) -> bool:
    return operand.aval.weak if isinstance(operand, Tracer) else type(operand) in PYTHON_SCALARS


def astype_value(value: Any, dtype: np.dtype) -> Any:
    """Return an operand, traced or not, in a dtype."""
    return astype(value, dtype) if isinstance(value, Tracer) else np.asarray(value, dtype)


def ufunc_method(ufunc: np.ufunc, method: str) -> Callable[..., Any]:
    """Return the implementation of `ufunc.reduce` and its like, or raise UnsupportedError."""
    from stagrad.ops.ufunc_methods import UFUNC_METHODS

    implementation = UFUNC_METHODS.get((ufunc.__name__, method))
    if implementation is None:
        raise unsupported(f"np.{ufunc.__name__}.{method}")
    return implementation


def call_function(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Any) -> Any:
    """Answer `__array_function__`: a NumPy function one of whose arguments is traced."""
    implementation = FUNCTIONS.get(function)
    if implementation is None:
        raise unsupported(qualified_name(function))
    out = kwargs.get("out")
    if out is not None:
        kwargs = {name: value for name, value in kwargs.items() if name != "out"}
    result = implementation(*args, **kwargs)
    if out is not None:
        return _into(out if isinstance(out, tuple) else (out,), result, True, function.__name__)
    result = _strong(result)
    return result if function in VIEWS else detached(result, scalar=function not in ARRAYS)


def qualified_name(function: Callable[..., Any]) -> str:
    """Return a function's name as a user writes it: `np.linalg.solve`."""
    module = getattr(function, "__module__", None) or ""
    prefix = "np" + module[5:] if module.partition(".")[0] == "numpy" else module
    return f"{prefix}.{function.__name__}".lstrip(".")


def unsupported(what: str) -> UnsupportedError:
    """Return the error for a function that has no meaning inside a trace."""
    source, _ = locate()
    where = f" (at {source})" if source else ""
    return UnsupportedError(
        f"{what} is not supported on traced values{where}. Compute it outside the traced function "
        "and pass the result in, or write it with supported NumPy operations."
    )


def _strong(result: Any) -> Any:
    """Return what NumPy functions return: never a Python scalar."""
    if isinstance(result, Tracer) and result.aval.weak:
        return astype(result, result.aval.dtype)
    if isinstance(result, tuple) and not hasattr(result, "_fields"):
        return tuple(map(_strong, result))
    return result


def detached(result: Any, *, scalar: bool | None = None) -> Any:
    """Return results as arrays of their own, sharing no memory with any argument.

    `scalar` says whether NumPy makes scalars of results without axes, which cannot be written to.
    """
    if isinstance(result, Tracer):
        own = result.detached()
        own.scalar = own.shape == () and (own.scalar if scalar is None else scalar)
        return own
    if type(result) in (tuple, list):
        return type(result)(detached(part, scalar=scalar) for part in result)
    return result


def _scalar_method(name: str) -> Callable[..., Any]:
    plain = getattr(Tracer, name)

    @functools.wraps(plain)
    def method(self: Tracer, *arguments: Any, **keywords: Any) -> Any:
        result = plain(self, *arguments, **keywords)
        is_own = isinstance(result, Tracer) and keywords.get("out") is None
        return detached(result, scalar=True) if is_own else result

    return method


for _name in SCALARS:
    setattr(Tracer, _name, _scalar_method(_name))


def _into(out: tuple[Any, ...], result: Any, where: Any, name: str) -> Any:
    results = result if isinstance(result, tuple) else (result,)
    for target, value in zip(out, results, strict=True):
        if target is not None:
            write_out(target, value, where, name)
    written = tuple(
        value if target is None else target for target, value in zip(out, results, strict=True)
    )
    return written[0] if len(written) == 1 else written


def write_out(target: Any, value: Any, where: Any, name: str) -> None:
    """Write a result into an `out=` argument, with NumPy's checks of shape and casting."""
    record = getattr(target, "record", None)
    if record is not None:
        target = record()
    if not isinstance(target, Tracer):
        raise TypeError(
            f"{name}: a traced value cannot be written into the plain array given as out= (or left "
            "of an operator like +=): its derivative would be lost. Write the operation without "
            "out=, or copy the array inside the function with np.array first."
        )
    aval = aval_of(value)
    if not np.can_cast(aval.dtype, target.dtype, casting="same_kind"):
        raise DTypeError(
            f"{name}: cannot cast the result from {aval.dtype} to {target.dtype} in place"
        )
    if np.broadcast_shapes(aval.shape, target.shape) != target.shape:
        raise ShapeError(
            f"{name}: a result of shape {aval.shape} does not fit the output's shape {target.shape}"
        )
    value = broadcast_to(astype(target.lift(value), target.dtype), target.shape)
    if where is not True:
        value = FUNCTIONS[np.where](where, value, target)
    target.write(target.lift(value))
