"""Rows of random numbers: the same numbers traced as not, differentiable in their parameters."""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad import random
from tests.op_cases.case import Case

KEY = random.key(7)


def case(name: str, function: Callable[..., Any], *operands: Any, **claims: Any) -> Case:
    return Case(name=f"random {name}", function=function, operands=operands, **claims)


CASES = [
    case("bits", lambda key: random.bits(key, (3, 5)), KEY, covers=("philox",), order=0),
    case("bits of 64", lambda key: random.bits(key, 3, np.uint64), KEY, order=0),
    case("key of a traced seed", random.key, np.array(2**40 + 3), order=0),
    case("split", lambda key: random.split(key, 3), KEY, order=0),
    case("fold_in", random.fold_in, KEY, np.array(5), order=0),
    case(
        "loop over keys",
        lambda key: [random.bits(part, 2) for part in random.split(key)],
        KEY,
        order=0,
    ),
    case(
        "uniform",
        lambda low, high: random.uniform(KEY, low, high),
        np.array([[0.0], [-1.0]]),
        np.array([2.0, 3.0, 5.0]),
        dtypes=("float32", "float16"),
    ),
    case(
        "normal",
        lambda loc, scale: random.normal(KEY, loc, scale, (4, 3)),
        np.array([1.0, -2.0, 0.5]),
        np.array(2.0),
        dtypes=("float32",),
    ),
    case("exponential", lambda scale: random.exponential(KEY, scale), np.array([1.0, 3.0])),
    case("gumbel", lambda loc, scale: random.gumbel(KEY, loc, scale), np.ones(2), np.array(3.0)),
    case(
        "bernoulli", lambda p: random.bernoulli(KEY, p, (2, 3)), np.array([0.1, 0.5, 1.0]), order=0
    ),
    case("randint", lambda high: random.randint(KEY, -3, high, 20), np.array(5), order=0),
    case("permutation", lambda x: random.permutation(KEY, x), np.arange(6.0).reshape(3, 2)),
    case("choice", lambda a: random.choice(KEY, a, (2, 2)), np.arange(6.0).reshape(3, 2)),
    case(
        "choice by probability",
        lambda a, p: random.choice(KEY, a, 2, replace=False, p=p),
        np.arange(3.0),
        np.array([0.2, 0.0, 0.8]),
        wrt=(0,),
    ),
    case(
        "categorical", lambda logits: random.categorical(KEY, logits, 0), np.zeros((3, 4)), order=0
    ),
]
