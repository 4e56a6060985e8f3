"""stagrad: the functions are plain NumPy and SciPy, as one writes them without a thought of us."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import erf, logsumexp, softmax

import stagrad
from benchmarks.workloads import LR, base, gmm_tril

VENV = "stagrad"


def rosen(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def chain(x):
    return np.sum(np.tanh(x) * np.exp(-(x**2)) + np.log1p(np.exp(x)) * np.sin(3 * x))


def normal_cdf(x):
    return 0.5 * (1 + erf(x / np.sqrt(2)))


def bs(S, K, T, r, s):
    v = s * np.sqrt(T)
    d1 = (np.log(S / K) + (r + 0.5 * s**2) * T) / v
    return S * normal_cdf(d1) - K * np.exp(-r * T) * normal_cdf(d1 - v)


def logreg(w, b, X, y):
    return np.mean(np.logaddexp(0, -y * (X @ w + b))) + 0.005 * w @ w


def cross_entropy(z, y):
    return np.mean(logsumexp(z, axis=1) - z[np.arange(len(y)), y])


def mlp(W1, b1, W2, b2, W3, b3, x, y):
    h = np.maximum(x @ W1 + b1, 0)
    h = np.maximum(h @ W2 + b2, 0)
    return cross_entropy(h @ W3 + b3, y)


def attn(x, g, b, Wqkv, bqkv, Wo, bo):
    batch, length, width = x.shape
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    y = (x - mean) / np.sqrt(variance + 1e-5) * g + b
    qkv = (y @ Wqkv + bqkv).reshape(batch, length, 3, 4, width // 4)
    q, k, v = qkv.transpose(2, 0, 3, 1, 4)
    o = softmax(q @ k.swapaxes(-1, -2) / 8, axis=-1) @ v
    out = x + o.transpose(0, 2, 1, 3).reshape(batch, length, width) @ Wo + bo
    return np.mean(out**2)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(Wx, Wh, b, x):
    steps, batch, _ = x.shape
    h = c = np.zeros((batch, len(Wh)), x.dtype)
    total = 0.0
    for t in range(steps):
        i, f, g, o = np.split(x[t] @ Wx + h @ Wh + b, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        total += np.sum(h**2)
    return total / (steps * h.size)


def gmm(alphas, means, icf, x, const):
    K, d = means.shape
    rows, columns = gmm_tril(d)
    q, lower = icf[:, :d], icf[:, d:]
    L = np.zeros((K, d, d))
    L[:, rows, columns] = lower
    centred = x[:, None, :] - means
    y = np.exp(q) * centred + np.einsum("kij,nkj->nki", L, centred)
    inner = alphas + np.sum(q, axis=1) - 0.5 * np.sum(y**2, axis=2)
    prior = 0.5 * (np.sum(np.exp(q) ** 2) + np.sum(lower**2))
    return const + np.sum(logsumexp(inner, axis=1)) - len(x) * logsumexp(alphas) + prior


def lr_loss(w, X, y):
    return np.mean(np.logaddexp(0, -y * (X @ w))) + 0.005 * w @ w


lr_hvp = lr_hess = lr_loss


def heat1d(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += 0.2 * (u[:-2] - 2 * u[1:-1] + u[2:])
    return 0.5 * np.sum(u**2)


def heat2d(u, steps):
    u = u.copy()
    for _ in range(steps):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] += 0.2 * (around - 4 * u[1:-1, 1:-1])
    return 0.5 * np.sum(u**2)


def convolve(x, kernel, bias):
    """Correlate images with 3 × 3 kernels, zeros around the images."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = sliding_window_view(padded, (3, 3), axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, kernel) + bias[:, None, None]


def pool(x):
    n, channels, height, width = x.shape
    return x.reshape(n, channels, height // 2, 2, width // 2, 2).max(axis=(3, 5))


def cnn(K1, b1, K2, b2, W, b, x, y):
    h = pool(np.maximum(convolve(x, K1, b1), 0))
    h = pool(np.maximum(convolve(h, K2, b2), 0))
    return cross_entropy(h.reshape(len(x), -1) @ W + b, y)


def ops(x, blocks):
    for _ in range(blocks):
        x = np.sin(x)
        x = 1.01 * x
        x = np.tanh(x)
        x = x + 1e-4
    return np.sum(x)


def step_of(f, spec):
    """Return the function that answers what the workload asks, to be compiled."""
    wrt = spec.wrt
    if spec.kind == "hvp":
        return lambda w, X, y, v: (stagrad.hvp(lambda w: f(w, X, y), w, v),)
    if spec.kind == "hess":
        return lambda w, X, y: (stagrad.hessian(f)(w, X, y),)
    if spec.kind == "vector":

        def value_and_pullback(*args):
            out, pullback = stagrad.vjp(f, *args)
            return (out, *pullback(np.ones_like(out)))

        return value_and_pullback
    gradient = stagrad.value_and_grad(f, argnums=wrt)
    if spec.kind == "scalar":

        def value_and_gradient(*args):
            out, slopes = gradient(*args)
            return (out, *slopes)

        return value_and_gradient

    def train(*args):
        loss, slopes = gradient(*args)
        updated = [args[i] - LR * slope for i, slope in zip(wrt, slopes, strict=True)]
        return (loss, *updated)

    return train


def build(name, spec, backend="auto"):
    args = spec.args
    static = tuple(i for i, argument in enumerate(args) if isinstance(argument, int))
    step = stagrad.compile(
        step_of(globals()[base(name)], spec), static_argnums=static, backend=backend
    )

    def call():
        return step(*args)

    return call, call, call
