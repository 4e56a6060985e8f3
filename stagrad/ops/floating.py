"""Signs, steps and neighbours of floating-point numbers, and the value whose derivative stops."""

from stagrad.ir import ZERO, facts
from stagrad.ops.arithmetic import masked_multiply
from stagrad.ops.complex import sign
from stagrad.ops.define import Operation, elementwise
from stagrad.ops.selection import select

copysign: Operation

fabs_p, fabs = elementwise(
    "fabs",
    facts=facts.magnitude,
    dtypes="f",
    c="fabs({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, sign(x)),),
    doc="The distance of a real number from zero, as a float.",
)

copysign_p, copysign = elementwise(
    "copysign",
    facts=facts.regular,
    dtypes="f",
    c="copysign({0}, {1})",
    vjps=(lambda ct, out, x, y: masked_multiply(ct, sign(x) * copysign(1, y)), ZERO),
    doc="The first number with the sign of the second; its slope at zero is zero.",
)

heaviside_p, heaviside = elementwise(
    "heaviside",
    facts=facts.regular,
    dtypes="f",
    c="({0} != {0} ? {0} : {0} == 0 ? {1} : {0} > 0)",
    vjps=(ZERO, lambda ct, out, x, at_zero: select(x == 0, ct, 0)),
    doc="0 left of zero, 1 right of it, the second number at zero.",
)

nextafter_p, nextafter = elementwise(
    "nextafter",
    dtypes="f",
    c="nextafter({0}, {1})",
    vjps=(lambda ct, out, x, y: ct, ZERO),
    doc="The next representable number towards another.",
)

spacing_p, spacing = elementwise(
    "spacing",
    dtypes="f",
    c=None,
    vjps=(ZERO,),
    doc="Distance to the next representable number away from zero.",
)

stop_gradient_p, stop_gradient = elementwise(
    "stop_gradient",
    facts=facts.one_of,
    is_ufunc=False,
    py="xp.copy({0})",
    c="{0}",
    vjps=(ZERO,),
    doc="The value itself, regarded as a constant by differentiation.",
)
