"""Error functions, the normal distribution, logistic functions and entropies of scipy.special."""

import math
from typing import Any

from stagrad.ir import NOT_DIFFERENTIABLE, aval_of, facts
from stagrad.ops.arithmetic import masked_divide, masked_multiply
from stagrad.ops.define import FLOATS, UFUNCS, Operation, elementwise, find_ufunc
from stagrad.ops.exponential import LOG_10, exp, expit, log, log1p
from stagrad.ops.floating import fabs
from stagrad.ops.movement import astype
from stagrad.ops.power import power, square
from stagrad.ops.promote import loop_types, ufunc_loop
from stagrad.ops.selection import maximum, select
from stagrad.ops.trigonometric import sin

expn: Operation

ROOT_PI = math.sqrt(math.pi)
ROOT_2_PI = math.sqrt(2 * math.pi)

erf_p, erf = elementwise(
    "erf",
    facts=facts.regular,
    dtypes=FLOATS,
    c={"f": "erf({0})"},
    vjps=(lambda ct, out, x: masked_multiply(ct, 2 / ROOT_PI * exp(-square(x))),),
    doc="Error function.",
)

erfc_p, erfc = elementwise(
    "erfc",
    facts=facts.regular_nonnegative,
    dtypes=FLOATS,
    c={"f": "erfc({0})"},
    vjps=(lambda ct, out, x: masked_multiply(ct, -2 / ROOT_PI * exp(-square(x))),),
    doc="One minus the error function.",
)

erfcx_p, erfcx = elementwise(
    "erfcx",
    dtypes=FLOATS,
    c={"f": "sg_erfcx({0})"},
    vjps=(lambda ct, out, x: masked_multiply(ct, 2 * x * out - 2 / ROOT_PI),),
    doc="exp(x**2) * erfc(x).",
)

erfi_p, erfi = elementwise(
    "erfi",
    dtypes=FLOATS,
    c=None,
    vjps=(lambda ct, out, x: masked_multiply(ct, 2 / ROOT_PI * exp(square(x))),),
    doc="Imaginary error function, -i erf(i x).",
)

dawsn_p, dawsn = elementwise(
    "dawsn",
    facts=facts.regular,
    dtypes=FLOATS,
    c=None,
    vjps=(lambda ct, out, x: masked_multiply(ct, 1 - 2 * x * out),),
    doc="Dawson's integral.",
)

wofz_p, wofz = elementwise(
    "wofz",
    dtypes=FLOATS,
    c=None,
    vjps=(lambda ct, out, z: masked_multiply(ct, 2j / ROOT_PI - 2 * z * out),),
    doc="Faddeeva function, exp(-z**2) * erfc(-i z).",
)

erfinv_p, erfinv = elementwise(
    "erfinv",
    dtypes="f",
    c="sg_erfinv({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, ROOT_PI / 2 * exp(square(out))),),
    doc="Inverse of the error function; its slope at -1 and 1 is infinite.",
)

erfcinv_p, erfcinv = elementwise(
    "erfcinv",
    dtypes="f",
    c="sg_erfcinv({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, -ROOT_PI / 2 * exp(square(out))),),
    doc="Inverse of one minus the error function.",
)

ndtr_p, ndtr = elementwise(
    "ndtr",
    facts=facts.regular_nonnegative,
    dtypes=FLOATS,
    c={"f": f"SG_LIKE({{0}}, 0.5) * erfc({{0}} * SG_LIKE({{0}}, {-math.sqrt(0.5)!r}))"},
    vjps=(lambda ct, out, x: masked_multiply(ct, exp(-0.5 * square(x)) / ROOT_2_PI),),
    doc="Distribution function of the standard normal.",
)

ndtri_p, ndtri = elementwise(
    "ndtri",
    dtypes="f",
    c="sg_ndtri({0})",
    vjps=(lambda ct, out, p: masked_multiply(ct, ROOT_2_PI * exp(0.5 * square(out))),),
    doc="Quantile of the standard normal.",
)

# Density over distribution function: exp(-x**2/2 - out) would lose every digit far below zero.
log_ndtr_p, log_ndtr = elementwise(
    "log_ndtr",
    dtypes=FLOATS,
    c={"f": "sg_log_ndtr({0})"},
    vjps=(
        lambda ct, out, x: masked_multiply(ct, math.sqrt(2 / math.pi) / erfcx(-math.sqrt(0.5) * x)),
    ),
    doc="Logarithm of the standard normal's distribution function.",
)

ndtri_exp_p, ndtri_exp = elementwise(
    "ndtri_exp",
    dtypes="f",
    c=None,
    vjps=(lambda ct, out, y: masked_multiply(ct, ROOT_2_PI * exp(y + 0.5 * square(out))),),
    doc="Quantile of the standard normal, of the logarithm of a probability.",
)

logit_p, logit = elementwise(
    "logit",
    dtypes="f",
    c="log({0} / (1 - {0}))",
    vjps=(lambda ct, out, p: masked_divide(ct, p * (1 - p)),),
    doc="log(p / (1 - p)).",
)

log_expit_p, log_expit = elementwise(
    "log_expit",
    dtypes="f",
    c="({0} < 0 ? {0} - log1p(exp({0})) : -log1p(exp(-{0})))",
    vjps=(lambda ct, out, x: masked_multiply(ct, expit(-x)),),
    doc="Logarithm of the logistic function.",
)


def _expit(x: Any) -> Any:
    """Apply the logistic function in the dtype that scipy.special.expit computes in."""
    ufunc = find_ufunc("expit")
    assert ufunc is not None
    aval = aval_of(x)
    dtypes, _ = ufunc_loop(ufunc, loop_types([aval]))
    return expit(astype(x, dtypes[0], weak=aval.weak))


UFUNCS["expit"] = _expit

xlogy_p, xlogy = elementwise(
    "xlogy",
    dtypes=FLOATS,
    c={"f": "({0} == 0 && !isnan({1}) ? 0 : {0} * log({1}))"},
    vjps=(
        lambda ct, out, x, y: masked_multiply(ct, log(y)),
        lambda ct, out, x, y: masked_multiply(ct, masked_divide(x, y)),
    ),
    doc="x * log(y), 0 where x is 0.",
)

xlog1py_p, xlog1py = elementwise(
    "xlog1py",
    dtypes=FLOATS,
    c={"f": "({0} == 0 && !isnan({1}) ? 0 : {0} * log1p({1}))"},
    vjps=(
        lambda ct, out, x, y: masked_multiply(ct, log1p(y)),
        lambda ct, out, x, y: masked_multiply(ct, masked_divide(x, 1 + y)),
    ),
    doc="x * log(1 + y), 0 where x is 0.",
)

entr_p, entr = elementwise(
    "entr",
    dtypes="f",
    c="({0} != {0} ? {0} : {0} > 0 ? -{0} * log({0}) : {0} == 0 ? 0 : -INFINITY)",
    vjps=(lambda ct, out, x: masked_multiply(ct, -log(x) - 1),),
    doc="-x * log(x), 0 where x is 0.",
)

_RATIO_DOMAIN = "{0} != {0} || {1} != {1} ? {0} + {1} : {0} > 0 && {1} > 0"

rel_entr_p, rel_entr = elementwise(
    "rel_entr",
    dtypes="f",
    c=f"({_RATIO_DOMAIN} ? "
    "{0} * (isnormal({0} / {1}) ? log({0} / {1}) : log({0}) - log({1})) : "
    "{0} == 0 && {1} >= 0 ? 0 : INFINITY)",
    vjps=(
        lambda ct, out, x, y: masked_multiply(ct, log(x / y) + 1),
        lambda ct, out, x, y: masked_multiply(ct, -masked_divide(x, y)),
    ),
    doc="x * log(x / y), 0 where x is 0.",
)

kl_div_p, kl_div = elementwise(
    "kl_div",
    dtypes="f",
    c=f"({_RATIO_DOMAIN} ? {{0}} * log({{0}} / {{1}}) - {{0}} + {{1}} : "
    "{0} == 0 && {1} >= 0 ? {1} : INFINITY)",
    vjps=(
        lambda ct, out, x, y: masked_multiply(ct, log(x / y)),
        lambda ct, out, x, y: masked_multiply(ct, 1 - masked_divide(x, y)),
    ),
    doc="x * log(x / y) - x + y, y where x is 0.",
)

huber_p, huber = elementwise(
    "huber",
    dtypes="f",
    c="({0} < 0 ? INFINITY : fabs({1}) <= {0} ? 0.5 * {1} * {1} : {0} * (fabs({1}) - 0.5 * {0}))",
    vjps=(
        lambda ct, out, delta, r: masked_multiply(ct, maximum(fabs(r) - delta, 0)),
        lambda ct, out, delta, r: masked_multiply(
            ct, select(fabs(r) > delta, delta * _direction(r), r)
        ),
    ),
    doc="Huber's loss of a residual: square up to a bound, linear beyond.",
)

pseudo_huber_p, pseudo_huber = elementwise(
    "pseudo_huber",
    dtypes="f",
    c="({0} < 0 ? INFINITY : {0} == 0 || {1} == 0 ? 0 : "
    "{0} * {0} * expm1(log1p({1} / {0} * ({1} / {0})) / 2))",
    vjps=(
        lambda ct, out, delta, r: masked_multiply(ct, _pseudo_huber_slope(delta, r)),
        lambda ct, out, delta, r: masked_multiply(ct, r / _stretch(delta, r)),
    ),
    doc="A smooth form of Huber's loss.",
)


def _direction(r: Any) -> Any:
    from stagrad.ops.complex import sign

    return sign(r)


def _stretch(delta: Any, r: Any) -> Any:
    from stagrad.ops.power import hypot

    return hypot(1, r / delta)


def _pseudo_huber_slope(delta: Any, r: Any) -> Any:
    stretch = _stretch(delta, r)
    return 2 * delta * (stretch - 1) - r * (r / delta) / stretch


exp10_p, exp10 = elementwise(
    "exp10",
    dtypes="f",
    c="exp10({0})",
    vjps=(lambda ct, out, x: masked_multiply(ct, LOG_10 * out),),
    doc="Ten to a power.",
)

cosm1_p, cosm1 = elementwise(
    "cosm1",
    dtypes="f",
    c="0 - 2 * sin({0} / 2) * sin({0} / 2)",
    vjps=(lambda ct, out, x: masked_multiply(ct, -sin(x)),),
    doc="cos(x) - 1, exact for small numbers.",
)

powm1_p, powm1 = elementwise(
    "powm1",
    dtypes="f",
    c=None,
    vjps=(
        lambda ct, out, x, y: masked_multiply(ct, y * power(x, y - 1)),
        lambda ct, out, x, y: masked_multiply(ct, power(x, y) * log(x)),
    ),
    doc="x**y - 1, exact near zero.",
)

expi_p, expi = elementwise(
    "expi",
    dtypes=FLOATS,
    c=None,
    vjps=(lambda ct, out, x: masked_multiply(ct, exp(x) / x),),
    doc="Exponential integral Ei.",
)

exp1_p, exp1 = elementwise(
    "exp1",
    dtypes=FLOATS,
    c=None,
    vjps=(lambda ct, out, x: masked_multiply(ct, -exp(-x) / x),),
    doc="Exponential integral E1.",
)

expn_p, expn = elementwise(
    "expn",
    dtypes="iuf",
    c=None,
    vjps=(NOT_DIFFERENTIABLE, lambda ct, out, n, x: masked_multiply(ct, -expn(n - 1, x))),
    doc="Generalised exponential integral of an integer order.",
)
