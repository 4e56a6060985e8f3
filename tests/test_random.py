"""Random numbers: the generator's known answers, distributions, and independence of keys."""

import math

import numpy as np
import pytest

import stagrad
from stagrad import random
from stagrad.errors import ShapeError
from stagrad.ops.random import philox_rounds

KEY = random.key(12345)
MANY = 200_000


# From the file kat_vectors of the Random123 distribution: counter and key, and the block of them.
@pytest.mark.parametrize(
    ("words", "block"),
    [
        ((0,) * 6, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 6, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_rounds_give_the_known_answers(words: tuple[int, ...], block: tuple[int, ...]) -> None:
    assert tuple(int(word) for word in philox_rounds(*map(np.uint64, words))) == block


def test_numbers_are_the_blocks_of_the_key() -> None:
    zero = random.bits(np.zeros(2, np.uint32), 8)
    assert zero[:4].tolist() == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    words = [np.uint64(word) for word in (1, 0, 0, 0, 0, 0)]
    assert zero[4:].tolist() == [int(word) for word in philox_rounds(*words)]


def test_a_longer_draw_begins_with_the_shorter_one() -> None:
    assert random.bits(KEY, 50_000)[:10].tolist() == random.bits(KEY, 10).tolist()


def test_compiled_functions_draw_the_same_numbers() -> None:
    def draw(key: np.ndarray, scale: float) -> tuple[np.ndarray, ...]:
        first, second = random.split(key)
        return random.bits(first, 3), random.normal(second, 0.0, scale, 5)

    plain, compiled = draw(KEY, 2.0), stagrad.compile(draw)(KEY, 2.0)
    assert compiled[0].tolist() == plain[0].tolist()
    np.testing.assert_allclose(compiled[1], plain[1], rtol=1e-14)


def test_keys_made_from_a_key_differ_from_each_other_and_from_its_numbers() -> None:
    made = [*random.split(KEY, 100), *(random.fold_in(KEY, step) for step in range(100)), KEY]
    draws = {tuple(random.bits(key, 2).tolist()) for key in made}
    assert len(draws) == len(made)
    assert not draws & {tuple(key.tolist()) for key in made}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_uniform_numbers_fill_the_interval(dtype: str) -> None:
    u = random.uniform(KEY, size=MANY, dtype=dtype)
    assert u.dtype == dtype
    assert 0.0 <= u.min() < 1e-4
    assert 1.0 - 1e-4 < u.max() < 1.0
    counts = np.histogram(u, bins=100, range=(0, 1))[0]
    chi_square = np.sum((counts - MANY / 100) ** 2) / (MANY / 100)
    assert abs(chi_square - 99) < 5 * math.sqrt(2 * 99)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_have_normal_moments(dtype: str) -> None:
    z = random.normal(KEY, size=MANY, dtype=dtype).astype(float)
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(np.mean(z**power) - moment) < 5 * math.sqrt(variance / MANY)
    assert abs(np.corrcoef(z[::2], z[1::2])[0, 1]) < 5 / math.sqrt(MANY / 2)
    half = MANY // 2
    assert abs(np.corrcoef(z[:half], z[half:])[0, 1]) < 5 / math.sqrt(half)


def test_other_distributions_have_their_means() -> None:
    spread = 5 / math.sqrt(MANY)
    assert abs(random.exponential(KEY, 3.0, MANY).mean() / 3 - 1) < spread
    assert abs(random.gumbel(KEY, size=MANY).mean() - np.euler_gamma) < spread * math.pi / 6**0.5
    assert abs(random.bernoulli(KEY, 0.3, MANY).mean() - 0.3) < spread * 0.3**0.5
    counts = np.bincount(random.randint(KEY, 2, 7, MANY), minlength=7)
    assert counts[:2].sum() == 0
    assert np.all(np.abs(counts[2:] / MANY - 0.2) < spread * 0.4)
    drawn = random.categorical(KEY, np.broadcast_to(np.log([0.2, 0.5, 0.3]), (MANY, 3)))
    assert np.all(np.abs(np.bincount(drawn) / MANY - [0.2, 0.5, 0.3]) < spread * 0.5)
    chosen = random.choice(KEY, 3, MANY, p=[0.2, 0.5, 0.3])
    assert np.all(np.abs(np.bincount(chosen) / MANY - [0.2, 0.5, 0.3]) < spread * 0.5)


def test_permutations_and_draws_without_replacement_repeat_nothing() -> None:
    assert sorted(random.permutation(KEY, 50).tolist()) == list(range(50))
    assert random.permutation(KEY, 50).tolist() != list(range(50))
    assert len(set(random.choice(KEY, 50, 40, replace=False).tolist())) == 40
    weighted = random.choice(KEY, 4, 3, replace=False, p=[0.5, 0.3, 0.0, 0.2])
    assert sorted(weighted.tolist()) == [0, 1, 3]
    places = [random.permutation(key, 3)[0] for key in random.split(KEY, 3000)]
    assert np.all(np.abs(np.bincount(places) - 1000) < 5 * math.sqrt(1000))


def test_draws_are_differentiable_in_their_parameters() -> None:
    z = random.normal(KEY, size=4)
    slope = stagrad.grad(lambda scale: np.sum(random.normal(KEY, 1.0, scale, 4)))(3.0)
    np.testing.assert_allclose(slope, z.sum())


def test_a_new_key_makes_no_new_program() -> None:
    draw = stagrad.compile(lambda key: random.uniform(key, size=2))
    first, second = random.split(KEY)
    assert draw(first).tolist() == random.uniform(first, size=2).tolist()
    assert draw(second).tolist() == random.uniform(second, size=2).tolist()


def test_errors_say_what_is_wrong() -> None:
    with pytest.raises(ShapeError, match=r"a key is two uint32 words .* not i64\[\]"):
        random.uniform(np.int64(3))
    with pytest.raises(ValueError, match=r"seed .* does not fit into 64 bits"):
        random.key(2**64)
    with pytest.raises(ValueError, match="low >= high"):
        random.randint(KEY, 3, 3)
    with pytest.raises(ValueError, match="cannot draw 4 of 3 entries without replacement"):
        random.choice(KEY, 3, 4, replace=False)
    with pytest.raises(
        ShapeError, match=r"normal: operands of shapes \(3,\), \(2,\) do not broadcast"
    ):
        random.normal(KEY, np.zeros(3), size=2)
    with pytest.raises(ValueError, match="uniform: dtype int64 is not a float dtype"):
        random.uniform(KEY, dtype="int64")
