"""The three primitives every graph needs: inputs, constants and the parts of a multiple result."""

from typing import Any

from stagrad.ir.aval import Aval
from stagrad.ir.primitive import NOT_DIFFERENTIABLE, Kind, Params, Primitive, format_param, register


def _no_rule(avals: tuple[Aval, ...], params: Params) -> Any:
    raise ValueError("inputs are made with Builder.input, which is given their aval")


def _constant_text(params: Params, arity: int) -> str:
    array = params["value"].array
    if array.ndim == 0:
        return f"{format_param(array.dtype)}({format_param(array.item())})"
    return "{value}"


input_p = register(
    Primitive(
        name="input",
        kind=Kind.LEAF,
        doc="A value given by the caller; two inputs are never the same node.",
        vjps=(),
        abstract_eval=_no_rule,
        py="{name}",
    )
)

constant_p = register(
    Primitive(
        name="constant",
        kind=Kind.LEAF,
        doc="A value known when the program was traced, compared by its bits.",
        vjps=(),
        abstract_eval=lambda avals, params: Aval(
            params["value"].array.shape, params["value"].array.dtype, params.get("weak", False)
        ),
        py=_constant_text,
    )
)

# Reverse mode gathers the cotangents of a multiple result itself, so no rule is ever asked for.
project_p = register(
    Primitive(
        name="project",
        kind=Kind.LEAF,
        doc="One part of an operation that returns several values.",
        vjps=(NOT_DIFFERENTIABLE,),
        abstract_eval=lambda avals, params: avals[params["index"]],
        py="{0}[{index}]",
    )
)
