"""What a program is: avals, primitives, nodes, graphs, kernels and schedules. No transformation."""

from stagrad.ir.aval import Aval, aval_of, dtype_name, parse_aval, parse_dtype
from stagrad.ir.builder import Builder, is_inexact
from stagrad.ir.graph import Graph, Node, Source, reachable
from stagrad.ir.index import Along, Index, Placement
from stagrad.ir.interpret import bind, interpret, replay
from stagrad.ir.leaves import constant_p, input_p, project_p
from stagrad.ir.literal import Literal
from stagrad.ir.parse import parse
from stagrad.ir.primitive import (
    NOT_DIFFERENTIABLE,
    PRIMITIVES,
    ZERO,
    CText,
    Kind,
    Params,
    Primitive,
    format_param,
    params_key,
    register,
)
from stagrad.ir.text import text

__all__ = [
    "NOT_DIFFERENTIABLE",
    "PRIMITIVES",
    "ZERO",
    "Along",
    "Aval",
    "Builder",
    "CText",
    "Graph",
    "Index",
    "Kind",
    "Literal",
    "Node",
    "Params",
    "Placement",
    "Primitive",
    "Source",
    "aval_of",
    "bind",
    "constant_p",
    "dtype_name",
    "format_param",
    "input_p",
    "interpret",
    "is_inexact",
    "params_key",
    "parse",
    "parse_aval",
    "parse_dtype",
    "project_p",
    "reachable",
    "register",
    "replay",
    "text",
]
