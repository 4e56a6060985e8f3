"""Values without numbers, the operations that are run on them, and these as Python functions."""

import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from stagrad.eager import tape
from stagrad.eager.dtypes import public_dtype
from stagrad.eager.saving import Probe, rule_of
from stagrad.eager.tensor import Tensor
from stagrad.ir import ZERO, Aval, Literal, Primitive, aval_of, bind
from stagrad.ir.primitive import is_shape, module_namespace
from stagrad.ops.operators import Operators

LARGEST_CONSTANT = 4096
"""Elements of the largest array that a program holds on to."""


class NotRecordableError(Exception):
    """The composition does what a recipe cannot repeat."""


class Recorded(Tensor):
    """A value without numbers inside a recipe that is being written.

    - needs: a cotangent of it is of use.
    """

    _program: "Program"
    _known: Aval
    name: str
    needs: bool

    __add__, __radd__ = Operators.__add__, Operators.__radd__
    __sub__, __mul__, __rmul__ = Operators.__sub__, Operators.__mul__, Operators.__rmul__
    __neg__ = Operators.__neg__

    @property
    def aval(self) -> Aval:  # type: ignore[override]
        """Shape and dtype."""
        return self._known

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""
        return self._known.shape

    @property
    def dtype(self) -> Any:
        """Type of the elements."""
        return public_dtype(self._known.dtype)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._known.shape)

    @property  # type: ignore[misc]
    def requires_grad(self) -> bool:
        """True: the composition sees a tensor that is recorded."""
        return True

    @property
    def _array(self) -> Any:  # type: ignore[override]
        raise NotRecordableError("numbers")

    def constant(self) -> "Recorded":
        """Return the same value, through which no cotangent flows."""
        return self._program.value(self.name, self._known, needs=False)

    def process_primitive(
        self, primitive: Any, operands: tuple[Any, ...], params: dict[str, Any]
    ) -> Any:
        """Note down an operation."""
        return self._program.note(primitive, operands, params)


tape.recorded_type = Recorded


class Step:
    """One operation of a program; operands are recorded values, numbers and small arrays."""

    __slots__ = ("operands", "params", "primitive", "result")

    def __init__(self, primitive: Primitive, operands: Any, params: Any, result: Recorded) -> None:
        self.primitive, self.operands, self.params = primitive, operands, params
        self.result = result

    def sources(self) -> list[str]:
        """Return the names of the values that are read."""
        return [operand.name for operand in self.operands if isinstance(operand, Recorded)]


class Program:
    """Operations in order, each result with a name that begins with `stem`."""

    def __init__(self, stem: str) -> None:
        self.stem = stem
        self.steps: list[Step] = []

    def value(self, name: str, aval: Aval, *, needs: bool) -> Recorded:
        """Return a value of this program."""
        value = object.__new__(Recorded)
        value._program, value.name, value.needs = self, name, needs
        value._known = Aval(aval.shape, aval.dtype)
        return value

    def note(self, primitive: Primitive, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        """Add an operation; return its result."""
        if primitive.multiple:
            raise NotRecordableError(primitive.name)
        for operand in operands:
            self._check(operand)
        probes = [Probe(o.aval) if isinstance(o, Recorded) else o for o in operands]
        prepared: Any = probes
        if primitive.prepare is not None:
            prepared = primitive.prepare(primitive, probes, params)
        aval = primitive.abstract_eval(tuple(map(aval_of, prepared)), params)
        needs = aval.dtype.kind in "fc" and any(
            isinstance(operand, Recorded)
            and operand.needs
            and rule_of(primitive, place) is not ZERO
            for place, operand in enumerate(operands)
        )
        result = self.value(f"{self.stem}{len(self.steps)}", aval, needs=needs)
        self.steps.append(Step(primitive, tuple(operands), dict(params), result))
        return result

    def _check(self, operand: Any) -> None:
        if isinstance(operand, Recorded):
            if operand._program is not self:
                raise NotRecordableError("a value of another program")
        elif isinstance(operand, Tensor):
            raise NotRecordableError("a tensor from outside")
        elif isinstance(operand, np.ndarray) and operand.size > LARGEST_CONSTANT:
            raise NotRecordableError("a large array")

    def only(self, wanted: set[str]) -> list[Step]:
        """Return the steps that lead to the wanted values."""
        wanted = set(wanted)
        chosen = []
        for step in reversed(self.steps):
            if step.result.name in wanted:
                chosen.append(step)
                wanted.update(step.sources())
        return chosen[::-1]


class _Numpy(types.SimpleNamespace):
    """NumPy, with short cuts to what its functions end up calling."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def _sum(x: Any, axis: Any, dtype: Any) -> Any:
    return np.add.reduce(x, axis, dtype)


def _broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    if x.ndim:
        return np.broadcast_to(x, shape)
    # One number everywhere: an array of no strides, as NumPy's own takes ten times as long.
    view = np.ndarray(shape, x.dtype, np.asarray(x), 0, (0,) * len(shape))
    view.flags.writeable = False
    return view


_XP = _Numpy(
    **{name: value for name, value in vars(np).items() if isinstance(value, np.ufunc | type)},
    sum=_sum,
    max=lambda x, axis: np.maximum.reduce(x, axis),
    min=lambda x, axis: np.minimum.reduce(x, axis),
    broadcast_to=_broadcast_to,
    reshape=lambda x, shape: x.reshape(shape),
    transpose=lambda x, axes: x.transpose(axes),
)


def written(name: str, inputs: Sequence[str], steps: Sequence[Step], result: str) -> Any:
    """Return steps as a Python function that computes the expression `result`."""
    namespace = module_namespace() | {"xp": _XP}
    lines = [f"def {name}({', '.join(inputs)}):"]
    for number, step in enumerate(steps):
        texts = []
        for place, operand in enumerate(step.operands):
            if isinstance(operand, Recorded):
                texts.append(operand.name)
            else:
                constant = f"c{number}_{place}"
                namespace[constant] = operand.array if isinstance(operand, Literal) else operand
                texts.append(constant)
        params = {key: tuple(p) if is_shape(p) else p for key, p in step.params.items()}
        namespace |= {helper.__name__: helper for helper in step.primitive.helpers}
        text = step.primitive.expression(tuple(texts), params)
        lines.append(f"    {step.result.name} = {text}")
    exec("\n".join([*lines, f"    return {result}"]), namespace)
    return namespace[name]


def run_on(steps: Sequence[Step], values: dict[str, Any]) -> None:
    """Run steps on tensors, adding their results to the values by name."""
    for step in steps:
        name = step.result.name
        if isinstance(values.get(name), Tensor):
            continue
        operands = [values[o.name] if isinstance(o, Recorded) else o for o in step.operands]
        if any(isinstance(operand, Tensor) for operand in operands):
            values[name] = tape.apply(step.primitive, operands, step.params)
        else:
            values[name] = bind(step.primitive, *operands, **step.params)
