"""Functions that multiply by a matrix, look rows of one up, or attend."""

import math
from typing import Any

import numpy as np

from stagrad.eager.define import operation
from stagrad.eager.functions.registry import numbers
from stagrad.eager.nn.functional.norm import dropout
from stagrad.eager.tape import make_tensor
from stagrad.ir import aval_of
from stagrad.ops.define import FUNCTIONS, UFUNCS
from stagrad.ops.normalizing import softmax
from stagrad.ops.selection import select


def _linear_name(bias: Any, input: Any, weight: Any) -> str:
    ndim = aval_of(input).ndim
    if ndim == 2:
        return "MmBackward0" if bias is None else "AddmmBackward0"
    if ndim == 1:
        return "SqueezeBackward4" if bias is None else "ViewBackward0"
    return "UnsafeViewBackward0" if bias is None else "ViewBackward0"


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """Return x Wᵀ + b, for inputs (*, in_features) and weights (out_features, in_features).

    >>> import stagrad
    >>> stagrad.nn.functional.linear(stagrad.ones(1, 2), stagrad.tensor([[1.0, 2.0]]))
    tensor([[3.]])
    """
    return _affine(bias, input, weight)


@operation(_linear_name)
def _affine(bias: Any, input: Any, weight: Any) -> Any:
    """Compute `linear`; the node's next_functions are in the order of the arguments."""
    given, wanted = aval_of(input).shape, aval_of(weight).shape
    if not given or given[-1] != wanted[-1]:
        rows = math.prod(given[:-1])
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{given[-1] if given else 1} and "
            f"{wanted[-1]}x{wanted[0]})"
        )
    result = UFUNCS["matmul"](input, FUNCTIONS[np.transpose](weight))
    return result if bias is None else result + bias


@operation("EmbeddingBackward0")
def embedding(input: Any, weight: Any, padding_idx: int | None = None) -> Any:
    """Return the rows of `weight` that integers name; `padding_idx` names one without gradient."""
    rows, count = numbers(input), aval_of(weight).shape[0]
    if aval_of(rows).dtype.kind not in "iu":
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got {aval_of(rows).dtype.name} instead (while checking arguments for "
            "embedding)"
        )
    if isinstance(rows, np.ndarray) and rows.size and not (0 <= rows.min() <= rows.max() < count):
        raise IndexError("index out of range in self")
    found = FUNCTIONS[np.take](weight, rows, axis=0)
    if padding_idx is None:
        return found
    if not -count <= padding_idx < count:
        raise AssertionError("Padding_idx must be within num_embeddings")
    is_padding = FUNCTIONS[np.expand_dims](rows == padding_idx % count, -1)
    return select(is_padding, FUNCTIONS[np.take](numbers(weight), rows, axis=0), found)


def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """Return integers as vectors of zeros with one 1, int64, along a new last axis.

    >>> import stagrad
    >>> stagrad.nn.functional.one_hot(stagrad.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    classes = numbers(tensor)
    if classes.dtype.kind not in "iu":
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if classes.size and classes.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        if not classes.size:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        num_classes = int(classes.max()) + 1
    if classes.size and classes.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return make_tensor((classes[..., None] == np.arange(num_classes)).astype(np.int64), None)


@operation("SoftmaxBackward0")
def _attention_weights(query: Any, key: Any, mask: Any, scale: float) -> Any:
    """Return the softmax of the scores; rows in which nothing is allowed are zero."""
    scores = UFUNCS["matmul"](query * scale, FUNCTIONS[np.swapaxes](key, -1, -2))
    if mask is None:
        return softmax(scores, axis=-1)
    if aval_of(mask).dtype.kind != "b":
        return softmax(scores + mask, axis=-1)
    allowed = numbers(mask)
    some = FUNCTIONS[np.any](allowed, axis=-1, keepdims=True)
    scores = select(allowed | ~some, scores, -math.inf)
    return select(some, softmax(scores, axis=-1), 0)


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None,
) -> Any:  # fmt: skip
    """Return softmax(Q Kᵀ scale + mask) V.

    - query, key, value: (…, L, E), (…, S, E), (…, S, V).
    - attn_mask: true where attention is allowed, or numbers that are added to the scores.
    - is_causal: each position attends to itself and those before it.
    - scale: 1 / sqrt(E) by default.
    """
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError("Explicit attn_mask should not be set when is_causal=True")
        lengths = aval_of(query).shape[-2], aval_of(key).shape[-2]
        attn_mask = np.tri(*lengths, dtype=bool)
    factor = 1 / math.sqrt(aval_of(query).shape[-1]) if scale is None else scale
    weights = _attention_weights(query, key, attn_mask, factor)
    return dropout(weights, dropout_p, dropout_p > 0) @ value
