"""Bessel functions. No derivative with respect to the order is known in closed form."""

from typing import Any

import numpy as np

from stagrad.ir import NOT_DIFFERENTIABLE, Primitive, aval_of, facts
from stagrad.ops.arithmetic import masked_multiply
from stagrad.ops.complex import sign
from stagrad.ops.define import FLOATS, Operation, elementwise, implements
from stagrad.ops.movement import astype

ive: Operation
kve: Operation
j1: Operation
y1: Operation
i1: Operation
i1e: Operation
k1: Operation
k1e: Operation


def _of_order(name: str, below: float, above: float, doc: str) -> tuple[Primitive, Operation]:
    """Register a function whose slope combines those of one order less and one more."""

    def slope(ct: Any, out: Any, order: Any, z: Any) -> Any:
        return masked_multiply(ct, below * apply(order - 1, z) + above * apply(order + 1, z))

    record, apply = elementwise(
        name, dtypes="iufc", c=None, vjps=(NOT_DIFFERENTIABLE, slope), doc=doc
    )
    return record, apply


jv_p, jv = _of_order("jv", 0.5, -0.5, "Bessel function of the first kind.")
yv_p, yv = _of_order("yv", 0.5, -0.5, "Bessel function of the second kind.")
yn_p, yn = _of_order("yn", 0.5, -0.5, "Bessel function of the second kind, of an integer order.")
iv_p, iv = _of_order("iv", 0.5, 0.5, "Modified Bessel function of the first kind.")
kv_p, kv = _of_order("kv", -0.5, -0.5, "Modified Bessel function of the second kind.")
kn_p, kn = _of_order(
    "kn", -0.5, -0.5, "Modified Bessel function of the second kind, of an integer order."
)

# Scaled by exp(-|Re z|), which no complex derivative goes with: real numbers only.
ive_p, ive = elementwise(
    "ive",
    dtypes="f",
    c=None,
    vjps=(
        NOT_DIFFERENTIABLE,
        lambda ct, out, v, x: masked_multiply(
            ct, 0.5 * (ive(v - 1, x) + ive(v + 1, x)) - sign(x) * out
        ),
    ),
    doc="Modified Bessel function of the first kind times exp(-|x|).",
)

kve_p, kve = elementwise(
    "kve",
    dtypes=FLOATS,
    c=None,
    vjps=(
        NOT_DIFFERENTIABLE,
        lambda ct, out, v, z: masked_multiply(ct, out - 0.5 * (kve(v - 1, z) + kve(v + 1, z))),
    ),
    doc="Modified Bessel function of the second kind times exp(z).",
)

j0_p, j0 = elementwise(
    "j0",
    facts=facts.regular,
    dtypes="f",
    c="(isinf({0}) ? NAN : j0({0}))",
    vjps=(lambda ct, out, x: masked_multiply(ct, -j1(x)),),
    doc="Bessel function of the first kind of order zero.",
)

j1_p, j1 = elementwise(
    "j1",
    facts=facts.regular,
    dtypes="f",
    c="(isinf({0}) ? NAN : j1({0}))",
    vjps=(lambda ct, out, x: masked_multiply(ct, 0.5 * (j0(x) - jv(2, x))),),
    doc="Bessel function of the first kind of order one.",
)

y0_p, y0 = elementwise(
    "y0",
    dtypes="f",
    c="(isinf({0}) ? NAN : y0({0}))",
    vjps=(lambda ct, out, x: masked_multiply(ct, -y1(x)),),
    doc="Bessel function of the second kind of order zero.",
)

y1_p, y1 = elementwise(
    "y1",
    dtypes="f",
    c="(isinf({0}) ? NAN : y1({0}))",
    vjps=(lambda ct, out, x: masked_multiply(ct, 0.5 * (y0(x) - yv(2, x))),),
    doc="Bessel function of the second kind of order one.",
)

i0_p, i0 = elementwise(
    "i0",
    dtypes="f",
    c="sg_i0({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, i1(x)),),
    doc="Modified Bessel function of the first kind of order zero.",
)

i1_p, i1 = elementwise(
    "i1",
    dtypes="f",
    c="sg_i1({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, 0.5 * (i0(x) + iv(2, x))),),
    doc="Modified Bessel function of the first kind of order one.",
)

i0e_p, i0e = elementwise(
    "i0e",
    facts=facts.regular_nonnegative,
    dtypes="f",
    c="sg_i0e({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, i1e(x) - sign(x) * out),),
    doc="i0 times exp(-|x|).",
)

i1e_p, i1e = elementwise(
    "i1e",
    facts=facts.regular,
    dtypes="f",
    c="sg_i1e({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, 0.5 * (i0e(x) + ive(2, x)) - sign(x) * out),),
    doc="i1 times exp(-|x|).",
)

k0_p, k0 = elementwise(
    "k0",
    dtypes="f",
    c="sg_k0({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, -k1(x)),),
    doc="Modified Bessel function of the second kind of order zero.",
)

k1_p, k1 = elementwise(
    "k1",
    dtypes="f",
    c="sg_k1({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, -0.5 * (k0(x) + kv(2, x))),),
    doc="Modified Bessel function of the second kind of order one.",
)

k0e_p, k0e = elementwise(
    "k0e",
    dtypes="f",
    c="sg_k0e({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, out - k1e(x)),),
    doc="k0 times exp(x).",
)

k1e_p, k1e = elementwise(
    "k1e",
    dtypes="f",
    c="sg_k1e({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, out - 0.5 * (k0e(x) + kve(2, x))),),
    doc="k1 times exp(x).",
)


@implements(np.i0)
def numpy_i0(x: Any) -> Any:
    """Return i0 as NumPy does: of integers in double precision."""
    return i0(x if aval_of(x).dtype.kind in FLOATS else astype(x, np.dtype(np.float64)))
