"""`stagrad.special`: the special functions, under PyTorch's names for SciPy's."""

from collections.abc import Callable
from typing import Any

from stagrad.eager.functions.pointwise import TABLE, camel, logit, round, sinc
from stagrad.eager.functions.reductions import log_softmax, logsumexp, softmax
from stagrad.eager.functions.registry import function
from stagrad.ir import aval_of
from stagrad.ops.convert import cast
from stagrad.ops.define import SCIPY, UFUNCS

_UNARY = {
    "bessel_j0": "j0", "bessel_j1": "j1", "bessel_y0": "y0", "bessel_y1": "y1", "entr": "entr",
    "erfcx": "erfcx", "i0e": "i0e", "i1": "i1", "i1e": "i1e", "log_ndtr": "log_ndtr",
    "ndtr": "ndtr", "ndtri": "ndtri",
}  # fmt: skip
_BINARY = {"gammainc": "gammainc", "gammaincc": "gammaincc", "xlog1py": "xlog1py"}


def _of_ufunc(name: str, ufunc: str) -> Callable[..., Any]:
    implementation = UFUNCS[ufunc]

    def body(input: Any, *other: Any) -> Any:
        return implementation(input, *other)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = f"Return `scipy.special.{ufunc}` of the elements."
    return function(camel(f"special_{name}"), method=False, module=False)(body)


_OWN = {name: _of_ufunc(name, ufunc) for name, ufunc in (_UNARY | _BINARY).items()}
_SHARED = {
    "digamma": "digamma", "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "exp2": "exp2",
    "expit": "sigmoid", "expm1": "expm1", "gammaln": "lgamma", "i0": "i0", "log1p": "log1p",
    "psi": "digamma", "xlogy": "xlogy",
}  # fmt: skip


@function("PolygammaBackward0", method=False)
def polygamma(n: int, input: Any) -> Any:
    """Return the n-th derivative of the digamma function."""
    found = SCIPY["scipy.special.polygamma"](n, input)
    return cast(found, aval_of(input).dtype, copy=False)


@function("MvlgammaBackward0")
def mvlgamma(input: Any, p: int) -> Any:
    """Return the logarithm of the multivariate gamma function of dimension p."""
    return SCIPY["scipy.special.multigammaln"](input, p)


@function("ZetaBackward0", method=False, module=False)
def zeta(input: Any, other: Any) -> Any:
    """Return the Hurwitz zeta function."""
    return SCIPY["scipy.special.zeta"](input, other)


NAMES = {
    **_OWN,
    **{name: TABLE[known] for name, known in _SHARED.items()},
    **{
        f.__name__: f
        for f in (log_softmax, logit, logsumexp, polygamma, round, sinc, softmax, zeta)
    },
    "multigammaln": mvlgamma,
}
"""All functions of `stagrad.special`."""

globals().update(NAMES)
