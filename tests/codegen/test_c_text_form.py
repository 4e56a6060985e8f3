"""The C text of a program does not change with its sizes: a new batch compiles nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stagrad
from stagrad.codegen import emit_c
from stagrad.passes import lower
from stagrad.runtime.native.build import without_comments
from tests.passes.programs import graph_of

BATCHES = (20, 33, 128, 1000)


def softmax(x: Any) -> Any:
    powers = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True)


def layer_norm(x: Any, scale: Any, shift: Any) -> Any:
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.mean((x - mean) ** 2, axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * scale + shift


def batch_norm(x: Any, scale: Any) -> Any:
    return (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5) * scale


def mlp(x: Any, first: Any, second: Any) -> Any:
    return np.tanh(x @ first) @ second


def logistic(x: Any, y: Any, w: Any) -> Any:
    return np.mean(np.logaddexp(0.0, -y * (x @ w)))


def cross_entropy(x: Any, w: Any) -> Any:
    logits = x @ w
    return -np.mean(logits[:, 3] - np.log(np.sum(np.exp(logits), axis=1)))


def attention(q: Any, k: Any, v: Any) -> Any:
    return softmax(q @ np.swapaxes(k, -1, -2) / 8.0) @ v


def chain(x: Any) -> Any:
    return np.sin(np.exp(-x * x) * 3.7) + x


def squared(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loss of a function's result."""
    return lambda *operands: np.sum(function(*operands) ** 2)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "chain": (chain, ("f64[N]",)),
    "chain of halves": (chain, ("f16[N]",)),
    "sum": (lambda x: np.sum(x, axis=0), ("f64[N,50]",)),
    "all sums": (lambda x: (x.sum(), x.sum(0), x.sum(1)), ("f32[N,50]",)),
    "mean": (np.mean, ("f64[N,3]",)),
    "mean of complex numbers": (np.mean, ("c128[N,3]",)),
    "variance": (lambda x: np.var(x, axis=0), ("f64[N,50]",)),
    "softmax": (softmax, ("f64[N,50]",)),
    "softmax of few": (softmax, ("f64[N,10]",)),
    "softmax of the batch": (lambda x: softmax(x.T), ("f32[N,50]",)),
    "layer norm": (layer_norm, ("f64[N,50]", "f64[50]", "f64[50]")),
    "batch norm": (batch_norm, ("f32[N,50]", "f32[50]")),
    "mlp": (mlp, ("f32[N,784]", "f32[784,50]", "f32[50,10]")),
    "logistic regression": (logistic, ("f64[N,50]", "f64[N]", "f64[50]")),
    "cross entropy": (cross_entropy, ("f64[N,50]", "f64[50,10]")),
    "attention": (attention, ("f32[N,4,50,64]", "f32[N,4,50,64]", "f32[N,4,50,64]")),
    "transposed": (lambda x: (x.T + 1.0, np.exp(x).T @ x), ("f64[N,50]",)),
    "shifted": (lambda x: x[1:] - x[:-1], ("f64[N,50]",)),
    "reversed": (lambda x: x[::-1] * x, ("f64[N]",)),
    "padded": (lambda x: np.pad(x, 1), ("f64[N,50]",)),
    "joined": (lambda x: np.concatenate([x, x * 2.0]), ("f64[N,50]",)),
    "stacked": (lambda x: np.stack([x, np.exp(x)]), ("f64[N,50]",)),
    "broadcast": (lambda x, y: x[:, None] * y[None, :], ("f64[N]", "f64[50]")),
    "where": (lambda x: np.where(x > 0, x, 0.01 * x), ("f64[N,50]",)),
    "argmax": (lambda x: np.argmax(x, axis=1), ("f64[N,50]",)),
    "cumulative sum": (lambda x: np.cumsum(x, axis=0), ("f64[N,50]",)),
    "sorted": (lambda x: np.sort(x, axis=0), ("f64[N,50]",)),
    "integers": (lambda x: (x * 3 // 2).sum(), ("i64[N]",)),
    "convolution": (lambda x, w: np.convolve(x, w), ("f64[N]", "f64[5]")),
}
"""Functions and the avals of their operands, N being the size of the batch."""

DIFFERENTIATED = ("chain", "softmax", "layer norm", "batch norm", "mlp", "attention", "variance",
                  "shifted", "padded", "joined", "where", "cumulative sum")  # fmt: skip
PROGRAMS |= {
    f"gradient of {name}": (stagrad.grad(squared(PROGRAMS[name][0])), PROGRAMS[name][1])
    for name in DIFFERENTIATED
}
PROGRAMS |= {
    f"gradient of {name}": (stagrad.grad(PROGRAMS[name][0], argnums=place), PROGRAMS[name][1])
    for name, place in (("logistic regression", 2), ("cross entropy", 1), ("mean", 0))
}


def text_for(name: str, batch: int) -> str:
    function, avals = PROGRAMS[name]
    graph = graph_of(function, *(aval.replace("N", str(batch)) for aval in avals))
    return without_comments(emit_c(lower(graph, native=True).schedule, "program").text)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_new_size_of_the_batch_needs_no_compiler(name: str) -> None:
    first, *others = (text_for(name, batch) for batch in BATCHES)
    for other in others:
        assert other == first
