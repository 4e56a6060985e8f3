"""`stagrad.profile`: how long each kernel of a compiled function takes."""

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from stagrad.api.function import CompiledFunction
from stagrad.api.lowering import c_name
from stagrad.api.transforms import compile
from stagrad.codegen import emit_c, timed_steps
from stagrad.errors import UnsupportedError
from stagrad.ir.kernel_info import KernelInfo, kernel_info
from stagrad.passes import lower, unknown_dtype
from stagrad.runtime.native import find_compiler, load_native
from stagrad.trace import captured_values

CALLS = 20
"""Calls that a profile is taken over, at most; fewer where they are long."""

SECONDS = 1.0
"""How long a profile takes, about."""


@dataclass(frozen=True, slots=True)
class KernelTime:
    """One step of a program: what it does, and the median of the seconds it took."""

    info: KernelInfo
    seconds: float

    @property
    def bandwidth(self) -> float:
        """Bytes read and written per second."""
        return (self.info.bytes_read + self.info.bytes_written) / max(self.seconds, 1e-9)

    @property
    def flops(self) -> float:
        """Floating-point operations per second; 0 where the operation does not say."""
        return (self.info.flops or 0) / max(self.seconds, 1e-9)


@dataclass(frozen=True, slots=True)
class Profile:
    """Where the time of one call goes; prints as a table.

    - kernels: the steps, in order.
    - seconds: their sum, the median over the calls of a whole program.
    - copy_bandwidth: bytes read and written per second by copying a large array on this machine.
    - product_rate: floating-point operations per second of a product of large float32 matrices.
    """

    kernels: tuple[KernelTime, ...]
    seconds: float
    copy_bandwidth: float
    product_rate: float

    def __str__(self) -> str:
        rows = [f"{'step':<22} {'time':>10} {'share':>6} {'of copy':>8} {'of gemm':>8}  from"]
        total = max(sum(item.seconds for item in self.kernels), 1e-12)
        for item in self.kernels:
            copy = f"{item.bandwidth / self.copy_bandwidth:.0%}"
            gemm = f"{item.flops / self.product_rate:.0%}"
            lines = ", ".join(
                f"{line.file.rpartition('/')[2]}:{line.line}" for line in item.info.lines
            )
            name = f"{item.info.name} {'x'.join(map(str, item.info.space))}"
            rows.append(
                f"{name:<22} {item.seconds * 1e6:>7.1f} us {item.seconds / total:>6.0%} "
                f"{copy:>8} {gemm:>8}  {lines}"
            )
        rows.append(f"{'whole call':<22} {self.seconds * 1e6:>7.1f} us")
        return "\n".join(rows)


def profile(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Profile:
    """Run a compiled function and return how long each of its kernels takes.

    `function` is what `stagrad.compile`, `grad` or their kin returned, or a plain function, which
    is compiled; the arguments are those of a call. The program is timed as C code, on as many
    threads as its calls use. Each step is given beside what this machine does at best: the rate of
    copying memory, and that of a large product of matrices. Raises UnsupportedError without a C
    compiler, and for dtypes that C lacks.

    >>> import numpy as np, stagrad
    >>> result = stagrad.profile(lambda x: np.sum(np.sin(x) * x), np.ones(1000))
    >>> [item.info.operations for item in result.kernels][0]
    ('sin', 'multiply', 'sum')
    """
    compiled = function if isinstance(function, CompiledFunction) else compile(function)
    assert isinstance(compiled, CompiledFunction)
    program, signature = compiled.program(args, kwargs)
    dtype = unknown_dtype(program.graph)
    if dtype is not None or find_compiler() is None:
        missing = f"C has no dtype {dtype}" if dtype is not None else "no C compiler was found"
        raise UnsupportedError(f"profile times programs in C, and {missing}")
    schedule = lower(program.graph, native=True).schedule
    steps = timed_steps(schedule)
    run = load_native(emit_c(schedule, c_name(compiled.label), timed=True))
    arrays = [*signature.arrays, *captured_values(program.captures)]
    moments = [run(*arrays)[-1]]
    begin = time.perf_counter()
    while len(moments) < CALLS and time.perf_counter() - begin < SECONDS:
        moments.append(run(*arrays)[-1])
    spans = np.median(np.diff(np.array(moments[1:] or moments)), axis=0)
    times = tuple(
        KernelTime(kernel_info(step), float(span)) for step, span in zip(steps, spans, strict=True)
    )
    whole = float(np.median([moment[-1] - moment[0] for moment in moments[1:] or moments]))
    return Profile(times, whole, copy_bandwidth(), product_rate())


def _fastest(work: Callable[[], object]) -> float:
    """Return the shortest time of a few runs."""
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


@functools.cache
def copy_bandwidth() -> float:
    """Return the bytes read and written per second by copying an array that no cache holds."""
    source = np.ones(1 << 24)
    target = np.empty_like(source)
    return 2 * source.nbytes / _fastest(lambda: np.copyto(target, source))


@functools.cache
def product_rate() -> float:
    """Return the floating-point operations per second of a large float32 product."""
    matrix = np.ones((1024, 1024), np.float32)
    return 2 * 1024**3 / _fastest(lambda: matrix @ matrix)
