"""HIPS autograd: a tape over NumPy. No slice assignment, so stencils pad and icf is gathered."""

import autograd.numpy as np
import numpy as onp
from autograd import hessian, hessian_vector_product, make_vjp
from autograd.scipy.special import erf, logsumexp

from benchmarks.workloads import LR, base, gmm_tril

VENV = "misc"


def rosen(x):
    a, b = x[:-1], x[1:]
    return np.sum(100 * (b - a * a) ** 2 + (1 - a) ** 2)


def chain(x):
    return np.sum(np.tanh(x) * np.exp(-x * x) + np.log1p(np.exp(x)) * np.sin(3 * x))


def bs(S, K, T, r, s):
    def N(x):
        return 0.5 * (1 + erf(x * (1 / onp.sqrt(2))))

    v = s * np.sqrt(T)
    d1 = (np.log(S / K) + (r + 0.5 * s * s) * T) / v
    return S * N(d1) - K * np.exp(-r * T) * N(d1 - v)


def logreg(w, b, X, y):
    return np.mean(np.logaddexp(0, -y * (np.dot(X, w) + b))) + 0.005 * np.dot(w, w)


def _xent(z, y):
    return np.mean(logsumexp(z, 1) - z[onp.arange(len(y)), y])


def mlp(W1, b1, W2, b2, W3, b3, x, y):
    h = np.maximum(np.dot(x, W1) + b1, 0)
    h = np.maximum(np.dot(h, W2) + b2, 0)
    return _xent(np.dot(h, W3) + b3, y)


def attn(x, g, b, Wqkv, bqkv, Wo, bo):
    B, T, D = x.shape
    xc = x - np.mean(x, -1, keepdims=True)
    y = xc / np.sqrt(np.mean(xc * xc, -1, keepdims=True) + onp.float32(1e-5)) * g + b
    qkv = np.transpose(np.reshape(np.dot(y, Wqkv) + bqkv, (B, T, 3, 4, 64)), (2, 0, 3, 1, 4))
    q, k, v = qkv[0], qkv[1], qkv[2]
    s = np.matmul(q, np.swapaxes(k, -1, -2)) * onp.float32(1 / 8)
    e = np.exp(s - np.max(s, -1, keepdims=True))
    o = np.matmul(e / np.sum(e, -1, keepdims=True), v)
    out = x + (np.dot(np.reshape(np.transpose(o, (0, 2, 1, 3)), (B, T, D)), Wo) + bo)
    return np.mean(out * out)


def lstm(Wx, Wh, b, x):
    T, B, _ = x.shape
    H = Wh.shape[0]

    def sig(x):
        return onp.float32(0.5) * (np.tanh(onp.float32(0.5) * x) + 1)

    h = c = onp.zeros((B, H), x.dtype)
    tot = 0.0
    for t in range(T):
        z = np.dot(x[t], Wx) + np.dot(h, Wh) + b
        i, f, g, o = z[:, :H], z[:, H : 2 * H], z[:, 2 * H : 3 * H], z[:, 3 * H :]
        c = sig(f) * c + sig(i) * np.tanh(g)
        h = sig(o) * np.tanh(c)
        tot = tot + np.sum(h * h)
    return tot / (T * B * H)


def gmm(alphas, means, icf, x, const):
    K, d = means.shape
    n = len(x)
    r, c = gmm_tril(d)
    idx = onp.full((d, d), len(r))
    idx[r, c] = onp.arange(len(r))
    q, lower = icf[:, :d], icf[:, d:]
    eq = np.exp(q)
    L = np.concatenate([lower, onp.zeros((K, 1))], 1)[:, idx]
    xc = x[:, None, :] - means
    y = eq * xc + np.transpose(np.matmul(L, np.transpose(xc, (1, 2, 0))), (2, 0, 1))
    inner = alphas + np.sum(q, 1) - 0.5 * np.sum(y * y, 2)
    return (
        const
        + np.sum(logsumexp(inner, 1))
        - n * logsumexp(alphas)
        + 0.5 * (np.sum(eq * eq) + np.sum(lower * lower))
    )


def lr_loss(w, X, y):
    return np.mean(np.logaddexp(0, -y * np.dot(X, w))) + 0.005 * np.dot(w, w)


lr_hvp = lr_hess = lr_loss


def heat1d(u, steps):
    for _ in range(steps):
        d = 0.2 * (u[:-2] - 2 * u[1:-1] + u[2:])
        u = u + np.pad(d, 1, "constant")
    return 0.5 * np.sum(u * u)


def heat2d(u, steps):
    for _ in range(steps):
        d = 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
        u = u + np.pad(d, 1, "constant")
    return 0.5 * np.sum(u * u)


def cnn(K1, b1, K2, b2, W, b, x, y):
    def conv(x, K, b):  # nine shifted matrix products, NHWC
        _N, H, W_, _C = x.shape
        p = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), "constant")
        cols = np.concatenate([p[:, i : i + H, j : j + W_] for i in range(3) for j in range(3)], -1)
        return np.dot(cols, np.reshape(np.transpose(K, (2, 3, 1, 0)), (-1, len(K)))) + b

    def pool(z):
        N, H, W_, C = z.shape
        return np.max(np.reshape(z, (N, H // 2, 2, W_ // 2, 2, C)), axis=(2, 4))

    h = pool(np.maximum(conv(np.transpose(x, (0, 2, 3, 1)), K1, b1), 0))
    h = pool(np.maximum(conv(h, K2, b2), 0))
    return _xent(np.dot(np.reshape(np.transpose(h, (0, 3, 1, 2)), (len(x), -1)), W) + b, y)


def ops(x, blocks):
    y = x
    for _ in range(blocks):
        y = np.sin(y)
        y = 1.01 * y
        y = np.tanh(y)
        y = y + 1e-4
    return np.sum(y)


def build(name, spec):
    f = globals()[base(name)]
    wrt, args = spec.wrt, spec.args

    if spec.kind == "hvp":

        def call():
            return (hessian_vector_product(lambda w: f(w, *args[1:3]))(args[0], args[3]),)
    elif spec.kind == "hess":

        def call():
            return (hessian(lambda w: f(w, *args[1:]))(args[0]),)
    else:

        def g(p):
            a = list(args)
            for i, v in zip(wrt, p, strict=False):
                a[i] = v
            return f(*a)

        def call():
            p = tuple(args[i] for i in wrt)
            pull, out = make_vjp(g)(p)
            gr = pull(onp.ones_like(out))
            if spec.kind == "sgd":
                gr = [a - onp.float32(LR) * b for a, b in zip(p, gr, strict=False)]
            return (out, *gr)

    return call, call, call
