"""Sources of random numbers. The numbers are NumPy's, not PyTorch's: only seeds repeat them."""

import secrets
from typing import Any

import numpy as np


class Generator:
    """A source of random numbers with a state of its own.

    >>> import stagrad
    >>> a = stagrad.rand(2, generator=stagrad.Generator().manual_seed(5))
    >>> b = stagrad.rand(2, generator=stagrad.Generator().manual_seed(5))
    >>> bool((a == b).all())
    True
    """

    def __init__(self, device: Any = "cpu") -> None:
        self.device = device
        self.manual_seed(67280421310721)

    def manual_seed(self, seed: int) -> "Generator":
        """Begin again from a seed; return the generator."""
        self._seed = int(seed)
        self.draws = np.random.Generator(np.random.PCG64(self._seed % 2**64))
        return self

    def seed(self) -> int:
        """Begin from a seed that nobody chose; return it."""
        self.manual_seed(secrets.randbits(63))
        return self._seed

    def initial_seed(self) -> int:
        """Return the seed the generator last began from."""
        return self._seed

    def get_state(self) -> dict[str, Any]:
        """Return where the generator stands, for `set_state`."""
        return dict(self.draws.bit_generator.state)

    def set_state(self, state: Any) -> None:
        """Return to where `get_state` was called."""
        self.draws.bit_generator.state = state


default_generator = Generator()
"""What the functions of the module draw from."""
default_generator.seed()


def manual_seed(seed: int) -> Generator:
    """Begin the default generator again from a seed; return it."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Begin the default generator from a seed that nobody chose; return it."""
    return default_generator.seed()


def initial_seed() -> int:
    """Return the seed the default generator last began from."""
    return default_generator.initial_seed()


def draws_of(generator: Generator | None) -> np.random.Generator:
    """Return NumPy's generator behind an argument `generator`."""
    return (default_generator if generator is None else generator).draws
