"""What a recorded operation keeps for its derivative rules.

Each rule is run once on probes, which know their shapes and dtypes and notice whether their numbers
are used. Operands, and the result, that no rule reads are not kept: a stand-in that knows only
shape and dtype takes their place. So `x * 3` may be overwritten, and `x + y` costs no memory.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stagrad.errors import DerivativeError
from stagrad.ir import NOT_DIFFERENTIABLE, ZERO, Aval, Literal, Primitive, aval_of
from stagrad.ops.operators import Operators


class StandIn:
    """Takes the place of an array whose numbers no rule reads."""

    __slots__ = ("aval",)

    def __init__(self, aval: Aval) -> None:
        self.aval = aval


class Probe(Operators):
    """An array without numbers that notices when an operation would read them."""

    __slots__ = ("aval", "consumed")

    def __init__(self, aval: Aval) -> None:
        self.aval = aval
        self.consumed = False

    def lift(self, value: Any, *, weak: bool = False) -> "Probe":
        """Return another value as a probe."""
        if isinstance(value, Probe):
            return value
        aval = aval_of(value.array if isinstance(value, Literal) else value)
        return Probe(Aval(aval.shape, aval.dtype, weak))

    def process_primitive(self, primitive: Primitive, operands: Sequence[Any], params: Any) -> Any:
        """Note that the operands' numbers are read, and return probes of the result."""
        for operand in operands:
            if isinstance(operand, Probe):
                operand.consumed = True
        if primitive.prepare is not None:
            operands = primitive.prepare(primitive, operands, params)
        result = primitive.abstract_eval(tuple(map(aval_of, operands)), params)
        return tuple(map(Probe, result)) if primitive.multiple else Probe(result)


class Plan:
    """How an operation on operands of these shapes and dtypes is recorded and run backward.

    - rules: for each operand that needs a gradient its position, rule, shape and dtype.
    - kept: for the result and each operand whether a rule reads its numbers.
    - stand_ins: what takes the place of the result and of operands whose numbers are not read.
    """

    __slots__ = (
        "arity", "kept", "kept_any", "kept_operands", "kept_out", "params", "positions",
        "primitive", "rules", "stand_ins",
    )  # fmt: skip

    def __init__(
        self,
        primitive: Primitive,
        params: dict[str, Any],
        operands: Sequence[Any],
        out: Any,
        positions: Sequence[int],
    ) -> None:
        self.primitive = primitive
        self.params = params
        self.arity = len(operands)
        avals = [aval_of(operand) for operand in operands]
        found = [(place, rule_of(primitive, place), avals[place]) for place in positions]
        self.rules = tuple(
            (place, rule, aval.shape, _canonical(aval.dtype))
            for place, rule, aval in found
            if rule is not ZERO
        )
        self.positions = tuple(place for place, _, _, _ in self.rules)
        out_avals = [aval_of(part) for part in out] if primitive.multiple else aval_of(out)
        self.kept = self._read(avals, out_avals)
        self.kept_out = self.kept[0]
        self.kept_any = any(self.kept)
        self.kept_operands = tuple(p for p in range(self.arity) if self.kept[1 + p])
        out_stand_in: Any
        if isinstance(out_avals, list):
            out_stand_in = tuple(map(StandIn, out_avals))
        else:
            out_stand_in = StandIn(out_avals)
        self.stand_ins = (out_stand_in, *map(StandIn, avals))

    def _read(self, avals: Sequence[Aval], out: Any) -> tuple[bool, ...]:
        read = [False] * (1 + self.arity)
        for _, rule, _, _ in self.rules:
            if rule is NOT_DIFFERENTIABLE:
                continue
            probes = list(map(Probe, avals))
            if isinstance(out, list):
                out_probes = [Probe(_strong(aval)) for aval in out]
                cotangent: Any = tuple(Probe(_strong(aval)) for aval in out)
                result: Any = tuple(out_probes)
            else:
                cotangent, result = Probe(_strong(out)), Probe(_strong(out))
                out_probes = [result]
            try:
                rule(cotangent, result, *probes, **self.params)
            except Exception:
                # A rule that looks at numbers cannot be probed; it gets them all.
                return (True,) * (1 + self.arity)
            read[0] = read[0] or any(probe.consumed for probe in out_probes)
            for place, probe in enumerate(probes):
                read[1 + place] = read[1 + place] or probe.consumed
        return tuple(read)


def _canonical(dtype: np.dtype) -> np.dtype:
    """Return the very object that new arrays of a dtype have, so that `is` finds most equal."""
    return np.dtype(dtype.char)


def _strong(aval: Aval) -> Aval:
    return Aval(aval.shape, aval.dtype)


def rule_of(primitive: Primitive, position: int) -> Any:
    """Return the vjp rule of one operand: a callable, ZERO or NOT_DIFFERENTIABLE."""
    vjps = primitive.vjps
    if isinstance(vjps, tuple):
        rule: Any = vjps[position]
    else:
        rule = _Variadic(vjps, position)
    return rule


class _Variadic:
    """One operand's share of the rule of an operation with any number of operands."""

    def __init__(self, rule: Callable[..., Any], position: int) -> None:
        self._rule = rule
        self._position = position

    def __call__(self, *arguments: Any, **params: Any) -> Any:
        return self._rule(self._position, *arguments, **params)


def underivable(primitive: Primitive, position: int) -> DerivativeError:
    """Return the error for an operand that an operation cannot be differentiated in."""
    return DerivativeError(
        f"{primitive.name} has no derivative with respect to operand {position}; call detach() on "
        "it if none is meant"
    )


_ndarray = np.ndarray
_PLANS: dict[Any, Plan] = {}
_MANY_PLANS = 8192


def plan_of(
    primitive: Primitive,
    params: dict[str, Any],
    operands: Sequence[Any],
    out: Any,
    positions: tuple[int, ...],
) -> Plan:
    """Return the plan for these operands, which are plain arrays and numbers; made once."""
    key: tuple[Any, ...]
    if len(operands) == 2 and not params:
        x, y = operands
        key = (
            primitive,
            positions,
            (x.shape, x.dtype) if type(x) is _ndarray else type(x),
            (y.shape, y.dtype) if type(y) is _ndarray else type(y),
        )
    else:
        parts = [(x.shape, x.dtype) if type(x) is _ndarray else type(x) for x in operands]
        key = (primitive, positions, tuple(sorted(params.items())) if params else None, *parts)
    plan = _PLANS.get(key)
    if plan is None:
        if len(_PLANS) >= _MANY_PLANS:
            _PLANS.clear()
        plan = _PLANS[key] = Plan(primitive, params, operands, out, positions)
    return plan
