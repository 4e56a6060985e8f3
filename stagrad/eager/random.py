"""Random tensors, drawn from a `Generator`. The numbers are NumPy's, not PyTorch's."""

from typing import Any

import numpy as np

from stagrad.eager.creation import finish, shape_from
from stagrad.eager.dtypes import read_dtype
from stagrad.eager.generator import Generator, draws_of
from stagrad.eager.tensor import Tensor


def rand(
    *size: Any, generator: Generator | None = None, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, out: Any = None,
) -> Tensor:  # fmt: skip
    """Return numbers drawn evenly from [0, 1).

    >>> import stagrad
    >>> stagrad.rand(2, 3).shape
    torch.Size([2, 3])
    """
    return finish(_uniform(shape_from(size), generator, dtype), requires_grad, device, out)


def randn(
    *size: Any, generator: Generator | None = None, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, out: Any = None,
) -> Tensor:  # fmt: skip
    """Return numbers drawn from the normal distribution of mean 0 and variance 1."""
    return finish(_normal(shape_from(size), generator, dtype), requires_grad, device, out)


def _uniform(shape: tuple[int, ...], generator: Generator | None, dtype: Any) -> np.ndarray:
    wanted = read_dtype(dtype)
    if wanted.kind == "c":
        parts = _uniform((*shape, 2), generator, wanted.type(0).real.dtype)
        return np.asarray(parts[..., 0] + 1j * parts[..., 1], wanted)
    drawn: Any = wanted if wanted.itemsize >= 4 else np.float32
    return np.asarray(draws_of(generator).random(shape, drawn)).astype(wanted)


def _normal(shape: tuple[int, ...], generator: Generator | None, dtype: Any) -> np.ndarray:
    wanted = read_dtype(dtype)
    if wanted.kind == "c":
        parts = _normal((*shape, 2), generator, wanted.type(0).real.dtype)
        return np.asarray((parts[..., 0] + 1j * parts[..., 1]) * 0.5**0.5, wanted)
    drawn: Any = wanted if wanted.itemsize >= 4 else np.float32
    return np.asarray(draws_of(generator).standard_normal(shape, drawn)).astype(wanted)


def randint(
    low: int, high: Any = None, size: Any = None, *, generator: Generator | None = None,
    dtype: Any = None, device: Any = None, requires_grad: bool = False, out: Any = None,
) -> Tensor:  # fmt: skip
    """Return integers drawn evenly from `low` (0 if left out) up to but not including `high`."""
    if size is None and isinstance(high, list | tuple):
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got {low} >= {high}")
    numbers = draws_of(generator).integers(low, high, shape_from((size,)))
    wanted = np.dtype(np.int64) if dtype is None else read_dtype(dtype)
    return finish(np.asarray(numbers).astype(wanted), requires_grad, device, out)


def randperm(
    n: int, *, generator: Generator | None = None, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, out: Any = None,
) -> Tensor:  # fmt: skip
    """Return the integers below n in random order."""
    shape_from((n,))
    wanted = np.dtype(np.int64) if dtype is None else read_dtype(dtype)
    return finish(draws_of(generator).permutation(n).astype(wanted), requires_grad, device, out)


def rand_like(input: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return numbers drawn evenly from [0, 1) in the shape and dtype of a tensor."""
    return rand(input.shape, dtype=dtype or input.dtype, **options)


def randn_like(input: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return normally distributed numbers in the shape and dtype of a tensor."""
    return randn(input.shape, dtype=dtype or input.dtype, **options)


def randint_like(
    input: Any, low: int, high: Any = None, *, dtype: Any = None, **options: Any
) -> Tensor:
    """Return random integers in the shape and dtype of a tensor."""
    return randint(low, high, tuple(input.shape), dtype=dtype or input.dtype, **options)


def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None,
    dtype: Any = None, out: Any = None,
) -> Tensor:  # fmt: skip
    """Return normally distributed numbers; mean and std are numbers or tensors."""
    given = [x._array if isinstance(x, Tensor) else x for x in (mean, std)]
    if np.min(given[1], initial=0) < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {np.min(given[1])}")
    shape = np.broadcast_shapes(*map(np.shape, given)) if size is None else shape_from((size,))
    for x in (mean, std):
        if dtype is None and isinstance(x, Tensor) and x._array.dtype.kind == "f":
            dtype = x._array.dtype
    numbers = given[0] + given[1] * _normal(shape, generator, dtype)
    return finish(np.asarray(numbers).astype(read_dtype(dtype)), out=out)


def bernoulli(input: Any, p: Any = None, *, generator: Generator | None = None) -> Tensor:
    """Return ones with the probabilities that the tensor holds, or with probability p."""
    array = input._array
    chance = array if p is None else p
    if np.any(np.less(chance, 0)) or np.any(np.greater(chance, 1)):
        raise RuntimeError("bernoulli: expected probabilities between 0 and 1")
    return finish((draws_of(generator).random(array.shape) < chance).astype(array.dtype))


def multinomial(
    input: Any, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Return indices drawn with the weights in each row."""
    weights = np.asarray(input._array, np.float64)
    if np.any(weights < 0) or not np.all(np.isfinite(weights)):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    rows = weights.reshape(-1, weights.shape[-1])
    if not replacement and num_samples > np.count_nonzero(rows, axis=1).min():
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    draws = draws_of(generator)
    drawn = [
        draws.choice(len(row), num_samples, replace=replacement, p=row / row.sum()) for row in rows
    ]
    return finish(np.reshape(drawn, (*weights.shape[:-1], num_samples)).astype(np.int64))


def poisson(input: Any, generator: Generator | None = None) -> Tensor:
    """Return Poisson-distributed numbers with the rates that the tensor holds."""
    return finish(draws_of(generator).poisson(input._array).astype(input._array.dtype))


def uniform_(
    self: Any, low: float = 0, high: float = 1, *, generator: Generator | None = None
) -> Any:
    """Fill a tensor with numbers drawn evenly from [low, high)."""
    drawn = low + (high - low) * _uniform(self.shape, generator, self.dtype)
    return self.assign(drawn.astype(self.dtype), "uniform_")


def normal_(self: Any, mean: float = 0, std: float = 1, *, generator: Any = None) -> Any:
    """Fill a tensor with normally distributed numbers."""
    drawn = mean + std * _normal(self.shape, generator, self.dtype)
    return self.assign(drawn.astype(self.dtype), "normal_")


def bernoulli_(self: Any, p: Any = 0.5, *, generator: Any = None) -> Any:
    """Fill a tensor with ones with probability p."""
    return self.assign(bernoulli(self.detach(), p, generator=generator)._array, "bernoulli_")


def random_(self: Any, low: Any = 0, high: Any = None, *, generator: Any = None) -> Any:
    """Fill a tensor with integers drawn evenly."""
    if high is None:
        low, high = 0, low or 2**24
    drawn = draws_of(generator).integers(low, high, self.shape)
    return self.assign(np.asarray(drawn).astype(self.dtype), "random_")


FILLING_METHODS = (uniform_, normal_, bernoulli_, random_)
