"""What scalar operations cost, roughly: enough to decide what is worth a thread or an array."""

import functools
import re

from stagrad.ir.kernel import Kernel, Load, Reduce, Scalar, Store
from stagrad.ir.primitive import Primitive, params_key

CHEAP_CALLS = re.compile(
    "fabs|creal|cimag|conj|CMPLX|isnan|isinf|isfinite|signbit|fmax|fmin|copysign|cast|sqrt|floor|"
    "ceil|trunc|rint"
)
SIMPLE = 0.1
DIVISION = 0.5
CALL = 1.5
NANOSECONDS_PER_BYTE = 0.05
"""Reading or writing memory that no cache holds."""


def scalar_cost(item: Scalar) -> float:
    """Return about how many nanoseconds an operation takes for one element."""
    kind = item.operands[0].dtype.kind if item.operands else item.dtype.kind
    return _cost(item.primitive, kind, params_key(item.params))


@functools.lru_cache(maxsize=1024)
def _cost(primitive: Primitive, kind: str, params: tuple[tuple[str, object], ...]) -> float:
    text = primitive.c_template(kind, dict(params)) or ""
    calls = [name for name in re.findall(r"(\w+)\(", text) if not CHEAP_CALLS.fullmatch(name)]
    operators = len(re.findall(r"[-+*<>=?&|]+", text))
    return SIMPLE * max(operators, 1) + DIVISION * text.count("/") + CALL * len(calls)


def kernel_cost(kernel: Kernel) -> float:
    """Return about how many nanoseconds one point of a kernel takes on one thread."""
    cost = 0.0
    axes = len([extent for extent in kernel.space if extent != 1])
    for item in kernel.statements:
        if isinstance(item, Load | Store):
            moving = len([entry for entry in item.index if not isinstance(entry, int)])
            if moving == axes or moving == len(kernel.space):
                cost += NANOSECONDS_PER_BYTE * item.buffer.aval.dtype.itemsize
        elif isinstance(item, Scalar):
            cost += scalar_cost(item)
        elif isinstance(item, Reduce):
            cost += SIMPLE
    return cost
