"""Rows of scipy.special."""

from typing import Any

import numpy as np
from scipy import special

from stagrad.ops.exponential import softplus
from stagrad.ops.selection import relu
from tests.op_cases.case import Case
from tests.op_cases.points import (
    BINARY_EDGES,
    EMPTY,
    INF,
    SCALAR,
    SPECIAL,
    UNARY_EDGES,
    between,
    complex_between,
)


def unary(name: str, low: float, high: float, **claims: Any) -> Case:
    """Return the row of a ufunc of one operand, smooth between two numbers."""
    claims = {
        "covers": (name,),
        "edges": UNARY_EDGES,
        "dtypes": ("float32",),
        "rtol": 0.0,
        **claims,
    }
    function = getattr(special, name)
    return Case(name=name, function=function, operands=(between(name, low, high),), **claims)


def holomorphic(name: str, **claims: Any) -> Case:
    """Return the row of a ufunc on complex numbers."""
    operand = complex_between(name, 0.3, 0.8)
    function = getattr(special, name)
    claims = {"dtypes": ("complex64",), "rtol": 0.0, **claims}
    return Case(name=f"{name} complex", function=function, operands=(operand,), **claims)


def several(name: str, *ranges: tuple[float, float], **claims: Any) -> Case:
    """Return the row of a ufunc of several operands; the last one broadcasts."""
    operands = [between(f"{name}{place}", *limits) for place, limits in enumerate(ranges)]
    operands[-1] = operands[-1][0]
    edges = BINARY_EDGES if len(ranges) == 2 else ()
    claims = {"covers": (name,), "edges": edges, "dtypes": ("float32",), "rtol": 0.0, **claims}
    return Case(name=name, function=getattr(special, name), operands=tuple(operands), **claims)


def of_order(name: str, *orders: float, **claims: Any) -> list[Case]:
    """Return rows of a ufunc of an order, which is not differentiated, and an argument."""
    return [
        Case(
            name=f"{name} of order {order}",
            function=lambda x, order=order: getattr(special, name)(order, x),
            operands=(between(f"{name}{order}", 0.5, 3.0),),
            covers=(name,),
            edges=((EMPTY,), (SCALAR,)),
            dtypes=("float32",),
            **{"rtol": 0.0, **claims},
        )
        for order in orders
    ]


ERROR = [
    unary("erf", -2, 2, dtypes=("float32", "float16", "int64")),
    unary("erfc", -2, 2),
    unary("erfcx", -1, 2),
    unary("erfi", -1, 1),
    unary("dawsn", -2, 2),
    unary("wofz", -1, 1),
    unary("erfinv", -0.9, 0.9),
    unary("erfcinv", 0.2, 1.8),
    unary("ndtr", -2, 2),
    unary("ndtri", 0.1, 0.9),
    unary("log_ndtr", -5, 2),
    unary("ndtri_exp", -3, -0.2),
    *map(holomorphic, ("erf", "erfc", "erfcx", "erfi", "dawsn", "wofz", "ndtr", "log_ndtr")),
]

LOGISTIC = [
    unary("expit", -4, 4, covers=(), rtol=1e-13, dtypes=("float32", "float16", "int64"),
          edges=((SPECIAL,), (np.array([-700.0, -36.0, 36.0]),), (EMPTY,), (SCALAR,))),
    unary("logit", 0.1, 0.9),
    unary("log_expit", -4, 4),
    Case(name="softplus", function=softplus, operands=(between("softplus", -4, 4),),
         covers=("softplus",), edges=((SPECIAL,),
                 (np.array([-800.0, 800.0]),)), dtypes=("float32",)),
    Case(name="relu", function=relu, operands=(between("relu", -4, 4),), covers=("relu",),
         edges=((SPECIAL,),), dtypes=("float32", "int64")),
    unary("exp10", -2, 2),
    unary("cosm1", -2, 2),
    several("powm1", (0.5, 2), (-2, 2)),
]  # fmt: skip

ENTROPY = [
    several("xlogy", (0.5, 2), (0.5, 2)),
    several("xlog1py", (0.5, 2), (0.5, 2)),
    unary("entr", 0.5, 2),
    several("rel_entr", (0.5, 2), (0.5, 2)),
    several("kl_div", (0.5, 2), (0.5, 2)),
    several("huber", (0.5, 1), (1.2, 3)),
    Case(name="huber inside", function=special.huber, rtol=0.0,
         operands=(np.array([2.0, 3.0]), np.array([-1.0, 0.5]))),
    several("pseudo_huber", (0.5, 1), (-2, 2), edges=()),
]  # fmt: skip

GAMMA = [
    unary("gammaln", 0.5, 4, dtypes=("float32", "int64")),
    unary("loggamma", 0.5, 4),
    unary("gamma", 0.5, 4),
    unary("rgamma", 0.5, 4),
    unary("gammasgn", 0.5, 4, order=1),
    unary("psi", 0.5, 4, covers=("psi", "zeta")),
    holomorphic("loggamma", order=1),
    holomorphic("gamma", order=1),
    several("beta", (0.5, 2), (0.5, 2), edges=()),
    several("betaln", (0.5, 2), (0.5, 2), edges=()),
    several("gammainc", (0.5, 2), (0.5, 2), wrt=(1,)),
    several("gammaincc", (0.5, 2), (0.5, 2), wrt=(1,)),
    several("betainc", (0.5, 2), (0.5, 2), (0.2, 0.8), wrt=(2,)),
    several("betaincc", (0.5, 2), (0.5, 2), (0.2, 0.8), wrt=(2,)),
    *(
        Case(
            name=f"polygamma of order {n}",
            function=lambda x, n=n: special.polygamma(n, x),
            operands=(between(f"polygamma{n}", 0.5, 3),),
        )
        for n in (0, 1, 2, 4)
    ),
    Case(name="polygamma of orders in an array",
         function=lambda x: special.polygamma(np.arange(3), x),
         operands=(between("polygamma", 0.5, 3),)),
    Case(name="multigammaln", function=lambda a: special.multigammaln(a, 3),
         operands=(between("multigammaln", 1.5, 3),)),
    Case(name="zeta", function=lambda q: special.zeta(3, q), operands=(between("zeta", 0.5, 3),),
         covers=("zeta",), dtypes=("float32",), rtol=0.0),
    Case(name="zeta of Riemann", function=special.zeta, operands=(between("riemann", 1.5, 3),),
         order=0),
]  # fmt: skip

DISTRIBUTIONS = [
    several("stdtr", (1.5, 5), (-2, 2), wrt=(1,)),
    several("stdtrit", (1.5, 5), (0.2, 0.8), wrt=(1,), edges=()),
    several("pdtr", (2.2, 4.8), (0.5, 3), edges=()),
    several("pdtrc", (2.2, 4.8), (0.5, 3), edges=()),
    several("chdtr", (1.5, 5), (0.5, 3), wrt=(1,)),
    several("chdtrc", (1.5, 5), (0.5, 3), wrt=(1,)),
    several("gdtr", (0.5, 2), (1.5, 3), (0.5, 2), wrt=(0, 2)),
    several("gdtrc", (0.5, 2), (1.5, 3), (0.5, 2), wrt=(0, 2)),
    several("fdtr", (1.5, 5), (1.5, 5), (0.5, 2), wrt=(2,)),
    several("fdtrc", (1.5, 5), (1.5, 5), (0.5, 2), wrt=(2,)),
    Case(name="bdtr", function=lambda p: special.bdtr(2.5, 5, p), covers=("bdtr",), rtol=0.0,
         operands=(between("bdtr", 0.2, 0.8),), tags=frozenset({"float64 only"})),
    Case(name="bdtrc", function=lambda p: special.bdtrc(2.5, 5, p), covers=("bdtrc",), rtol=0.0,
         operands=(between("bdtrc", 0.2, 0.8),), tags=frozenset({"float64 only"})),
    several("chdtri", (1.5, 5), (0.2, 0.8), wrt=(1,), edges=()),
    several("gammaincinv", (1.5, 3), (0.2, 0.8), wrt=(1,), edges=()),
    several("gammainccinv", (1.5, 3), (0.2, 0.8), wrt=(1,), edges=()),
    several("betaincinv", (1.5, 3), (1.5, 3), (0.2, 0.8), wrt=(2,)),
    several("binom", (3, 5), (0.5, 2), edges=()),
    several("poch", (3, 5), (0.5, 2), edges=()),
    Case(name="comb", function=lambda n, k: special.comb(n, k),
         operands=(between("comb", 3, 5), np.array([0.5, 1.5, -1.0])), wrt=(0,)),
    Case(name="comb with repetition", function=lambda n: special.comb(n, 2, repetition=True),
         operands=(between("comb", 3, 5),), rtol=1e-12),
    Case(name="factorial", function=lambda n: special.factorial(n), dtypes=("int64",),
         operands=(between("factorial", 0.5, 5),), edges=((np.array([-1.5, 3.0]),),)),
]  # fmt: skip

HYPERGEOMETRIC = [
    Case(name="exprel", function=special.exprel, covers=("exprel",), rtol=0.0, dtypes=("float32",),
         operands=(np.array([0.0, 1e-9, -0.01, 0.9, -1.1, 3.0, 5.0]),), edges=UNARY_EDGES),
    several("boxcox", (0.5, 2), (-1, 2)),
    Case(name="boxcox at exponent zero", function=special.boxcox, rtol=0.0,
         operands=(between("boxcox", 0.5, 2), np.zeros(3))),
    several("boxcox1p", (0.5, 2), (-1, 2)),
    several("hyp0f1", (0.5, 2), (-1, 1), wrt=(1,), edges=()),
    several("hyp1f1", (0.5, 2), (0.5, 2), (-1, 1), wrt=(2,)),
    Case(name="hyp2f1", function=lambda z: special.hyp2f1(0.5, 1.5, 2.5, z), covers=("hyp2f1",),
         operands=(between("hyp2f1", -0.8, 0.8),), dtypes=("float32",)),
    Case(name="lambertw", function=lambda x: special.lambertw(x).real, covers=("lambertw",),
         operands=(between("lambertw", 0.5, 3),)),
    Case(name="lambertw of another branch", function=lambda z: special.lambertw(z, 2),
         operands=(complex_between("lambertw", 0.5, 3),)),
]  # fmt: skip

BESSEL = [
    *(
        unary(name, 0.5, 3)
        for name in ("j0", "j1", "y0", "y1", "i0", "i0e", "i1", "i1e", "k0", "k0e", "k1", "k1e")
    ),
    *of_order("jv", 0, 1, 2.5),
    *of_order("yv", 0, 1, 2.5),
    *of_order("iv", 0, 1, 2.5),
    *of_order("ive", 0, 1, 2.5),
    *of_order("kv", 0, 1, 2.5),
    *of_order("kve", 0, 1, 2.5),
    *of_order("yn", 0, 1, 2),
    *of_order("kn", 0, 1, 2),
    *of_order("expn", 2, 3),
    unary("expi", 0.5, 3),
    unary("exp1", 0.5, 3),
    Case(name="jv complex", function=lambda z: special.jv(1.5, z),
         operands=(complex_between("jv", 0.5, 2),), rtol=0.0),
    Case(name="np.i0", function=np.i0, operands=(between("np.i0", -3, 3),), dtypes=("int64",)),
]  # fmt: skip

MATRIX = between("logsumexp", -3.0, 3.0, (3, 4))
WEIGHTS = np.array([[1.0, 2.0, 0.0, 0.5]])
INFINITE = np.array([[-INF, -INF, -INF], [-INF, 1.0, 2.0], [1000.0, 1000.0, -1000.0]])


def normalizer(name: str, function: Any, *operands: Any, **claims: Any) -> Case:
    """Return the row of a composition of sums of exponentials."""
    return Case(name=name, function=function, operands=operands or (MATRIX,), **claims)


NORMALIZERS = [
    normalizer("logsumexp", special.logsumexp, covers=("level_difference",),
               edges=((INFINITE,), (SCALAR,)), dtypes=("float32", "int64")),
    normalizer("logsumexp over an axis", lambda x: special.logsumexp(x, axis=1),
               edges=((INFINITE,),)),
    normalizer("logsumexp keeping axes",
               lambda x: special.logsumexp(x, axis=(0, -1), keepdims=True)),
    normalizer("logsumexp of nothing", lambda x: special.logsumexp(x, axis=0), np.zeros((0, 3)),
               order=0),
    normalizer("logsumexp with weights", lambda x, b: special.logsumexp(x, axis=-1, b=b), MATRIX,
               WEIGHTS + 1),
    normalizer("logsumexp with zero weights", lambda x: special.logsumexp(x, b=np.array(WEIGHTS)),
               edges=((np.array([[1.0, -INF, INF, 2.0]]),),)),
    normalizer("logsumexp with signs",
               lambda x: special.logsumexp(x, 0, b=np.array([[-1.0], [1.0], [-2.0]]),
               return_sign=True)),
    normalizer("logsumexp complex", special.logsumexp, complex_between("logsumexp", -1, 1)),
    normalizer("softmax", special.softmax, dtypes=("float32", "int64"), edges=((INFINITE,),)),
    normalizer("softmax over an axis", lambda x: special.softmax(x, axis=0), edges=((INFINITE,),)),
    normalizer("log_softmax", special.log_softmax, dtypes=("float32",), edges=((INFINITE,),)),
    normalizer("log_softmax over an axis", lambda x: special.log_softmax(x, axis=-1),
               edges=((INFINITE,),)),
]  # fmt: skip

CASES = [
    *ERROR,
    *LOGISTIC,
    *ENTROPY,
    *GAMMA,
    *DISTRIBUTIONS,
    *HYPERGEOMETRIC,
    *BESSEL,
    *NORMALIZERS,
]
