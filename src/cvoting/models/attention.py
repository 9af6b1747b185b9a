"""Multi-head attention, and the 2x2 matrices by which geometry-aware attention (GTA) knows where the cells lie.

Activations are [cells, rows, channels], see `layers`; channels are ordered head by head.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from cvoting.models.kernels import LOG2_E, Rows, Table, attend, multiply_pairs
from cvoting.models.layers import Linear, rotations, tables


class GeometryTables(NamedTuple):
    """The 2x2 matrices of an attention as `multiply_pairs` takes them; queries are scaled for `attend` too."""

    query: tuple[Table, Table]
    key: tuple[Table, Table]
    value: tuple[Table, Table]
    out: tuple[Table, Table]


class Geometry(nn.Module):
    """One 2x2 matrix per cell and pair of channels, for queries, keys, values and outputs; the same for every head.

    They are rotations, or start as such: by the cell's row and column times a frequency, those of the outputs backwards
    (stored as they act).  Source: Miyato et al. (2024), GTA; released AKOrN.

    Args:
        grid: rows and columns of the board.
        head_dim: channels of a head, even.
        learnable: whether the matrices are parameters.
    """

    query: Float[Tensor, "cells pairs 2 2"]
    key: Float[Tensor, "cells pairs 2 2"]
    value: Float[Tensor, "cells pairs 2 2"]
    out: Float[Tensor, "cells pairs 2 2"]

    def __init__(self, grid: tuple[int, int], head_dim: int, learnable: bool):
        super().__init__()
        self.grid, self.head_dim = grid, head_dim
        for name, matrices in self._start().items():
            if learnable:
                self.register_parameter(name, nn.Parameter(matrices))
            else:
                self.register_buffer(name, matrices, persistent=False)

    def _start(self) -> dict[str, Float[Tensor, "cells pairs 2 2"]]:
        turn = rotations(self.grid, self.head_dim // 2)
        return {"query": turn, "key": turn.clone(), "value": turn.clone(), "out": turn.mT.clone()}

    @torch.no_grad()
    def initialise(self) -> None:
        """Back to rotations."""
        for name, matrices in self._start().items():
            getattr(self, name).copy_(matrices)

    def tables(self, heads: int) -> GeometryTables:
        """What attention needs of the matrices, to be derived once for many steps."""
        matrices = (self.query * (LOG2_E / math.sqrt(self.head_dim)), self.key, self.value, self.out)
        return GeometryTables(*(tables(m, heads) for m in matrices))


class Attention(nn.Module):
    """Attention without biases: out_i = W_o M^o_i sum_j softmax_j(<M^q_i q_i, M^k_j k_j> / sqrt(head_dim)) M^v_j v_j.

    Source: Equations `cross` and `self` of the paper, with GTA.

    Args:
        channels: C.
        heads: divides C; channels / heads is even.
        grid: rows and columns of the board.
        learnable: whether the matrices of GTA are.
    """

    def __init__(self, channels: int, heads: int, grid: tuple[int, int], learnable: bool):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (Linear(channels, channels, bias=False) for _ in range(4))
        self.geometry = Geometry(grid, channels // heads, learnable)

    def initialise(self, rng: torch.Generator) -> None:
        """Default linear maps; the matrices of GTA are rotations."""
        for module in (self.query, self.key, self.value, self.out):
            module.initialise(rng)
        self.geometry.initialise()

    def tables(self) -> GeometryTables:
        """The matrices of GTA, to be derived once for many steps."""
        return self.geometry.tables(self.heads)

    def keys_values(self, x: Rows, geometry: GeometryTables) -> tuple[Rows, Rows]:
        """Keys and values of the cells that are attended to."""
        return multiply_pairs(self.key(x), *geometry.key), multiply_pairs(self.value(x), *geometry.value)

    def forward(self, x: Rows, keys: Rows, values: Rows, geometry: GeometryTables) -> Rows:
        """What the cells of `x` take from those whose keys and values are given."""
        queries = multiply_pairs(self.query(x), *geometry.query)
        return self.out(multiply_pairs(attend(queries, keys, values, self.heads), *geometry.out))
