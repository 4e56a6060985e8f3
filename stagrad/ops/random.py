"""Random numbers from keys: counter-based Philox4x32-10, the same stream on every target.

A key is two 32-bit words. Numbers are a pure function of it: the same key gives the same numbers,
and `split` and `fold_in` make new keys from it. The counter's first two words count blocks; the
other two say what the numbers are for, so that keys made from a key are independent of its numbers.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
"""

import math
import operator
from typing import Any

import numpy as np
import numpy as xp

from stagrad.errors import ShapeError
from stagrad.ir import NOT_DIFFERENTIABLE, Aval, Kind, Params, Primitive, aval_of, bind, register
from stagrad.ops.convert import as_value, is_traced
from stagrad.ops.define import FUNCTIONS, UFUNCS
from stagrad.ops.movement import astype, constant, reshape
from stagrad.ops.promote import broadcast_shape
from stagrad.ops.selection import select

NUMBERS, SPLIT, FOLD = 0, 1, 2
"""What a stream is for: the last word of the counter."""


def philox_rounds(
    c0: xp.ndarray, c1: xp.ndarray, c2: xp.ndarray, c3: xp.ndarray, k0: xp.ndarray, k1: xp.ndarray
) -> tuple[xp.ndarray, ...]:
    """Return the four words of each block: ten rounds of Philox4x32 on words held in 64 bits."""
    low = xp.uint64(0xFFFFFFFF)
    high = xp.uint64(32)
    for _ in range(10):
        first = c0 * xp.uint64(0xD2511F53)
        second = c2 * xp.uint64(0xCD9E8D57)
        c0, c2 = (second >> high) ^ c1 ^ k0, (first >> high) ^ c3 ^ k1
        c1, c3 = second & low, first & low
        k0, k1 = (k0 + xp.uint64(0x9E3779B9)) & low, (k1 + xp.uint64(0xBB67AE85)) & low
    return c0, c1, c2, c3


def philox_words(key: xp.ndarray, stream: xp.ndarray, count: int) -> xp.ndarray:
    """Return `count` random words for each key, from the blocks of one stream."""
    batch = xp.broadcast_shapes(key.shape[:-1], stream.shape[:-1])
    blocks = -(-count // 4)
    words = xp.empty((*batch, blocks, 4), dtype=xp.uint32)
    key, stream = key.astype(xp.uint64)[..., None, :], stream.astype(xp.uint64)[..., None, :]
    step = 8192
    for start in range(0, blocks, step):
        numbers = xp.arange(start, min(start + step, blocks), dtype=xp.uint64)
        parts = philox_rounds(
            numbers & xp.uint64(0xFFFFFFFF),
            numbers >> xp.uint64(32),
            stream[..., 0],
            stream[..., 1],
            key[..., 0],
            key[..., 1],
        )
        for place, part in enumerate(parts):
            words[..., start : start + step, place] = part
    return words.reshape(*batch, blocks * 4)[..., :count]


def _words_aval(avals: tuple[Aval, ...], params: Params) -> Aval:
    key, stream = avals
    if key.shape[-1:] != (2,) or stream.shape[-1:] != (2,):
        raise ShapeError(f"philox: {key} is not a key of two words, made by stagrad.random.key")
    batch = np.broadcast_shapes(key.shape[:-1], stream.shape[:-1])
    return Aval((*batch, params["count"]), np.dtype(np.uint32))


def _words_batcher(size: int, batched: Any, operands: Any, *, count: int) -> Any:
    ndim = max(
        aval_of(operand).ndim - is_batched
        for operand, is_batched in zip(operands, batched, strict=True)
    )
    aligned = []
    for operand, is_batched in zip(operands, batched, strict=True):
        shape = aval_of(operand).shape
        if is_batched:
            shape = (shape[0], *(1,) * (ndim + 1 - len(shape)), *shape[1:])
        aligned.append(reshape(operand, shape))
    return bind(philox_p, *aligned, count=count)


philox_p: Primitive = register(
    Primitive(
        name="philox",
        kind=Kind.LIBRARY,
        dtypes="u",
        abstract_eval=_words_aval,
        py="philox_words({0}, {1}, {count})",
        helpers=(philox_rounds, philox_words),
        vjps=(NOT_DIFFERENTIABLE, NOT_DIFFERENTIABLE),
        batcher=_words_batcher,
        doc="Random 32-bit words: Philox4x32-10 of a key, block numbers and a stream's two words.",
    )
)


def _words(key: Any, count: int, purpose: int = NUMBERS, data: Any = 0) -> Any:
    key = as_value(key)
    if aval_of(key).shape != (2,) or aval_of(key).dtype != np.uint32:
        raise ShapeError(
            f"stagrad.random: a key is two uint32 words made by stagrad.random.key(seed), not "
            f"{aval_of(key)}; split(key, n) gives n of them, one in each row"
        )
    if is_traced(data):
        word = reshape(astype(data, np.uint32), (1,))
        stream = FUNCTIONS[np.concatenate](
            [word, constant(np.array([purpose], np.uint32), like=word)]
        )
    else:
        stream = np.array([int(data) & 0xFFFFFFFF, purpose], np.uint32)
        stream = constant(stream, like=key) if is_traced(key) else stream
    return bind(philox_p, key, stream, count=count)


def key(seed: Any) -> Any:
    """Return the key of a seed, an integer of up to 64 bits.

    >>> import stagrad
    >>> stagrad.random.key(2024)
    array([2024,    0], dtype=uint32)
    """
    if is_traced(seed):
        wide = astype(seed, np.uint64)
        shift, mask = UFUNCS["right_shift"], UFUNCS["bitwise_and"]
        parts = [mask(wide, 0xFFFFFFFF), shift(wide, 32)]
        return astype(FUNCTIONS[np.stack](parts), np.uint32)
    number = operator.index(seed)
    if not -(2**63) <= number < 2**64:
        raise ValueError(f"key: seed {number} does not fit into 64 bits")
    return np.array([number & 0xFFFFFFFF, (number >> 32) & 0xFFFFFFFF], np.uint32)


def split(key: Any, n: int = 2) -> Any:
    """Return `n` new keys, one in each row, independent of each other and of the key's numbers.

    >>> import stagrad
    >>> first, second = stagrad.random.split(stagrad.random.key(0))
    >>> first.shape, bool((first == second).all())
    ((2,), False)
    """
    return reshape(_words(key, 2 * n, SPLIT), (n, 2))


def fold_in(key: Any, data: Any) -> Any:
    """Return a new key for a number, such as the count of a step: integers modulo 2**32.

    >>> import stagrad
    >>> key = stagrad.random.key(0)
    >>> stagrad.random.fold_in(key, 3).tolist() == stagrad.random.fold_in(key, 4).tolist()
    False
    """
    return _words(key, 2, FOLD, data)


def bits(key: Any, size: Any = (), dtype: Any = np.uint32) -> Any:
    """Return random integers, all values of `dtype` (uint32 or uint64) being equally likely."""
    shape, dtype = _shape(size), np.dtype(dtype)
    if dtype == np.uint32:
        return reshape(_words(key, math.prod(shape)), shape)
    if dtype != np.uint64:
        raise ValueError(f"bits: dtype {dtype} is not supported; it is uint32 or uint64")
    words = reshape(_words(key, 2 * math.prod(shape)), (*shape, 2))
    words = astype(words, np.uint64)
    return UFUNCS["bitwise_or"](UFUNCS["left_shift"](words[..., 1], 32), words[..., 0])


def _shape(size: Any) -> tuple[int, ...]:
    try:
        return (operator.index(size),)
    except TypeError:
        return tuple(operator.index(extent) for extent in size)


def _drawn(name: str, size: Any, dtype: Any, *parameters: Any) -> tuple[tuple[int, ...], np.dtype]:
    """Return the shape and float dtype of a draw: as asked for, else those of the parameters."""
    avals = [aval_of(as_value(parameter)) for parameter in parameters]
    shape = broadcast_shape(name, [aval.shape for aval in avals])
    if size is not None:
        given = _shape(size)
        if broadcast_shape(name, [shape, given]) != given:
            raise ShapeError(f"{name}: parameters of shape {shape} do not broadcast to {given}")
        shape = given
    if dtype is None:
        strong = [aval.dtype for aval in avals if not aval.weak and aval.dtype.kind == "f"]
        dtype = np.result_type(*strong) if strong else np.float64
    dtype = np.dtype(dtype)
    if dtype.kind != "f":
        raise ValueError(f"{name}: dtype {dtype} is not a float dtype")
    return shape, dtype


def _unit(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Return numbers in [0, 1): all multiples of 2**-24, or 2**-53, are equally likely."""
    shift = UFUNCS["right_shift"]
    if dtype.itemsize < 8:
        whole = shift(bits(key, shape), 8 if dtype == np.float32 else 21)
        return astype(whole, dtype) * (2.0**-24 if dtype == np.float32 else 2.0**-11)
    return astype(shift(bits(key, shape, np.uint64), 11), dtype) * 2.0**-53


def uniform(
    key: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None, *, dtype: Any = None
) -> Any:
    """Return numbers drawn evenly from [low, high).

    - low, high: numbers or arrays that broadcast; the result is differentiable in them.
    - size: shape of the result, by default that of low and high.
    - dtype: float dtype, by default that of low and high, or float64.

    >>> import stagrad
    >>> stagrad.random.uniform(stagrad.random.key(0), size=3).round(3)
    array([0.881, 0.605, 0.362])
    """
    shape, dtype = _drawn("uniform", size, dtype, low, high)
    return astype(low + (high - low) * _unit(key, shape, dtype), dtype)


def _standard_normal(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Return standard normal numbers: Box and Muller's pairs from points in the unit square."""
    count = math.prod(shape)
    pairs = -(-count // 2)
    points = _unit(key, (2, pairs), dtype)
    radius = UFUNCS["sqrt"](-2.0 * UFUNCS["log1p"](-points[0]))
    angle = (2 * math.pi) * points[1]
    both = [radius * UFUNCS["cos"](angle), radius * UFUNCS["sin"](angle)]
    return reshape(FUNCTIONS[np.concatenate](both)[:count], shape)


def normal(
    key: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, *, dtype: Any = None
) -> Any:
    """Return normally distributed numbers, loc + scale * standard ones: differentiable in both.

    Arguments are as of `uniform`.

    >>> import stagrad
    >>> stagrad.random.normal(stagrad.random.key(0), 10.0, 2.0, size=2).shape
    (2,)
    """
    shape, dtype = _drawn("normal", size, dtype, loc, scale)
    return astype(loc + scale * _standard_normal(key, shape, dtype), dtype)


def exponential(key: Any, scale: Any = 1.0, size: Any = None, *, dtype: Any = None) -> Any:
    """Return exponentially distributed numbers of mean `scale`; arguments are as of `uniform`."""
    shape, dtype = _drawn("exponential", size, dtype, scale)
    return astype(scale * -UFUNCS["log1p"](-_unit(key, shape, dtype)), dtype)


def gumbel(
    key: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, *, dtype: Any = None
) -> Any:
    """Return numbers of the Gumbel distribution; arguments are as of `uniform`."""
    shape, dtype = _drawn("gumbel", size, dtype, loc, scale)
    tiny = float(np.finfo(dtype).tiny)
    waiting = UFUNCS["maximum"](-UFUNCS["log1p"](-_unit(key, shape, dtype)), tiny)
    return astype(loc - scale * UFUNCS["log"](waiting), dtype)


def bernoulli(key: Any, p: Any = 0.5, size: Any = None) -> Any:
    """Return booleans that are true with probability p, a number or array in [0, 1].

    >>> import stagrad
    >>> stagrad.random.bernoulli(stagrad.random.key(0), [0.0, 1.0])
    array([False,  True])
    """
    p = as_value(p)
    shape, dtype = _drawn("bernoulli", size, None, p)
    return _unit(key, shape, dtype) < p


def randint(
    key: Any, low: Any, high: Any = None, size: Any = None, *, dtype: Any = np.int64
) -> Any:
    """Return integers from low to high - 1, or from 0 to low - 1 without high.

    Numbers are taken from 64 random bits modulo the range, so no value is likelier than another by
    more than the range over 2**64.

    >>> import stagrad
    >>> stagrad.random.randint(stagrad.random.key(1), 6, size=4) < 6
    array([ True,  True,  True,  True])
    """
    low, high = (0, low) if high is None else (low, high)
    for name, bound in (("low", low), ("high", high)):
        if aval_of(as_value(bound)).dtype.kind not in "iu":
            raise TypeError(f"randint: {name} is {aval_of(as_value(bound))}, not an integer")
    if not is_traced(low) and not is_traced(high) and np.any(np.asarray(low) >= np.asarray(high)):
        raise ValueError(f"randint: low >= high: {low!r} and {high!r}")
    shape, _ = _drawn("randint", size, np.float64, low, high)
    start = astype(as_value(low), np.int64)
    width = astype(astype(as_value(high), np.int64) - start, np.uint64)
    offset = UFUNCS["remainder"](bits(key, shape, np.uint64), width)
    return astype(start + astype(offset, np.int64), dtype)


def permutation(key: Any, x: Any) -> Any:
    """Return the numbers below an integer x, or the entries of an array along axis 0, shuffled.

    >>> import numpy as np, stagrad
    >>> np.sort(stagrad.random.permutation(stagrad.random.key(0), 5))
    array([0, 1, 2, 3, 4])
    """
    if isinstance(x, int | np.integer):
        return _order(key, int(x))
    x = as_value(x)
    if not aval_of(x).shape:
        raise TypeError(
            "permutation: x is a traced number, which cannot make a shape; make it static"
        )
    return x[_order(key, aval_of(x).shape[0])]


def _order(key: Any, count: int) -> Any:
    return FUNCTIONS[np.argsort](bits(key, (count,), np.uint64), kind="stable")


def choice(key: Any, a: Any, size: Any = (), replace: bool = True, p: Any = None) -> Any:
    """Return entries of an array along axis 0, or numbers below an integer a.

    - size: shape of the draw, one entry by default.
    - replace: whether an entry can be drawn again.
    - p: probabilities of the entries, by default all equal.

    >>> import stagrad
    >>> stagrad.random.choice(stagrad.random.key(0), 3, (2,), p=[0.0, 1.0, 0.0])
    array([1, 1])
    """
    shape = _shape(size)
    is_count = isinstance(a, int | np.integer)
    entries = None if is_count else as_value(a)
    count = int(a) if is_count else aval_of(entries).shape[0]
    drawn = math.prod(shape)
    if not replace and drawn > count:
        raise ValueError(f"choice: cannot draw {drawn} of {count} entries without replacement")
    if p is None:
        places = randint(key, count, size=(drawn,)) if replace else _order(key, count)[:drawn]
    else:
        places = _weighted(key, as_value(p), count, drawn, replace)
    places = reshape(places, shape)
    return places if entries is None else entries[places]


def _weighted(key: Any, p: Any, count: int, drawn: int, replace: bool) -> Any:
    if aval_of(p).shape != (count,):
        raise ShapeError(f"choice: p is {aval_of(p)}; it must have one entry for each of {count}")
    p = astype(p, np.float64)
    if replace:
        total = FUNCTIONS[np.cumsum](p)
        points = total[-1] * _unit(key, (drawn,), np.dtype(np.float64))
        return FUNCTIONS[np.searchsorted](total, points, side="right")
    # The order of competing exponential waiting times draws without replacement.
    waiting = exponential(key, size=(count,)) / select(p == 0, 1, p)
    return FUNCTIONS[np.argsort](select(p == 0, math.inf, waiting), kind="stable")[:drawn]


def categorical(key: Any, logits: Any, axis: int = -1) -> Any:
    """Return positions along an axis, drawn with probabilities softmax(logits).

    >>> import numpy as np, stagrad
    >>> stagrad.random.categorical(stagrad.random.key(0), np.array([-np.inf, 0.0]))
    np.int64(1)
    """
    logits = as_value(logits)
    if aval_of(logits).dtype.kind != "f":
        logits = astype(logits, np.float64)
    noise = gumbel(key, size=aval_of(logits).shape, dtype=aval_of(logits).dtype)
    return FUNCTIONS[np.argmax](logits + noise, axis=axis)
