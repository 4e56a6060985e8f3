"""The networks of numpy_hand: value and gradient in plain NumPy."""

import numpy as np

from benchmarks.workloads import LR


def _softmax_xent(z, y):
    z = z - z.max(1, keepdims=True)
    e = np.exp(z)
    S = e.sum(1, keepdims=True)
    i = np.arange(len(y))
    f = (np.log(S[:, 0]) - z[i, y]).mean()
    e /= S
    e[i, y] -= 1
    e *= z.dtype.type(1 / len(y))
    return f, e


def mlp(W1, b1, W2, b2, W3, b3, x, y):
    h1 = x @ W1
    h1 += b1
    np.maximum(h1, 0, out=h1)
    h2 = h1 @ W2
    h2 += b2
    np.maximum(h2, 0, out=h2)
    z = h2 @ W3
    z += b3
    f, dz = _softmax_xent(z, y)
    d2 = dz @ W3.T
    d2 *= h2 > 0
    d1 = d2 @ W2.T
    d1 *= h1 > 0
    lr = np.float32(-LR)
    out = [f]
    for p, g in (
        (W1, x.T @ d1),
        (b1, d1.sum(0)),
        (W2, h1.T @ d2),
        (b2, d2.sum(0)),
        (W3, h2.T @ dz),
        (b3, dz.sum(0)),
    ):
        g *= lr
        g += p
        out.append(g)
    return tuple(out)


def attn(x, g, b, Wqkv, bqkv, Wo, bo):
    B, T, D = x.shape
    H, d = 4, 64
    mu = x.mean(-1, keepdims=True)
    xc = x - mu
    rs = 1 / np.sqrt((xc * xc).mean(-1, keepdims=True) + np.float32(1e-5))
    xc *= rs  # xhat
    y = xc * g
    y += b
    y2 = y.reshape(-1, D)
    qkv = y2 @ Wqkv
    qkv += bqkv
    q, k, v = qkv.reshape(B, T, 3, H, d).transpose(2, 0, 3, 1, 4)
    p = q @ k.swapaxes(-1, -2)
    p *= np.float32(1 / 8)
    p -= p.max(-1, keepdims=True)
    np.exp(p, out=p)
    p /= p.sum(-1, keepdims=True)
    o = np.ascontiguousarray((p @ v).transpose(0, 2, 1, 3)).reshape(-1, D)
    out = (o @ Wo).reshape(B, T, D)
    out += bo
    out += x
    f = np.vdot(out, out) / np.float32(out.size)
    dout = out
    dout *= np.float32(2 / out.size)
    d2 = dout.reshape(-1, D)
    dWo, dbo = o.T @ d2, d2.sum(0)
    do = (d2 @ Wo.T).reshape(B, T, H, d).transpose(0, 2, 1, 3)
    dqkv = np.empty((3, B, H, T, d), x.dtype)
    np.matmul(p.swapaxes(-1, -2), do, out=dqkv[2])
    dp = do @ v.swapaxes(-1, -2)
    dp -= np.einsum("bhij,bhij->bhi", dp, p)[..., None]
    dp *= p
    dp *= np.float32(1 / 8)
    np.matmul(dp, k, out=dqkv[0])
    np.matmul(dp.swapaxes(-1, -2), q, out=dqkv[1])
    dq2 = np.ascontiguousarray(dqkv.transpose(1, 3, 0, 2, 4)).reshape(-1, 3 * D)
    dW, dbq = y2.T @ dq2, dq2.sum(0)
    dy = (dq2 @ Wqkv.T).reshape(B, T, D)
    dg, db = np.einsum("btd,btd->d", dy, xc), dy.sum((0, 1))
    dy *= g
    m1 = dy.mean(-1, keepdims=True)
    m2 = np.einsum("btd,btd->bt", dy, xc)[..., None] / np.float32(D)
    dy -= m1
    xc *= m2
    dy -= xc
    dy *= rs
    dy += dout
    return f, dy, dg, db, dW, dbq, dWo, dbo


def _sig(x):
    x *= np.float32(0.5)
    np.tanh(x, out=x)
    x += 1
    x *= np.float32(0.5)


def lstm(Wx, Wh, b, x):
    T, B, inputs = x.shape
    H = Wh.shape[0]
    G = (x.reshape(-1, inputs) @ Wx).reshape(T, B, 4 * H)
    G += b
    hs = np.zeros((T + 1, B, H), x.dtype)
    cs = np.zeros((T + 1, B, H), x.dtype)
    tc = np.empty((T, B, H), x.dtype)
    for t in range(T):
        z = G[t]
        z += hs[t] @ Wh
        _sig(z[:, : 2 * H])
        np.tanh(z[:, 2 * H : 3 * H], out=z[:, 2 * H : 3 * H])
        _sig(z[:, 3 * H :])
        i, f, g, o = (z[:, k * H : (k + 1) * H] for k in range(4))
        np.multiply(f, cs[t], out=cs[t + 1])
        cs[t + 1] += i * g
        np.tanh(cs[t + 1], out=tc[t])
        np.multiply(o, tc[t], out=hs[t + 1])
    h1 = hs[1:]
    val = np.vdot(h1, h1) / np.float32(h1.size)
    sc = np.float32(2 / h1.size)
    dZ = np.empty_like(G)
    dh = np.zeros((B, H), x.dtype)
    dc = np.zeros((B, H), x.dtype)
    WhT = np.ascontiguousarray(Wh.T)
    for t in range(T - 1, -1, -1):
        i, f, g, o = (G[t][:, k * H : (k + 1) * H] for k in range(4))
        di, df, dg, do = (dZ[t][:, k * H : (k + 1) * H] for k in range(4))
        dh += sc * hs[t + 1]
        th = tc[t]
        np.multiply(dh, th, out=do)
        do *= o
        do *= 1 - o
        dh *= o
        dh *= 1 - th * th
        dc += dh
        np.multiply(dc, g, out=di)
        di *= i
        di *= 1 - i
        np.multiply(dc, cs[t], out=df)
        df *= f
        df *= 1 - f
        np.multiply(dc, i, out=dg)
        dg *= 1 - g * g
        dc *= f
        dh = dZ[t] @ WhT
    Z = dZ.reshape(-1, 4 * H)
    return val, x.reshape(-1, inputs).T @ Z, hs[:-1].reshape(-1, H).T @ Z, Z.sum(0)


def _cols(x):
    """(N, C, H, W) -> (N, H, W, C, 3, 3) patches of the zero-padded image, as a matrix."""
    N, C, H, W = x.shape
    p = np.zeros((N, C, H + 2, W + 2), x.dtype)
    p[:, :, 1:-1, 1:-1] = x
    w = np.lib.stride_tricks.sliding_window_view(p, (3, 3), (2, 3))
    return np.ascontiguousarray(w.transpose(0, 2, 3, 1, 4, 5)).reshape(N * H * W, C * 9)


def _relu_pool(z):
    """relu then 2x2 max pooling on NHWC; also the mask that routes the gradient."""
    N, H, W, C = z.shape
    r = z.reshape(N, H // 2, 2, W // 2, 2, C)
    m = np.maximum(r.max((2, 4)), 0)
    mask = (r == m[:, :, None, :, None]) & (r > 0)
    return m, mask


def cnn(K1, b1, K2, b2, W, b, x, y):
    N = len(x)
    c1 = _cols(x)
    z1 = (c1 @ K1.reshape(16, -1).T).reshape(N, 28, 28, 16)
    z1 += b1
    h1, m1 = _relu_pool(z1)
    c2 = _cols(h1.transpose(0, 3, 1, 2))
    z2 = (c2 @ K2.reshape(32, -1).T).reshape(N, 14, 14, 32)
    z2 += b2
    h2, m2 = _relu_pool(z2)
    flat = h2.transpose(0, 3, 1, 2).reshape(N, -1)
    f, dz = _softmax_xent(flat @ W + b, y)
    dW, db = flat.T @ dz, dz.sum(0)
    dh2 = (dz @ W.T).reshape(N, 32, 7, 7).transpose(0, 2, 3, 1)
    d2 = (dh2[:, :, None, :, None] * m2).reshape(-1, 32)
    dK2, db2 = (d2.T @ c2).reshape(K2.shape), d2.sum(0)
    dc = (d2 @ K2.reshape(32, -1)).reshape(N, 14, 14, 16, 3, 3)
    dp = np.zeros((N, 16, 16, 16), x.dtype)  # padded NHWC
    for i in range(3):
        for j in range(3):
            dp[:, i : i + 14, j : j + 14] += dc[..., i, j]
    d1 = (dp[:, None, 1:15, None, 1:15].transpose(0, 2, 1, 4, 3, 5) * m1).reshape(-1, 16)
    return f, (d1.T @ c1).reshape(K1.shape), d1.sum(0), dK2, db2, dW, db
