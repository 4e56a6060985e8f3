"""How one case ended, and how a check is turned into that."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy


@dataclass(frozen=True)
class Outcome:
    """One case of a suite."""

    name: str
    reason: str  # why it failed; empty where it passed
    seconds: float

    @property
    def passed(self) -> bool:
        return not self.reason


def attempt(name: str, check: Callable[..., Any], *arguments: Any) -> Outcome:
    """Run a check that raises where something is wrong.

    Warnings are the programs' own, about numbers they chose and calls they are used to.
    """
    started = time.perf_counter()
    reason = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            check(*arguments)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
    return Outcome(name, reason, time.perf_counter() - started)


def expect_close(what: str, got: Any, want: Any, tolerance: float) -> None:
    """Raise AssertionError unless the arrays agree relative to the largest number expected."""
    got, want = numpy.asarray(got), numpy.asarray(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    scale = max(1.0, numpy.max(numpy.abs(want), initial=0.0))
    error = numpy.max(numpy.abs(got - want), initial=0.0) / scale
    assert error <= tolerance, f"{what}: error {error:.1e}"
