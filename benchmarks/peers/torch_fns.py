"""The workloads spelled in PyTorch, as a PyTorch user would write them."""

import math

import torch
import torch.nn.functional as F

from benchmarks.workloads import gmm_tril


def rosen(x):
    a, b = x[:-1], x[1:]
    return (100 * (b - a * a) ** 2 + (1 - a) ** 2).sum()


def chain(x):
    return (torch.tanh(x) * torch.exp(-x * x) + torch.log1p(torch.exp(x)) * torch.sin(3 * x)).sum()


def bs(S, K, T, r, s):
    def N(x):
        return 0.5 * (1 + torch.erf(x * (1 / math.sqrt(2))))

    v = s * torch.sqrt(T)
    d1 = (torch.log(S / K) + (r + 0.5 * s * s) * T) / v
    return S * N(d1) - K * torch.exp(-r * T) * N(d1 - v)


def logreg(w, b, X, y):
    return F.softplus(-y * (X @ w + b)).mean() + 0.005 * (w @ w)


def mlp(W1, b1, W2, b2, W3, b3, x, y):
    h = torch.relu(torch.addmm(b1, x, W1))
    h = torch.relu(torch.addmm(b2, h, W2))
    return F.cross_entropy(torch.addmm(b3, h, W3), y)


def attn(x, g, b, Wqkv, bqkv, Wo, bo):
    B, T, D = x.shape
    y = F.layer_norm(x, (D,), g, b)
    q, k, v = (y @ Wqkv + bqkv).view(B, T, 3, 4, 64).permute(2, 0, 3, 1, 4).unbind(0)
    o = F.scaled_dot_product_attention(q, k, v)
    out = x + (o.transpose(1, 2).reshape(B, T, D) @ Wo + bo)
    return (out * out).mean()


def lstm(Wx, Wh, b, x):
    T, B, _ = x.shape
    H = Wh.shape[0]
    h = x.new_zeros(B, H)
    c = x.new_zeros(B, H)
    tot = 0.0
    for t in range(T):
        i, f, g, o = (x[t] @ Wx + h @ Wh + b).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        tot = tot + (h * h).sum()
    return tot / (T * B * H)


def gmm(alphas, means, icf, x, const):
    K, d = means.shape
    n = x.shape[0]
    r, c = (torch.from_numpy(a) for a in gmm_tril(d))
    q, lower = icf[:, :d], icf[:, d:]
    eq = torch.exp(q)
    L = x.new_zeros(K, d, d)
    L = L.index_put((torch.arange(K)[:, None], r, c), lower)
    xc = x[:, None, :] - means
    y = eq * xc + torch.einsum("kij,nkj->nki", L, xc)
    inner = alphas + q.sum(1) - 0.5 * (y * y).sum(2)
    return (
        const
        + torch.logsumexp(inner, 1).sum()
        - n * torch.logsumexp(alphas, 0)
        + 0.5 * ((eq * eq).sum() + (lower * lower).sum())
    )


def lr_loss(w, X, y):
    return F.softplus(-y * (X @ w)).mean() + 0.005 * (w @ w)


lr_hvp = lr_hess = lr_loss


def heat1d(u, steps):
    for _ in range(steps):
        d = 0.2 * (u[:-2] - 2 * u[1:-1] + u[2:])
        u = u.clone()
        u[1:-1] += d
    return 0.5 * (u * u).sum()


def heat2d(u, steps):
    for _ in range(steps):
        d = 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
        u = u.clone()
        u[1:-1, 1:-1] += d
    return 0.5 * (u * u).sum()


def cnn(K1, b1, K2, b2, W, b, x, y):
    h = F.max_pool2d(torch.relu(F.conv2d(x, K1, b1, padding=1)), 2)
    h = F.max_pool2d(torch.relu(F.conv2d(h, K2, b2, padding=1)), 2)
    return F.cross_entropy(h.flatten(1) @ W + b, y)


def ops(x, blocks):
    y = x
    for _ in range(blocks):
        y = torch.sin(y)
        y = 1.01 * y
        y = torch.tanh(y)
        y = y + 1e-4
    return y.sum()
