"""The workloads: seeded NumPy inputs, and the maths of each in its docstring.

Every workload is a function returning ``Spec(args, wrt, kind, rtol)``:

* ``args``  positional arguments, NumPy arrays (or plain Python numbers, which are constants);
* ``wrt``   positions of the arguments to differentiate;
* ``kind``  what a peer has to return, always as a flat tuple:
    - ``"scalar"``: (f, df/d wrt...)
    - ``"vector"``: (f, d sum(f)/d wrt...), f an array
    - ``"sgd"``:    (f, p - LR * df/dp for p in wrt)
    - ``"hvp"``:    (H(w) v,)        with v the last argument
    - ``"hess"``:   (H(w),)
* ``rtol``  allowed max|a-b| / max|b| against numpy_hand, per output.

The peers hold the framework-specific spelling of ``f`` under the same name.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

LR = 0.01
TOL64, TOL32 = 1e-9, 1e-3


@dataclass
class Spec:
    args: tuple
    wrt: tuple
    kind: str
    rtol: float


REGISTRY: dict = {}


def workload(*names):
    """Register fn under each (name, params) pair."""

    def deco(fn):
        for name, params in names:
            REGISTRY[name] = (fn, params)
        return fn

    return deco


def make(name: str) -> Spec:
    fn, params = REGISTRY[name]
    return fn(np.random.default_rng(1234), **params)


def base(name: str) -> str:
    """The function that a workload name stands for (sizes and dtypes stripped)."""
    return REGISTRY[name][0].__name__


@workload(("rosen_10", dict(n=10)), ("rosen_1000", dict(n=1000)))
def rosen(rng, n):
    """f(x) = sum_i 100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2, float64."""
    return Spec((rng.normal(size=n),), (0,), "scalar", TOL64)


@workload(
    *[(f"chain_{dt}_1e{k}", dict(n=10**k, dt=dt)) for dt in ("f64", "f32") for k in (3, 5, 7)]
)
def chain(rng, n, dt):
    """f(x) = sum(tanh(x) exp(-x^2) + log1p(exp(x)) sin(3x))."""
    x = rng.normal(size=n).astype(dict(f64="float64", f32="float32")[dt])
    return Spec((x,), (0,), "scalar", TOL64 if dt == "f64" else TOL32)


@workload(("bs_1e6", dict(n=10**6)))
def bs(rng, n):
    """Black-Scholes call. d1 = (log(S/K) + (r + s^2/2) T) / (s sqrt T), d2 = d1 - s sqrt T,
    C = S N(d1) - K exp(-rT) N(d2), N(x) = (1 + erf(x / sqrt 2)) / 2. float64.
    Returns C and dC/d(S, K, T, r, s), each of length n."""
    u = rng.uniform
    return Spec(
        (u(50, 150, n), u(50, 150, n), u(0.1, 2, n), u(0.0, 0.1, n), u(0.1, 0.6, n)),
        (0, 1, 2, 3, 4),
        "vector",
        TOL64,
    )


def _logreg_data(rng, n, d):
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y, 0.1 * rng.normal(size=d)


@workload(("logreg", dict(n=20000, d=100)))
def logreg(rng, n, d):
    """f(w, b) = mean(log(1 + exp(-y (X w + b)))) + 0.005 w.w, X (20000, 100), y in {-1, 1},
    float64.
    Arguments (w, b, X, y)."""
    X, y, w = _logreg_data(rng, n, d)
    return Spec((w, np.array(0.1), X, y), (0, 1), "scalar", TOL64)


@workload(("mlp", {}))
def mlp(rng):
    """784-512-256-10 relu net, mean softmax cross-entropy over a batch of 128, one SGD step;
    float32.
    h1 = relu(x W1 + b1), h2 = relu(h1 W2 + b2), z = h2 W3 + b3,
    f = mean_i(logsumexp(z_i) - z_i[y_i]). Arguments (W1, b1, W2, b2, W3, b3, x, y); y int64.
    Returns f and the updated parameters p - LR df/dp (as new arrays)."""
    sizes, ps = (784, 512, 256, 10), []
    for i, o in itertools.pairwise(sizes):
        ps += [(rng.normal(size=(i, o)) * math.sqrt(2 / i)).astype("f"), np.zeros(o, "f")]
    return Spec(
        (*ps, rng.normal(size=(128, 784)).astype("f"), rng.integers(0, 10, 128)),
        tuple(range(6)),
        "sgd",
        TOL32,
    )


@workload(("attn", {}))
def attn(rng):
    """Pre-norm attention block, x (B=8, T=128, D=256), H=4 heads, float32.
    y = layernorm(x; g, b, eps=1e-5); q, k, v = split(y Wqkv + bqkv), each (B, H, T, 64);
    o = softmax(q k^T / 8) v; out = x + merge(o) Wo + bo; f = mean(out^2).
    Arguments (x, g, b, Wqkv, bqkv, Wo, bo), all differentiated."""
    D = 256

    def f(*s, sc=1.0):
        return (rng.normal(size=s) * sc).astype("f")

    return Spec(
        (
            f(8, 128, D),
            1 + f(D, sc=0.1),
            f(D, sc=0.1),
            f(D, 3 * D, sc=1 / 16),
            f(3 * D, sc=0.1),
            f(D, D, sc=1 / 16),
            f(D, sc=0.1),
        ),
        tuple(range(7)),
        "scalar",
        TOL32,
    )


@workload(("lstm", {}))
def lstm(rng):
    """64 steps, batch 32, input 128, hidden 128, float32, zero initial state.
    [i f g o] = x_t Wx + h Wh + b; c = sig(f) c + sig(i) tanh(g); h = sig(o) tanh(c);
    f = mean over t, batch, unit of h_t^2. Arguments (Wx, Wh, b, x); x (64, 32, 128)."""
    T, B, inputs, H = 64, 32, 128, 128

    def f(*s, sc):
        return (rng.normal(size=s) * sc).astype("f")

    return Spec(
        (
            f(inputs, 4 * H, sc=inputs**-0.5),
            f(H, 4 * H, sc=H**-0.5),
            f(4 * H, sc=0.1),
            f(T, B, inputs, sc=1.0),
        ),
        (0, 1, 2),
        "scalar",
        TOL32,
    )


def gmm_tril(d):
    """ADBench's order: the strictly lower triangle, column by column."""
    c, r = np.triu_indices(d, 1)  # row-wise upper = column-wise lower
    return r, c


@workload(("gmm_d10_K25", dict(d=10, K=25, n=1000)), ("gmm_d64_K50", dict(d=64, K=50, n=1000)))
def gmm(rng, d, K, n):
    """ADBench GMM log-likelihood with Wishart prior (gamma=1, m=0), float64.
    icf[k] = (log-diagonal q_k (d), strictly lower entries l_k (d(d-1)/2, column by column));
    Q_k = diag(exp q_k) + L(l_k);
    f = -n d/2 log(2 pi) + sum_i logsumexp_k(alpha_k + sum q_k - |Q_k (x_i - mu_k)|^2 / 2)
        - n logsumexp(alpha) + sum_k [ (|exp q_k|^2 + |l_k|^2) gamma^2/2 - m sum q_k ] - K C(d, m).
    Arguments (alphas, means, icf, x, C) with C the constant term."""
    gamma, m = 1.0, 0
    nn = d + m + 1
    lgd = 0.25 * d * (d - 1) * math.log(math.pi) + sum(
        math.lgamma(0.5 * nn + 0.5 * (1 - j)) for j in range(1, d + 1)
    )
    const = -n * d * 0.5 * math.log(2 * math.pi) - K * (
        nn * d * (math.log(gamma) - 0.5 * math.log(2)) - lgd
    )
    icf = rng.normal(size=(K, d + d * (d - 1) // 2)) * (0.5 / math.sqrt(d))
    return Spec(
        (rng.normal(size=K), rng.normal(size=(K, d)), icf, rng.normal(size=(n, d)), const),
        (0, 1, 2),
        "scalar",
        TOL64,
    )


@workload(("lr_hvp", {}))
def lr_hvp(rng):
    """Hessian-vector product H(w) v of f(w) = mean(log(1 + exp(-y X w))) + 0.005 w.w, X (5000,
    50), float64.
    Arguments (w, X, y, v)."""
    X, y, w = _logreg_data(rng, 5000, 50)
    return Spec((w, X, y, rng.normal(size=50)), (0,), "hvp", TOL64)


@workload(("lr_hess", {}))
def lr_hess(rng):
    """The full 50x50 Hessian of the same f. Arguments (w, X, y)."""
    X, y, w = _logreg_data(rng, 5000, 50)
    return Spec((w, X, y), (0,), "hess", TOL64)


@workload(("heat1d", {}))
def heat1d(rng):
    """200 explicit steps on 10000 points: u[1:-1] += 0.2 (u[:-2] - 2 u[1:-1] + u[2:]), ends fixed;
    f = sum(u^2)/2 at the end, gradient with respect to the initial u, float64. Arguments (u,
    steps)."""
    return Spec((rng.normal(size=10000), 200), (0,), "scalar", TOL64)


@workload(("heat2d", {}))
def heat2d(rng):
    """200 explicit steps on 128x128: u[1:-1,1:-1] += 0.2 (up + down + left + right - 4 u), border
    fixed;
    f = sum(u^2)/2 at the end, gradient with respect to the initial u, float64. Arguments (u,
    steps)."""
    return Spec((rng.normal(size=(128, 128)), 200), (0,), "scalar", TOL64)


@workload(("cnn", {}))
def cnn(rng):
    """x (64, 1, 28, 28) -> conv 3x3 same, 16 -> relu -> maxpool 2 -> conv 3x3 same, 32 -> relu ->
    maxpool 2
    -> dense 1568-10, mean softmax cross-entropy, float32. Weights OIHW.
    Arguments (K1, b1, K2, b2, W, b, x, y). In float32 a near-tie in a pooling window may go either
    way between peers, which moves a weight gradient by about 2e-3: hence the wider tolerance."""

    def f(*s, sc):
        return (rng.normal(size=s) * sc).astype("f")

    return Spec(
        (
            f(16, 1, 3, 3, sc=0.3),
            np.zeros(16, "f"),
            f(32, 16, 3, 3, sc=0.1),
            np.zeros(32, "f"),
            f(1568, 10, sc=0.03),
            np.zeros(10, "f"),
            f(64, 1, 28, 28, sc=1.0),
            rng.integers(0, 10, 64),
        ),
        tuple(range(6)),
        "scalar",
        5 * TOL32,
    )


@workload(
    ("ops100", dict(n=10, blocks=25)),
    ("ops100_0d", dict(n=None, blocks=25)),
    ("ops1000", dict(n=1000, blocks=250)),
)
def ops(rng, n, blocks):
    """An unrolled chain of 4*blocks small ops, float64: repeat y = sin(y); y = 1.01 y; y =
    tanh(y); y = y + 1e-4;
    f = sum(y). ops100 (n=10) and ops100_0d (a 0-d array) are about per-op overhead, ops1000 about
    compile time.
    Arguments (x, blocks)."""
    x = np.array(rng.normal()) if n is None else rng.normal(size=n)
    return Spec((x, blocks), (0,), "scalar", TOL64)
