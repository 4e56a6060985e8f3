"""What one pitfall record holds, how a module of records makes them, and how an answer is judged.

A pitfall is a fault that differentiation frameworks were reported to have. Each record is a small
function with its known value and derivatives; it is written against a NumPy-like module passed as
its first argument, so that one record serves plain NumPy, traced code and eager tensors alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

RECORDS: list["Record"] = []


@dataclass(frozen=True)
class Record:
    """One function with the answers that are right for it."""

    id: str
    name: str
    theme: str
    function: Callable[..., Any]  # function(np, *inputs) -> array or scalar
    inputs: Callable[[], tuple[Any, ...]]  # fresh inputs at each call: runs never share them
    value: Any
    gradients: tuple[Any, ...]  # one per argument in `argnums`, weighted by `cotangent`
    argnums: tuple[int, ...]  # the arguments to differentiate; none: only the value counts
    cotangent: Any = None  # for an output that is not a scalar
    hessian: Any = None  # of the scalar output, with respect to argument 0
    # "fact": forced by mathematics or by NumPy's and IEEE's meaning; "convention": the one of
    # several defensible answers that stagrad gives; "stretch": right, missed by PyTorch and JAX.
    status: str = "fact"
    description: str = ""
    note: str = ""  # the convention, or what other frameworks answer
    rtol: float = 1e-9
    atol: float = 1e-12
    exact: bool = False  # value: dtype, every element and the sign of each zero
    value_dtype: str | None = None

    def __str__(self) -> str:
        return f"{self.id}-{self.name}"


def theme(title: str) -> Callable[..., Callable[[Callable[..., Any]], Callable[..., Any]]]:
    """Return the decorator that registers a function as a record of this theme."""

    def record(id, name, inputs, value, gradients=(), *, argnums=None, **details):
        def register(function):
            numbers = tuple(range(len(gradients))) if argnums is None else tuple(argnums)
            assert len(numbers) == len(gradients), id
            RECORDS.append(
                Record(
                    id, name, title, function, inputs, value, tuple(gradients), numbers, **details
                )
            )
            return function

        return register

    return record


def complaints(
    record: Record, *, value: Any = None, gradients: Any = None, hessian: Any = None
) -> list[str]:
    """Return what is wrong with the parts of an answer that are given, nothing if all are right.

    A gradient has the shape and the (native byte order) dtype of its input. That of a complex input
    is df/dRe + i df/dIm, the direction of steepest ascent.
    """
    found = []
    if value is not None:
        found.append(("value", _value_complaint(record, numpy.asarray(value))))
    if gradients is not None:
        inputs = record.inputs()
        for argnum, got, want in zip(record.argnums, gradients, record.gradients, strict=True):
            complaint = _gradient_complaint(record, numpy.asarray(inputs[argnum]), got, want)
            found.append((f"gradient {argnum}", complaint))
    if hessian is not None:
        found.append(("hessian", _difference(hessian, record.hessian, record)))
    return [f"{part}: {complaint}" for part, complaint in found if complaint]


def _value_complaint(record: Record, got: numpy.ndarray) -> str:
    want = numpy.asarray(record.value)
    dtype = want.dtype if record.exact else numpy.dtype(record.value_dtype or got.dtype)
    if got.dtype != dtype:
        return f"dtype {got.dtype}, expected {dtype}"
    return _inexactness(got, want) if record.exact else _difference(got, want, record)


def _gradient_complaint(record: Record, argument: numpy.ndarray, got: Any, want: Any) -> str:
    if got is None:
        return "None"
    got, dtype = numpy.asarray(got), argument.dtype.newbyteorder("=")
    if got.dtype != dtype:
        return f"dtype {got.dtype}, expected {dtype}"
    return _difference(got, numpy.broadcast_to(want, argument.shape), record)


def _difference(got: Any, want: Any, record: Record) -> str:
    got, want = numpy.asarray(got), numpy.asarray(want)
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    with numpy.errstate(all="ignore"):
        close = numpy.isclose(got, want, rtol=record.rtol, atol=record.atol, equal_nan=True)
    return "" if numpy.all(close) else f"got {got.tolist()}, expected {want.tolist()}"


def _inexactness(got: numpy.ndarray, want: numpy.ndarray) -> str:
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    numbers = f"got {got.tolist()}, expected {want.tolist()}"
    if not numpy.array_equal(got, want, equal_nan=got.dtype.kind in "fc"):
        return numbers
    if got.dtype.kind == "f":
        known = ~numpy.isnan(want)
        if not numpy.array_equal(numpy.signbit(got)[known], numpy.signbit(want)[known]):
            return f"the sign of a zero differs: {numbers}"
    return ""
