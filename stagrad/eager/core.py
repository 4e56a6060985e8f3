"""The methods that autograd itself needs, and in-place operators: each made by `operation`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.eager.define import operation
from stagrad.eager.functions.pointwise import pow
from stagrad.eager.functions.products import matmul
from stagrad.eager.tensor import Tensor
from stagrad.ir import aval_of, bind
from stagrad.ops.arithmetic import positive_p
from stagrad.ops.define import UFUNCS


@operation("CloneBackward0")
def clone(input: Any) -> Any:
    """Return a copy of a tensor; gradients flow through it."""
    if aval_of(input).dtype.kind == "b":
        return np.array(input)
    return bind(positive_p, input)


def _operator(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(self: Any, other: Any) -> Any:
        if other is None or isinstance(other, str | bytes | dict | set):
            return NotImplemented
        return function(self, _operand(other))

    return apply


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(self: Any, other: Any) -> Any:
        if other is None or isinstance(other, str | bytes | dict | set):
            return NotImplemented
        return function(_operand(other), self)

    return apply


def _operand(other: Any) -> Any:
    return np.asarray(other) if isinstance(other, list | tuple) else other


def _ufunc(name: str, label: str) -> Callable[..., Any]:
    implementation = UFUNCS[name]

    @operation(label)
    def apply(*operands: Any) -> Any:
        return implementation(*operands)

    apply.__name__ = name
    return apply


_OPERATORS = {
    "add": ("add", "AddBackward0"),
    "sub": ("subtract", "SubBackward0"),
    "mul": ("multiply", "MulBackward0"),
    "truediv": ("divide", "DivBackward0"),
    "floordiv": ("floor_divide", "FloorDivideBackward0"),
    "mod": ("remainder", "RemainderBackward0"),
    "and": ("bitwise_and", "BitwiseAndBackward0"),
    "or": ("bitwise_or", "BitwiseOrBackward0"),
    "xor": ("bitwise_xor", "BitwiseXorBackward0"),
    "lshift": ("left_shift", "LeftShiftBackward0"),
    "rshift": ("right_shift", "RightShiftBackward0"),
}
_COMPARISONS = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
    "ne": "not_equal",
}  # fmt: skip
_DIRECT = ("add", "radd", "sub", "mul", "rmul")
"""The operators that Tensor defines itself, for speed; they come here for unusual operands."""


def _in_place(function: Callable[[Any, Any], Any], name: str) -> Callable[[Any, Any], Any]:
    def apply(self: Any, other: Any) -> Any:
        return self.update(name, lambda: function(self, _operand(other)))

    return apply


def _unary(name: str, label: str) -> Callable[[Any], Any]:
    function = _ufunc(name, label)

    def apply(self: Any) -> Any:
        return function(self)

    return apply


def _install() -> None:
    """Give Tensor its operators and the methods of this module."""
    functions: dict[str, Callable[..., Any]] = {
        name: _ufunc(ufunc, label) for name, (ufunc, label) in _OPERATORS.items()
    }
    functions |= {"pow": pow, "matmul": matmul}
    # PyTorch computes 1 / x as the reciprocal times one.
    reflected = functions | {
        "sub": _ufunc("subtract", "RsubBackward1"),
        "truediv": _ufunc("divide", "MulBackward0"),
    }
    methods: dict[str, Any] = {}
    for name, function in functions.items():
        methods[f"__{name}__"] = _operator(function)
        methods[f"__r{name}__"] = _reflected(reflected[name])
        methods[f"__i{name}__"] = _in_place(function, f"{name}_")
    for name, ufunc in _COMPARISONS.items():
        methods[f"__{name}__"] = _operator(_ufunc(ufunc, "CompareBackward0"))
    methods["__invert__"] = _unary("invert", "BitwiseNotBackward0")
    methods["__abs__"] = _unary("absolute", "AbsBackward0")
    methods["__hash__"] = object.__hash__
    for name in _DIRECT:
        del methods[f"__{name}__"]
    methods["clone"] = clone
    for name, method in methods.items():
        setattr(Tensor, name, method)


_install()
