"""Hand-written programs, as the printer would hand them over."""

from typing import Any

import numpy as np

from stagrad.ir import Aval
from stagrad.ir.native import NativeProgram

F64 = np.dtype(np.float64)
HEAD = (
    "(const sg_runtime *rt, char *const *arrays, char *workspace, const int64_t *n,"
    " const double *c)"
)


def program(body: str, inputs: list[Aval], outputs: list[Aval], **fields: Any) -> NativeProgram:
    """Return a program whose function has the given body; `before` stands above it."""
    before = fields.pop("before", "")
    name = fields.pop("name", "body")
    values: dict[str, Any] = {
        "constants": (),
        "sizes": (),
        "numbers": (),
        "workspace": 0,
        "symbols": (),
        "callbacks": (),
        "long": False,
    }
    return NativeProgram(
        name=name,
        text=f'#include "stagrad.h"\n{before}\nint {name}{HEAD} {{\n{body}\n    return 0;\n}}\n',
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        **(values | fields),
    )


def doubling(size: int, **fields: Any) -> NativeProgram:
    """Return the program of `2 * x` and the sum of squares, for a vector."""
    body = """
    const double *x = (const double *)arrays[0];
    double total = 0;
    for (int64_t i = 0; i < n[0]; i++) {
        ((double *)arrays[2])[i] = 2 * x[i];
        total += x[i] * x[i];
    }
    *(double *)arrays[1] = total;"""
    avals = [Aval((size,), F64)]
    return program(body, avals, [Aval((), F64), *avals], sizes=(size,), **fields)


def copying(aval: Aval) -> NativeProgram:
    """Return the program that copies its only input."""
    return program(
        "    memcpy(arrays[1], arrays[0], n[0]);",
        [aval],
        [Aval(aval.shape, aval.dtype)],
        sizes=(aval.nbytes,),
    )


def chunked_sum(chunks: int, length: int) -> NativeProgram:
    """Return the parallel program that sums a vector chunk by chunk."""
    before = """
struct sums { const double *x; double *parts; int64_t length; };
static void add_chunk(void *closure, int64_t index) {
    struct sums *sums = closure;
    const double *x = sums->x + index * sums->length;
    double total = 0;
    for (int64_t i = 0; i < sums->length; i++) total += x[i];
    sums->parts[index] = total;
}"""
    body = """
    struct sums sums = {(const double *)arrays[0], (double *)workspace, n[1]};
    rt->parallel(add_chunk, &sums, n[0]);
    double total = 0;
    for (int64_t i = 0; i < n[0]; i++) total += sums.parts[i];
    *(double *)arrays[1] = total;"""
    return program(
        body,
        [Aval((chunks * length,), F64)],
        [Aval((), F64)],
        before=before,
        sizes=(chunks, length),
        workspace=8 * chunks,
        long=True,
    )
