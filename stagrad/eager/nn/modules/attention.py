"""Multi-head attention."""

from typing import Any

from stagrad.eager import creation
from stagrad.eager.nn import functional, init
from stagrad.eager.nn.modules.linear import NonDynamicallyQuantizableLinear
from stagrad.eager.nn.modules.module import Module
from stagrad.eager.nn.parameter import Parameter
from stagrad.eager.tensor import Tensor


class MultiheadAttention(Module):
    """Multi-head attention (Vaswani et al., 2017), with PyTorch's parameters.

    Inputs are (L, N, E), with `batch_first` (N, L, E). Calling it returns the result and the
    attention weights, averaged over the heads unless `average_attn_weights` is False (None with
    `need_weights=False`). Boolean masks are true where attention is not allowed.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        batch_first: bool = False,
    ) -> None:
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.in_proj_weight = Parameter(creation.empty(3 * embed_dim, embed_dim))
        self.register_parameter(
            "in_proj_bias", Parameter(creation.zeros(3 * embed_dim)) if bias else None
        )
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias)
        init.xavier_uniform_(self.in_proj_weight)
        if bias:
            init.zeros_(self.out_proj.bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the attended values and the attention weights."""
        if self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        heads = [self._project(x, k) for k, x in enumerate((query, key, value))]
        scores = heads[0] @ heads[1].transpose(-2, -1) / (self.embed_dim // self.num_heads) ** 0.5
        for mask in (
            attn_mask if attn_mask is None or attn_mask.ndim < 3 else self._per_head(attn_mask),
            None if key_padding_mask is None else key_padding_mask[:, None, None, :],
        ):
            if mask is not None:
                is_bool = mask.dtype.kind == "b"
                scores = scores.masked_fill(mask, float("-inf")) if is_bool else scores + mask
        weights = functional.dropout(
            functional.softmax(scores, dim=-1), self.dropout, self.training
        )
        attended = (weights @ heads[2]).permute(2, 0, 1, 3).flatten(2)
        result = self.out_proj(attended)
        if self.batch_first:
            result = result.transpose(0, 1)
        if not need_weights:
            return result, None
        return result, weights.mean(1) if average_attn_weights else weights

    def _per_head(self, mask: Any) -> Any:
        """Return a mask (N * heads, L, S) as (N, heads, L, S)."""
        return mask.reshape(-1, self.num_heads, *mask.shape[1:])

    def _project(self, x: Tensor, number: int) -> Any:
        """Return queries, keys or values split into heads: (N, heads, L, E / heads)."""
        rows = slice(number * self.embed_dim, (number + 1) * self.embed_dim)
        bias = None if self.in_proj_bias is None else self.in_proj_bias[rows]
        projected = functional.linear(x, self.in_proj_weight[rows], bias)
        length, batch = projected.shape[:2]
        return projected.reshape(length, batch, self.num_heads, -1).permute(1, 2, 0, 3)
