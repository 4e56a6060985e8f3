"""jax.jit(jax.value_and_grad(f)), 64-bit enabled; loops by lax.scan."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import erf, logsumexp

from benchmarks.workloads import LR, base, gmm_tril

VENV = "jax"
jax.config.update("jax_enable_x64", True)


def rosen(x):
    a, b = x[:-1], x[1:]
    return (100 * (b - a * a) ** 2 + (1 - a) ** 2).sum()


def chain(x):
    return (jnp.tanh(x) * jnp.exp(-x * x) + jnp.log1p(jnp.exp(x)) * jnp.sin(3 * x)).sum()


def bs(S, K, T, r, s):
    def N(x):
        return 0.5 * (1 + erf(x * (1 / math.sqrt(2))))

    v = s * jnp.sqrt(T)
    d1 = (jnp.log(S / K) + (r + 0.5 * s * s) * T) / v
    return S * N(d1) - K * jnp.exp(-r * T) * N(d1 - v)


def logreg(w, b, X, y):
    return jax.nn.softplus(-y * (X @ w + b)).mean() + 0.005 * (w @ w)


def _xent(z, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(z), y[:, None], 1).mean()


def mlp(W1, b1, W2, b2, W3, b3, x, y):
    h = jax.nn.relu(x @ W1 + b1)
    h = jax.nn.relu(h @ W2 + b2)
    return _xent(h @ W3 + b3, y)


def attn(x, g, b, Wqkv, bqkv, Wo, bo):
    B, T, D = x.shape
    xc = x - x.mean(-1, keepdims=True)
    y = xc * lax.rsqrt((xc * xc).mean(-1, keepdims=True) + 1e-5) * g + b
    q, k, v = (y @ Wqkv + bqkv).reshape(B, T, 3, 4, 64).transpose(2, 0, 3, 1, 4)
    p = jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8, -1)
    out = x + ((p @ v).transpose(0, 2, 1, 3).reshape(B, T, D) @ Wo + bo)
    return (out * out).mean()


def lstm(Wx, Wh, b, x):
    T, B, _ = x.shape
    H = Wh.shape[0]

    def step(hc, xt):
        h, c = hc
        i, f, g, o = jnp.split(xt @ Wx + h @ Wh + b, 4, 1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), (h * h).sum()

    z = jnp.zeros((B, H), x.dtype)
    _, s = lax.scan(step, (z, z), x)
    return s.sum() / (T * B * H)


def gmm(alphas, means, icf, x, const):
    K, d = means.shape
    n = x.shape[0]
    r, c = gmm_tril(d)
    q, lower = icf[:, :d], icf[:, d:]
    eq = jnp.exp(q)
    L = jnp.zeros((K, d, d)).at[:, r, c].set(lower)
    xc = x[:, None, :] - means
    y = eq * xc + jnp.einsum("kij,nkj->nki", L, xc)
    inner = alphas + q.sum(1) - 0.5 * (y * y).sum(2)
    return (
        const
        + logsumexp(inner, 1).sum()
        - n * logsumexp(alphas)
        + 0.5 * ((eq * eq).sum() + (lower * lower).sum())
    )


def lr_loss(w, X, y):
    return jax.nn.softplus(-y * (X @ w)).mean() + 0.005 * (w @ w)


lr_hvp = lr_hess = lr_loss


def heat1d(u, steps):
    def step(u, _):
        return u.at[1:-1].add(0.2 * (u[:-2] - 2 * u[1:-1] + u[2:])), None

    u, _ = lax.scan(step, u, None, length=steps)
    return 0.5 * (u * u).sum()


def heat2d(u, steps):
    def step(u, _):
        d = 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
        return u.at[1:-1, 1:-1].add(d), None

    u, _ = lax.scan(step, u, None, length=steps)
    return 0.5 * (u * u).sum()


def cnn(K1, b1, K2, b2, W, b, x, y):
    def conv(x, K, b):
        return lax.conv(x, K, (1, 1), "SAME") + b[:, None, None]

    def pool(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    h = pool(jax.nn.relu(conv(x, K1, b1)))
    h = pool(jax.nn.relu(conv(h, K2, b2)))
    return _xent(h.reshape(len(x), -1) @ W + b, y)


def ops(x, blocks):
    y = x
    for _ in range(blocks):
        y = jnp.sin(y)
        y = 1.01 * y
        y = jnp.tanh(y)
        y = y + 1e-4
    return y.sum()


def build(name, spec):
    f = globals()[base(name)]
    wrt = spec.wrt
    static = tuple(i for i, a in enumerate(spec.args) if isinstance(a, int))

    if spec.kind == "hvp":

        def step(w, X, y, v):
            return (jax.jvp(lambda w: jax.grad(f)(w, X, y), (w,), (v,))[1],)
    elif spec.kind == "hess":

        def step(w, X, y):
            return (jax.hessian(f)(w, X, y),)
    elif spec.kind == "vector":

        def step(*args):
            out, pull = jax.vjp(f, *args)
            return (out, *pull(jnp.ones_like(out)))
    else:

        def step(*args):
            out, g = jax.value_and_grad(f, argnums=wrt)(*args)
            if spec.kind == "sgd":
                g = [args[i] - LR * b for i, b in zip(wrt, g, strict=False)]
            return (out, *g)

    step = jax.jit(step, static_argnums=static)
    jargs = [jnp.asarray(a) if isinstance(a, np.ndarray) else a for a in spec.args]

    def native():
        return jax.block_until_ready(step(*jargs))

    def numpy():
        return tuple(np.asarray(o) for o in step(*spec.args))

    return native, numpy, numpy
