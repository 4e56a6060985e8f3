"""PyTensor: symbolic graph, pytensor.grad, pytensor.function (default mode: the Numba linker);
loops by scan."""

import os

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.gradient import grad, hessian

from benchmarks.workloads import LR, base, gmm_tril

VENV = "misc"


def rosen(x):
    a, b = x[:-1], x[1:]
    return (100 * (b - a * a) ** 2 + (1 - a) ** 2).sum()


def chain(x):
    return (pt.tanh(x) * pt.exp(-x * x) + pt.log1p(pt.exp(x)) * pt.sin(3 * x)).sum()


def bs(S, K, T, r, s):
    def N(x):
        return 0.5 * (1 + pt.erf(x * (1 / np.sqrt(2))))

    v = s * pt.sqrt(T)
    d1 = (pt.log(S / K) + (r + 0.5 * s * s) * T) / v
    return S * N(d1) - K * pt.exp(-r * T) * N(d1 - v)


def logreg(w, b, X, y):
    return pt.softplus(-y * (X @ w + b)).mean() + 0.005 * (w @ w)


def _xent(z, y):
    return (pt.logsumexp(z, 1) - z[pt.arange(y.shape[0]), y]).mean()


def mlp(W1, b1, W2, b2, W3, b3, x, y):
    h = pt.maximum(x @ W1 + b1, np.float32(0))
    h = pt.maximum(h @ W2 + b2, np.float32(0))
    return _xent(h @ W3 + b3, y)


def attn(x, g, b, Wqkv, bqkv, Wo, bo):
    B, T, D = 8, 128, 256
    xc = x - x.mean(-1, keepdims=True)
    y = xc / pt.sqrt((xc * xc).mean(-1, keepdims=True) + np.float32(1e-5)) * g + b

    def lin(a, W):
        return (a.reshape((B * T, D)) @ W).reshape((B, T, -1))

    qkv = (lin(y, Wqkv) + bqkv).reshape((B, T, 3, 4, 64)).transpose(2, 0, 3, 1, 4)
    q, k, v = qkv[0], qkv[1], qkv[2]
    p = pt.special.softmax((q @ k.transpose(0, 1, 3, 2)) * np.float32(1 / 8), axis=-1)
    out = x + (lin((p @ v).transpose(0, 2, 1, 3).reshape((B, T, D)), Wo) + bo)
    return (out * out).mean()


def lstm(Wx, Wh, b, x):
    T, B, H = 64, 32, 128

    def step(xt, h, c, Wx, Wh, b):
        z = xt @ Wx + h @ Wh + b
        i, f, g, o = (z[:, k * H : (k + 1) * H] for k in range(4))
        c = pt.sigmoid(f) * c + pt.sigmoid(i) * pt.tanh(g)
        return pt.sigmoid(o) * pt.tanh(c), c

    z = pt.zeros((B, H), dtype="float32")
    (hs, _), _ = pytensor.scan(step, sequences=[x], outputs_info=[z, z], non_sequences=[Wx, Wh, b])
    return (hs * hs).sum() / np.float32(T * B * H)


def gmm(alphas, means, icf, x, const):
    K, d = means.type.shape
    n = x.type.shape[0]
    r, c = gmm_tril(d)
    q, lower = icf[:, :d], icf[:, d:]
    eq = pt.exp(q)
    L = pt.set_subtensor(pt.zeros((K, d, d))[:, r, c], lower)
    xc = x[:, None, :] - means
    y = eq * xc + (L @ xc.transpose(1, 2, 0)).transpose(2, 0, 1)
    inner = alphas + q.sum(1) - 0.5 * (y * y).sum(2)
    return (
        const
        + pt.logsumexp(inner, 1).sum()
        - n * pt.logsumexp(alphas)
        + 0.5 * ((eq * eq).sum() + (lower * lower).sum())
    )


def lr_loss(w, X, y):
    return pt.softplus(-y * (X @ w)).mean() + 0.005 * (w @ w)


lr_hvp = lr_hess = lr_loss


def _scan_last(step, u, steps):
    us, _ = pytensor.scan(step, outputs_info=[u], n_steps=steps)
    return 0.5 * (us[-1] ** 2).sum()


def heat1d(u, steps):
    return _scan_last(
        lambda u: pt.inc_subtensor(u[1:-1], 0.2 * (u[:-2] - 2 * u[1:-1] + u[2:])), u, steps
    )


def heat2d(u, steps):
    def step(u):
        d = 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
        return pt.inc_subtensor(u[1:-1, 1:-1], d)

    return _scan_last(step, u, steps)


def ops(x, blocks):
    y = x
    for _ in range(blocks):
        y = pt.sin(y)
        y = 1.01 * y
        y = pt.tanh(y)
        y = y + 1e-4
    return y.sum()


def build(name, spec):
    if base(name) not in globals():
        raise NotImplementedError("no convolution spelled for this peer")
    f = globals()[base(name)]
    syms = [
        pt.tensor(f"a{i}", dtype=a.dtype, shape=a.shape) if isinstance(a, np.ndarray) else a
        for i, a in enumerate(spec.args)
    ]
    wrt = [syms[i] for i in spec.wrt]
    if spec.kind == "hvp":
        outs = [grad((grad(f(*syms[:3]), syms[0]) * syms[3]).sum(), syms[0])]
    elif spec.kind == "hess":
        outs = [hessian(f(*syms), syms[0])]
        outs = outs[0] if isinstance(outs[0], (list, tuple)) else outs
    else:
        out = f(*syms)
        g = grad(out.sum() if spec.kind == "vector" else out, wrt)
        if spec.kind == "sgd":
            g = [p - np.float32(LR) * b for p, b in zip(wrt, g, strict=False)]
        outs = [out, *g]
    ins = [s for s in syms if hasattr(s, "type")]
    fn = pytensor.function(ins, outs, mode=os.environ.get("BENCH_PYTENSOR_MODE") or None)
    fn.trust_input = True
    args = [a for a in spec.args if isinstance(a, np.ndarray)]

    def call():
        return fn(*args)

    return call, call, call
