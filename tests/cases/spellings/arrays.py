"""Statistics, shapes and index operations."""

import numpy as np
from scipy.special import gammaln


def multivariate_gammaln(x, p):
    offsets = np.arange(p) / 2
    return np.sum(gammaln(x[..., None] - offsets), -1) + p * (p - 1) / 4 * np.log(np.pi)


def distance(x, y, p):
    return np.linalg.norm(np.ravel(x - y), p)


def median(x, dim=None, keepdim=False):
    """The lower of two middle values, and where it stands."""
    if dim is None or x.ndim == 0:
        flat = np.ravel(x)
        position = np.argsort(flat, kind="stable")[(flat.size - 1) // 2]
        return flat[position] if dim is None else (flat[position], position)
    order = np.argsort(x, axis=dim, kind="stable")
    position = np.take(order, [(x.shape[dim] - 1) // 2], axis=dim)
    value = np.take_along_axis(x, position, axis=dim)
    return (value, position) if keepdim else (np.squeeze(value, dim), np.squeeze(position, dim))


def variance_and_mean(x, dim=None, correction=None):
    return np.var(x, axis=dim, ddof=1 if correction is None else correction), np.mean(x, axis=dim)


def cumulative_trapezoid(y, x=None):
    steps = 1.0 if x is None else np.diff(x, axis=-1)
    return np.cumsum((y[..., 1:] + y[..., :-1]) / 2 * steps, axis=-1)


def gradient(x, dim=None, spacing=(), edge_order=1):
    return np.gradient(x, *spacing, axis=dim, edge_order=edge_order)


def norm(x, p, dim=None, keepdim=False):
    if x.ndim == 0:
        return np.abs(x)
    return np.linalg.norm(np.ravel(x) if dim is None else x, p, axis=dim, keepdims=keepdim)


def renormalize(x, p, dim, limit):
    """Scale the slices along an axis whose norm is beyond a limit."""
    others = tuple(axis for axis in range(x.ndim) if axis != dim)
    if p == np.inf:
        size = np.max(np.abs(x), axis=others, keepdims=True)
    else:
        size = np.sum(np.abs(x) ** p, axis=others, keepdims=True) ** (1 / p)
    return np.where(size > limit, x * (limit / (size + 1e-7)), x)


def squeeze(x, dim):
    return np.squeeze(x, dim) if x.ndim and x.shape[dim] == 1 else x


def expand(x, shape):
    old = (1,) * (len(shape) - x.ndim) + x.shape
    return np.broadcast_to(x, [o if n == -1 else n for o, n in zip(old, shape, strict=True)])


def chunk(x, count, dim=0):
    size = -(-x.shape[dim] // count)
    return np.split(x, range(size, x.shape[dim], size), axis=dim)


def diagonal_embedding(x, offset):
    size = x.shape[-1] + offset
    result = np.zeros((*x.shape[:-1], size, size))
    places = np.arange(x.shape[-1])
    result[..., places, places + offset] = x
    return result


def block_diagonal(*blocks):
    blocks = [np.atleast_2d(block) for block in blocks]
    result = np.zeros(tuple(map(sum, zip(*(block.shape for block in blocks), strict=True))))
    row = column = 0
    for block in blocks:
        height, width = block.shape
        result[row : row + height, column : column + width] = block
        row, column = row + height, column + width
    return result


def _places(index, dim):
    """Return the index of every element, with the given one along an axis."""
    places = list(np.indices(index.shape))
    places[dim] = index
    return tuple(places)


def scatter(x, dim, index, source):
    if x.ndim == 0:
        return source + np.zeros(())
    result = x.copy()
    result[_places(index, dim)] = source[tuple(slice(extent) for extent in index.shape)]
    return result


def scatter_maximum(x, dim, index, source, _reduction, include_self):
    if x.ndim == 0:
        return np.maximum(x, source) if include_self else source + np.zeros(())
    result, places = x.copy(), _places(index, dim)
    if not include_self:
        result[places] = -np.inf
    np.maximum.at(result, places, source)
    return result


def put(x, index, source, accumulate):
    flat = x.flatten()
    source = np.ravel(source)
    if accumulate:
        np.add.at(flat, np.ravel(index), source)
    else:
        flat[np.ravel(index)] = source
    return flat.reshape(x.shape)


def diagonal_scatter(x, source, offset=0):
    result, places = np.array(x), np.arange(len(source))
    result[places - min(offset, 0), places + max(offset, 0)] = source
    return result


SPELLINGS = {
    "mvlgamma.mvlgamma_p_3": multivariate_gammaln,
    "dist": distance,
    "median": median,
    "var_mean": variance_and_mean,
    "cumulative_trapezoid": cumulative_trapezoid,
    "gradient": gradient,
    "norm": norm,
    "renorm": renormalize,
    "squeeze": squeeze,
    "expand": expand,
    "chunk": chunk,
    "diag_embed": diagonal_embedding,
    "block_diag": block_diagonal,
    "scatter": scatter,
    "scatter_reduce.amax": scatter_maximum,
    "put": put,
    "diagonal_scatter": diagonal_scatter,
}
