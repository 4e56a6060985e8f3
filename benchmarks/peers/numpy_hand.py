"""Hand-written NumPy value and gradient: the reference for correctness, and what a careful person
would write.

Closed forms are used where a person would know them (the greeks, the Hessian); large elementwise
work goes in cache-sized blocks; weight gradients of the recurrent net are one GEMM after the loop.
"""

import numpy as np
from scipy.special import erf

from benchmarks.peers.numpy_hand_nets import attn, cnn, lstm, mlp
from benchmarks.workloads import base, gmm_tril

VENV = "misc"
FUNCTIONS = {"mlp": mlp, "attn": attn, "lstm": lstm, "cnn": cnn}
BLOCK = 8192  # below the length at which OpenBLAS threads a dot


def rosen(x):
    a, b = x[:-1], x[1:]
    r = b - a * a
    s = 1.0 - a
    g = np.empty_like(x)
    g[0] = 0.0
    np.multiply(r, 200.0, out=g[1:])
    g[:-1] -= 400.0 * a * r + 2.0 * s
    return 100.0 * (r @ r) + s @ s, g


def chain(x):
    g = np.empty_like(x)
    m = min(BLOCK, x.size)
    bufs = np.empty((6, m), x.dtype)
    total = 0.0
    for k in range(0, x.size, m):
        xb, gb = x[k : k + m], g[k : k + m]
        t, e, L, s, c, w = (b[: xb.size] for b in bufs)
        np.tanh(xb, out=t)
        np.multiply(xb, xb, out=e)
        np.negative(e, out=e)
        np.exp(e, out=e)
        np.multiply(xb, 3, out=c)
        np.sin(c, out=s)
        np.cos(c, out=c)
        np.exp(xb, out=w)
        np.log1p(w, out=L)  # L = softplus
        total += float(t @ e) + float(L @ s)
        # w/(1+w) s + 3 L c
        np.add(w, 1, out=gb)
        np.divide(w, gb, out=gb)
        gb *= s
        L *= c
        L *= 3
        gb += L
        # (1 - t^2) e - 2 x t e = e (1 - t^2 - 2 x t)
        np.multiply(xb, 2, out=w)
        w += t
        w *= t
        np.subtract(1, w, out=w)
        w *= e
        gb += w
    return x.dtype.type(total), g


def bs(S, K, T, r, s):
    n = S.size
    out = np.empty((6, n))
    q = 1 / np.sqrt(2)
    for k in range(0, n, BLOCK):
        j = slice(k, k + BLOCK)
        S_, K_, T_, r_, s_ = S[j], K[j], T[j], r[j], s[j]
        C, dS, dK, dT, dr, ds = out[:, j]
        sq = np.sqrt(T_)
        v = s_ * sq
        d1 = np.log(S_ / K_)
        d1 += (r_ + 0.5 * s_ * s_) * T_
        d1 /= v
        d2 = d1 - v
        disc = np.exp(-r_ * T_)
        np.multiply(erf(d1 * q), 0.5, out=dS)
        dS += 0.5
        n2 = 0.5 * erf(d2 * q)
        n2 += 0.5
        n2 *= disc  # e^{-rT} N(d2)
        np.negative(n2, out=dK)
        Kn2 = K_ * n2
        np.multiply(S_, dS, out=C)
        C -= Kn2
        np.multiply(Kn2, T_, out=dr)
        d1 *= d1
        d1 *= -0.5
        pdf = np.exp(d1)
        pdf *= 0.3989422804014327
        pdf *= S_
        np.multiply(pdf, sq, out=ds)
        np.multiply(pdf, s_, out=dT)
        dT /= sq
        dT *= 0.5
        dT += r_ * Kn2
    return tuple(out)


def logreg(w, b, X, y):
    n = len(y)
    z = X @ w
    z += b
    z *= y
    e = np.exp(-np.abs(z))
    f = (np.log1p(e) + np.maximum(-z, 0)).mean() + 0.005 * (w @ w)
    s = np.where(z >= 0, e, 1.0) / (1.0 + e)  # sigmoid(-z)
    s *= y
    s *= -1.0 / n
    return f, s @ X + 0.01 * w, s.sum()


def gmm(alphas, means, icf, x, const):
    (K, d), n = means.shape, len(x)
    r, c = gmm_tril(d)
    q, lower = icf[:, :d], icf[:, d:]
    eq = np.exp(q)
    Q = np.zeros((K, d, d))
    Q[:, r, c] = lower
    ii = np.arange(d)
    Q[:, ii, ii] = eq
    sq = q.sum(1)
    # Q_k (x_i - mu_k) for all i, k from one GEMM
    QT = Q.reshape(K * d, d)
    Y = (x @ QT.T).reshape(n, K, d)
    Y -= np.einsum("kij,kj->ki", Q, means)
    inner = alphas + sq - 0.5 * np.einsum("nkd,nkd->nk", Y, Y)
    m = inner.max(1, keepdims=True)
    e = np.exp(inner - m)
    S = e.sum(1, keepdims=True)
    am = alphas.max()
    ea = np.exp(alphas - am)
    sa = ea.sum()
    f = (
        const
        + (np.log(S) + m).sum()
        - n * (np.log(sa) + am)
        + 0.5 * (np.vdot(eq, eq) + np.vdot(lower, lower))
    )
    R = e
    R /= S  # responsibilities
    Rs = R.sum(0)
    Y *= R[:, :, None]  # -dY
    dQ = (Y.reshape(n, K * d).T @ x).reshape(K, d, d)  # sum_i R Y x^T
    sY = Y.sum(0)
    dQ -= sY[:, :, None] * means[:, None, :]
    dmu = np.einsum("kij,ki->kj", Q, sY)
    dicf = np.empty_like(icf)
    dicf[:, d:] = lower - dQ[:, r, c]
    dicf[:, :d] = Rs[:, None] + eq * (eq - dQ[:, ii, ii])
    return f, Rs - n * ea / sa, dmu, dicf


def _curv(w, X, y):
    z = X @ w
    z *= y
    e = np.exp(-np.abs(z))
    return e / (1 + e) ** 2 / len(y)


def lr_hvp(w, X, y, v):
    return ((_curv(w, X, y) * (X @ v)) @ X + 0.01 * v,)


def lr_hess(w, X, y):
    H = (X * _curv(w, X, y)[:, None]).T @ X
    H[np.diag_indices_from(H)] += 0.01
    return (H,)


def heat1d(u, steps):
    u = u.copy()
    t = np.empty(u.size - 2)
    s = np.empty_like(t)
    for _ in range(steps):
        np.add(u[:-2], u[2:], out=t)
        np.multiply(u[1:-1], 2, out=s)
        t -= s
        t *= 0.2
        u[1:-1] += t
    f = 0.5 * (u @ u)
    for _ in range(steps):  # the transpose: scatter from interior cells
        np.multiply(u[1:-1], 0.2, out=t)
        np.multiply(t, 2, out=s)
        u[1:-1] -= s
        u[:-2] += t
        u[2:] += t
    return f, u


def heat2d(u, steps):
    u = u.copy()
    n, m = u.shape
    t = np.empty((n - 2, m - 2))
    s = np.empty_like(t)
    for _ in range(steps):
        np.add(u[:-2, 1:-1], u[2:, 1:-1], out=t)
        t += u[1:-1, :-2]
        t += u[1:-1, 2:]
        np.multiply(u[1:-1, 1:-1], 4, out=s)
        t -= s
        t *= 0.2
        u[1:-1, 1:-1] += t
    f = 0.5 * np.vdot(u, u)
    for _ in range(steps):
        np.multiply(u[1:-1, 1:-1], 0.2, out=t)
        np.multiply(t, 4, out=s)
        u[1:-1, 1:-1] -= s
        u[:-2, 1:-1] += t
        u[2:, 1:-1] += t
        u[1:-1, :-2] += t
        u[1:-1, 2:] += t
    return f, u


def ops(x, blocks):
    y, saved = x, []
    for _ in range(blocks):
        c = np.cos(y)
        t = np.tanh(np.sin(y) * 1.01)
        saved.append((c, t))
        y = t + 1e-4
    g = 1.0
    for c, t in reversed(saved):
        g = g * (1 - t * t) * 1.01 * c
    return np.sum(y), g


def build(name, spec):
    fn = FUNCTIONS.get(base(name)) or globals()[base(name)]
    args = spec.args

    def call():
        return fn(*args)

    return call, call, call
