"""Random numbers inside and outside compiled functions, from explicit keys.

The same key gives the same numbers on every target; `split` and `fold_in` make new keys from one.

>>> import stagrad
>>> key = stagrad.random.key(0)
>>> first, second = stagrad.random.split(key)
>>> stagrad.random.normal(first, size=(2, 3)).shape
(2, 3)
"""

from stagrad.ops.random import (
    bernoulli,
    bits,
    categorical,
    choice,
    exponential,
    fold_in,
    gumbel,
    key,
    normal,
    permutation,
    randint,
    split,
    uniform,
)

__all__ = [
    "bernoulli",
    "bits",
    "categorical",
    "choice",
    "exponential",
    "fold_in",
    "gumbel",
    "key",
    "normal",
    "permutation",
    "randint",
    "split",
    "uniform",
]
