"""Multi-head self-attention without biases, whose queries and keys may turn with the position of their token (RoPE).

Activations are [tokens, rows, channels], see `layers`; channels are ordered head by head.  RoPE turns pairs of channels
that lie half a head apart.  Here they become neighbours, so that a pair is a complex number, turned by one
multiplication: the rows of the weights of queries and keys are permuted once per forward pass, which changes no score.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from cvoting.models.kernels import LOG2_E, Rows, Table, attend, turn_pairs
from cvoting.models.layers import Linear, linear

Weight = Float[Tensor, "channels channels"]


class Projections(NamedTuple):
    """Weights of queries, scaled for `attend`, of keys, and of values."""

    query: Weight
    key: Weight
    value: Weight


class RotaryAttention(nn.Module):
    """W_o softmax(q k^T / sqrt(head_dim)) v; the rows of W_qkv are those of all queries, all keys, all values.

    Source: Su et al. (2021), as in released HRM: pair (j, j + head_dim / 2) of each head at position i turns by
    i 10000^(-2j / head_dim).

    Args:
        channels: C.
        heads: divides C; channels / heads is even where there are turns.
    """

    def __init__(self, channels: int, heads: int):
        super().__init__()
        self.channels, self.heads = channels, heads
        self.qkv = Linear(channels, 3 * channels, bias=False)
        self.out = Linear(channels, channels, bias=False)

    def turns(self, like: Rows) -> Table:
        """What to multiply pairs of queries and keys by, at each token, in the precision of some activations."""
        pairs = self.channels // self.heads // 2
        frequencies = 10000.0 ** (-torch.arange(pairs).to(like) / pairs)
        angles = torch.arange(len(like)).to(like)[:, None] * frequencies
        return torch.stack([angles.cos(), angles.sin()], -1).repeat(1, self.heads, 1).unsqueeze(1)

    def projections(self, rotary: bool) -> Projections:
        """The weights in the order of the computation, to be derived once per forward pass."""
        query, key, value = self.qkv.weight.chunk(3)
        if rotary:
            order = self._neighbours().to(query.device)
            query, key = query[order], key[order]
        return Projections(query * (LOG2_E * (self.channels // self.heads) ** -0.5), key, value)

    def _neighbours(self) -> Int[Tensor, "channels"]:
        """The channels of each head in the order 0, d/2, 1, d/2 + 1, ..."""
        return torch.arange(self.channels).view(self.heads, 2, -1).mT.flatten()

    def forward(self, x: Rows, projections: Projections, turns: Table | None) -> Rows:
        """Attention among the tokens of each row."""
        q, k, v = (linear(x, weight) for weight in projections)
        if turns is not None:
            q, k = (turn_pairs(t, turns) for t in (q, k))
        return self.out(attend(q, k, v, self.heads))
